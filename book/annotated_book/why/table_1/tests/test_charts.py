"""Charts of Table 1 compute what the library computes, at whatever the sliders say."""

from __future__ import annotations

import re

import pytest

from annotated_book.why.table_1.charts import NAMES, PARTS, WHAT, cost_chart, terms_chart
from annotated_book.why.table_1.complexity import LAYERS, operations, path_length, printed, waiting_products
from book.tests.drawing import draw, moved, texts


def shown(**values: object) -> dict[str, str]:
    """What the bars of the cost chart are labelled with, by layer; `n` and `d` are given as exponents of two."""
    index = {"n": ("n_step", 3), "d": ("d_step", 4)}
    moves = {
        index.get(name, (name,))[0]: value - index[name][1] if name in index else value
        for name, value in values.items()
    }
    lines = (text.split(": ") for text in texts(moved(cost_chart().to_dict(), **moves)) if ": " in text)
    return {name: value for name, value in lines if name in NAMES.values()}


@pytest.mark.parametrize(("n", "d", "k", "r"), [(4, 5, 3, 5), (6, 9, 5, 33), (10, 6, 2, 255)])
def test_operations_are_the_librarys(n: int, d: int, k: int, r: int) -> None:
    found = shown(n=n, d=d, k=k, r=r)
    for layer in LAYERS:
        expected = sum(operations(layer, 2**n, 2**d, k, min(r, 2**n)).values())
        assert number(found[NAMES[layer]]) == pytest.approx(expected, rel=6e-3), layer


def number(text: str) -> float:
    """The number of a label such as '34.6M'."""
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}
    return float(text[:-1]) * scale[text[-1]] if text[-1] in scale else float(text)


@pytest.mark.parametrize(("n", "d", "k", "r"), [(5, 9, 3, 33), (6, 9, 5, 33)])
def test_the_printed_formulas_have_no_constants(n: int, d: int, k: int, r: int) -> None:
    found = shown(column=WHAT[1], n=n, d=d, k=k, r=r)
    for layer in LAYERS:
        expected = printed(layer, 2**n, 2**d, k, min(r, 2**n))
        assert number(found[NAMES[layer]]) == pytest.approx(expected, rel=6e-3), layer
    assert printed("self-attention", 32, 512) == 32 * 32 * 512
    assert printed("recurrent", 32, 512) == 32 * 512 * 512


@pytest.mark.parametrize(("n", "k", "r"), [(3, 2, 5), (6, 3, 17), (9, 8, 65)])
def test_hops_are_the_librarys(n: int, k: int, r: int) -> None:
    found = shown(column=WHAT[3], n=n, k=k, r=r)
    for layer in LAYERS:
        assert int(found[NAMES[layer]].replace(",", "")) == path_length(layer, 2**n, k, r), layer


def test_steps_that_wait() -> None:
    found = shown(column=WHAT[2], n=7)
    assert found == {NAMES[layer]: str(waiting_products(layer, 128)) for layer in LAYERS}


def test_bars_are_as_long_as_their_values() -> None:
    svg = draw(moved(cost_chart().to_dict(), n_step=5, column=WHAT[2]))
    bars = re.findall(r'aria-label="value: (\d+); [^>]*aria-roledescription="bar" d="M0,[\d.]+h([\d.]+)', svg)
    lengths = {int(value): float(width) for value, width in bars}
    assert lengths[256] == pytest.approx(256 * lengths[1], rel=0.01)


def test_the_title_says_where_half_of_the_work_is_scores() -> None:
    assert "n = 2d = 128" in " ".join(texts(moved(terms_chart().to_dict(), d_step=2)))
    assert "n = 6d = 384" in " ".join(texts(moved(terms_chart().to_dict(), d_step=2, part=PARTS[1])))
