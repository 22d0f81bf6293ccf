"""Chapter 13: the balance slider, the shared matrix and the field of neighbours do what they say."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import drawn_widget
from book.tests.charts import move, texts

PAGE = "machine/embeddings.html"


def chart(v: Any, label: str) -> Any:
    return next(f for f in v.draw_charts() if f.query_selector(f".chart-stage[aria-label*='{label}']"))


def test_the_exponent_moves_the_words_share(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = chart(v, "share of the sum of embedding and position")
        assert any("word: 66.7% at width 64, 66.7% at 1024" in text for text in texts(figure))
        move(figure, "exponent", 0)
        assert any("word: 3.0% at width 64, 0.2% at 1024" in text for text in texts(figure))
        assert v.errors == []


def matrix(v: Any) -> Any:
    panel = v.page.locator(".live[data-panel=shared_matrix]")
    panel.scroll_into_view_if_needed()
    panel.locator(".live-status").filter(has_text="selects row").wait_for(timeout=20_000)
    return panel


def test_a_token_selects_its_row_and_an_output_meets_all(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = matrix(v)
        panel.get_by_role("button", name="▁king", exact=True).click()
        assert "“▁king” selects row" in panel.locator(".live-status").inner_text()
        assert panel.locator(".chosen").inner_text().startswith("▁king")
        panel.get_by_label("the next token comes out").check()
        panel.get_by_role("button", name="▁alte", exact=True).click()
        assert "the largest logit is that of “▁König”" in panel.locator(".live-status").inner_text()
        assert panel.locator(".matrix .line").count() == 9, "the output, and eight rows"
        assert v.errors == []


def test_neighbours_of_what_the_reader_types_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        widget = drawn_widget(v, ".neighbours", "li")
        names = widget.locator("li .name")
        first = names.all_inner_texts()
        assert len(first) == 7
        widget.get_by_label("token").fill("hat")
        assert "▁haben" in names.all_inner_texts() and names.all_inner_texts() != first
        widget.get_by_label("token").fill("grandfatherly")
        assert "is not one of the 2,000 tokens" in widget.locator(".title").inner_text()
        widget.get_by_label("token").fill("gr")
        widget.get_by_role("button", name="▁grandfather").click()
        assert names.all_inner_texts() == first
        assert v.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert v.errors == []


def test_without_the_factor_the_words_change(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = v.page.locator(".live[data-panel=root_d]")
        panel.scroll_into_view_if_needed()
        panel.locator(".live-status").filter(has_text="The words change.").wait_for(timeout=20_000)
        panel.get_by_role("checkbox").check()
        panel.locator(".live-status").filter(has_text="Every part is on.").wait_for(timeout=20_000)
        assert v.errors == []
