"""Chapter 5: the steps of one query, the two sliders of the scale, and the two-key curve react."""

from __future__ import annotations

import re
from typing import Any

from tests.book.charts import texts

PAGE = "attention/scaled_dot_product.html"


def slide(v: Any, figure: Any, name: str, value: float) -> None:
    """Move a slider of a chart as a reader would, and wait until it is drawn."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`input[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event('input', {bubbles: true})); }",
        [name, value],
    )
    v.page.wait_for_timeout(300)


def figure_with(v: Any, control: str) -> Any:
    return next(f for f in v.draw_charts() if f.query_selector(f"[name='{control}']"))


def heights(figure: Any, label: str) -> list[float]:
    """What the bars say to a screen reader, e.g. 'weight p: 0.95'."""
    said = figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg [aria-label]')].map(m => m.ariaLabel)")
    found = (re.search(rf"{re.escape(label)}: ([\d.e−-]+)", text) for text in said)
    return [float(match[1].replace("−", "-")) for match in found if match]


def test_the_steps_of_one_query_fill_the_table(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        figure = figure_with(v, "asks")
        assert {"Σ 11.11", "(0.67, 0.24)", "output"} <= set(texts(figure))
        slide(v, figure, "step", 2)
        shown = texts(figure)
        assert any(text.startswith("2. Scale") for text in shown) and not {"Σ 11.11", "output"} & set(shown)
        figure.query_selector("input[name=step]").focus()
        v.page.keyboard.press("ArrowRight")
        v.page.wait_for_timeout(300)
        assert "Σ 11.11" in texts(figure)
        figure.query_selector("select[name=asks]").select_option("cat")
        v.page.wait_for_timeout(300)
        assert "Σ 11.11" not in texts(figure)
        stage = figure.query_selector(".chart-stage svg").bounding_box()
        assert stage["width"] <= 375 and v.errors == []


def test_the_exponent_turns_one_winner_into_an_even_spread(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = figure_with(v, "exponent")
        assert max(heights(figure, "weight p")) > 0.9
        slide(v, figure, "exponent", 0.5)
        middle = heights(figure, "weight p")
        assert len(middle) == 16 and 0.1 < max(middle) < 0.6
        slide(v, figure, "exponent", 1)
        assert max(heights(figure, "weight p")) < 0.1
        slide(v, figure, "step", 0)  # d_k = 1: every power divides by 1
        one = heights(figure, "weight p")
        slide(v, figure, "exponent", 0)
        assert heights(figure, "weight p") == one


def test_the_undivided_band_leaves_the_hill(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = figure_with(v, "log_d_k")

        def ends() -> list[float]:
            return figure.evaluate(
                "e => [...e.querySelectorAll('.chart-stage .mark-rect path')].map(m => m.getBoundingClientRect().width)"
            )

        slide(v, figure, "log_d_k", 0)
        root, plain = sorted(ends())[-2:]
        assert abs(root - plain) < 1
        slide(v, figure, "log_d_k", 6)
        small, large = sorted(ends())[-2:]
        assert abs(small - root) < 1 and large > 5 * small
