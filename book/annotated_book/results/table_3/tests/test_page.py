"""Chapter 28: the noise of one run decides which rows are significant, as the library counts them."""

from __future__ import annotations

from typing import Any

from annotated_book.results.table_3.noise import COUNTINGS, significant_rows
from book.tests.charts import drawn_with, move, texts

PAGE = "results/table_3.html"


def counted(figure: Any) -> list[str]:
    return [
        text for text in texts(figure) if text.endswith((" is significant", " are significant")) and " of 19 " in text
    ]


def test_the_rows_that_are_significant_are_those_of_the_library(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = drawn_with(v, "deviation")
        for counting in reversed(COUNTINGS):
            move(figure, "counting", counting)
            for deviation in (0.0, 0.05, 0.16, 0.27, 0.5):
                move(figure, "deviation", deviation)
                rows = len(significant_rows(deviation, counting))
                assert counted(figure) == [f"{rows} of 19 {'is' if rows == 1 else 'are'} significant"]
        assert v.errors == []


def test_a_card_follows_the_menu(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        figure = drawn_with(v, "row")
        move(figure, "row", "C5  width 1024")
        said = texts(figure)
        assert "C5: d_model=64, d_k=8, d_v=8" in said and "645,888 parameters, 258\u00a0% of base's" in said
        assert not any(text.startswith("C1: ") for text in said) and v.errors == []


def test_the_pilots_lines_are_there_on_a_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        words = {"N\u00a0=\u00a02 is worse than base", "N\u00a0=\u00a02 is better than base"}
        assert any(words <= {*texts(figure)} for figure in v.draw_charts())
        assert v.page.evaluate("document.documentElement.scrollWidth <= innerWidth") and v.errors == []
