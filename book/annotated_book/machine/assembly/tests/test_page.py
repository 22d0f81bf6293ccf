"""Chapter 15: the page counts parameters as the library does, and the audit follows its slider."""

from __future__ import annotations

from typing import Any

from annotated import table_3
from annotated.analysis.parameters import count_parameters
from book.tests.boxes import drawn_widget
from book.tests.charts import move, texts

PAGE = "machine/assembly.html"


def figure(v: Any) -> Any:
    return drawn_widget(v, ".parameter-figure", "svg")


def millions(row: str, **changes: Any) -> str:
    return f"{count_parameters(table_3(row, **changes)) / 1e6:.1f} million parameters"


def test_every_row_of_table_3_is_counted_as_the_library_counts_it(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = figure(v)
        answer, rows = widget.locator("output"), widget.locator("select")
        assert answer.inner_text().startswith(millions("base"))
        for row in ("A1", "A4", "B1", "C1", "C4", "C5", "C7", "big", "base"):
            rows.select_option(row)
            assert answer.inner_text().startswith(millions(row)), row
            assert rows.input_value() == row
        widget.get_by_label("one matrix, tied three ways").uncheck()
        assert answer.inner_text().startswith(millions("base", tie_embeddings=False))
        assert widget.locator("svg text", has_text="the same matrix").count() == 0
        rows.select_option("big")
        assert answer.inner_text().startswith(millions("big")), "a row of the paper ties its matrices"
        assert widget.locator("svg text", has_text="the same matrix").count() == 2
        assert v.errors == []


def test_sizes_move_with_the_keyboard_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        widget = figure(v)
        layers = widget.locator("input[name=num_encoder_layers]")
        layers.focus()
        v.page.keyboard.press("ArrowLeft")
        v.page.keyboard.press("ArrowLeft")
        assert widget.locator("output").inner_text().startswith(millions("C2"))
        assert widget.locator("select").input_value() == "C2"
        assert widget.locator("svg text", has_text="4 × encoder").count() == 1
        layers.focus()
        v.page.keyboard.press("ArrowRight")
        assert widget.locator("select").input_value() == ""
        assert "no such row" in widget.locator("output").inner_text()
        assert v.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert v.errors == []


def test_the_audit_finds_the_vocabulary_that_ten_rows_share(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        (chart,) = v.draw_charts()

        def title() -> str:
            return next(text for text in texts(chart) if "rows fit" in text)

        assert title() == "37,000 entries: 0 of 11 rows fit"
        move(chart, "vocabulary", 41_100)
        assert title() == "41,100 entries: 10 of 11 rows fit"


def test_heads_change_alone_and_boxes_show_shapes(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = figure(v)
        widget.locator("select").select_option("base")
        heads = widget.locator("input[name=num_heads]")
        heads.focus()
        v.page.keyboard.press("ArrowRight")
        assert widget.locator("select").input_value() == "A3", "16 heads of width 32"
        assert widget.locator("output").inner_text().startswith(millions("base"))
        widget.get_by_label("show the shapes").check()
        assert widget.locator("svg text", has_text="B × T × 37,000").count() == 1
        assert v.errors == []
