"""Chapter 2: factors are multiplied up, sentences exchanged, and the chain is unrolled."""

from __future__ import annotations

from typing import Any

from book.tests.charts import move, settle, texts

PAGE = "why/transduction.html"


def title(figure: Any) -> str:
    return next(text for text in texts(figure) if text.startswith(("product", "x₁")))


def test_the_product_grows_with_the_slider_and_breaks_with_the_sentence(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = v.draw_charts()[0]
        assert "9.41" in title(figure) and "nen" in texts(figure)
        broken = [text for text in texts(figure) if "breaks" in text]
        assert broken == ["0.0002  breaks the product"], "one factor breaks, those after it do not"
        figure.query_selector("select").select_option("right")
        settle(figure)
        assert "0.43" in title(figure) and "0.84" in title(figure)
        assert "nen" not in texts(figure) and texts(figure).count("ne") == 1, "the pieces are those of this sentence"
        move(figure, "step", 3)
        assert "0.80" in title(figure), "0.934 x 0.937 x 0.912"
        assert v.errors == [] and v.foreign == []


def test_the_first_input_travels_as_far_as_the_slider_says(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = next(f for f in v.draw_charts() if f.query_selector("input[name=t0]"))
        before = texts(figure)
        move(figure, "t0", 12)
        assert "12 applications" in title(figure) and texts(figure) != before
        move(figure, "t0", 1)
        assert "1 application of" in title(figure)


def test_it_fits_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        assert len(v.draw_charts()) == 4
        assert v.page.evaluate("document.documentElement.scrollWidth") <= 390
        for figure in v.page.query_selector_all("figure.chart"):
            assert figure.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), "no chart needs sideways scrolling"
