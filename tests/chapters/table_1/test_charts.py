"""Charts of Table 1 compute what the library computes, at whatever the sliders say."""

from __future__ import annotations

import pytest

from annotated.chapters.table_1.charts import NAMES, WHAT, cost_chart, terms_chart
from annotated.chapters.table_1.complexity import LAYERS, operations, path_length
from tests.drawing import moved, texts


def shown(**values: object) -> dict[str, str]:
    """What the bars of the cost chart are labelled with, by layer."""
    lines = (text.split(": ") for text in texts(moved(cost_chart().to_dict(), **values)) if ": " in text)
    return {name: value for name, value in lines if name in NAMES.values()}


@pytest.mark.parametrize(("n2", "d2", "k", "r"), [(4, 5, 3, 4), (6, 9, 5, 32), (10, 6, 2, 256)])
def test_operations_are_the_librarys(n2: int, d2: int, k: int, r: int) -> None:
    found, n, d = shown(n2=n2, d2=d2, k=k, r=r), 2**n2, 2**d2
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}
    for layer in LAYERS:
        expected = sum(operations(layer, n, d, k, min(r, n)).values())
        text = found[NAMES[layer]]
        assert float(text[:-1]) * scale[text[-1]] == pytest.approx(expected, rel=6e-3), layer


@pytest.mark.parametrize(("n2", "k", "r"), [(3, 2, 4), (6, 3, 16), (9, 8, 64)])
def test_hops_are_the_librarys(n2: int, k: int, r: int) -> None:
    found = shown(column=WHAT[3], n2=n2, k=k, r=r)
    for layer in LAYERS:
        assert int(found[NAMES[layer]].replace(",", "")) == path_length(layer, 2**n2, k, r), layer


def test_steps_that_wait() -> None:
    found = shown(column=WHAT[2], n2=7)
    assert found == {name: "128" if name == NAMES["recurrent"] else "1" for name in NAMES.values()}


def test_terms_are_marked_where_they_cross() -> None:
    assert "d = 64" in texts(moved(terms_chart().to_dict(), d2=6))
