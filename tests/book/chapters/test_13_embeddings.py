"""Chapter 13: the balance slider, the menu of uses and the menu of neighbours do what they say."""

from __future__ import annotations

from typing import Any

from tests.book.charts import move, texts

PAGE = "machine/embeddings.html"


def chart(v: Any, label: str) -> Any:
    return next(f for f in v.draw_charts() if f.query_selector(f".chart-stage[aria-label*='{label}']"))


def test_the_exponent_moves_the_words_share(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = chart(v, "share of the sum of embedding and position")
        assert any("word: 66.7% at width 64, 66.7% at 1024" in text for text in texts(figure))
        move(figure, "exponent", 0)
        v.page.wait_for_timeout(200)
        assert any("word: 3.0% at width 64, 0.2% at 1024" in text for text in texts(figure))
        assert v.errors == []


def test_a_use_is_brought_forward(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = chart(v, "A box for the matrix E")
        move(figure, "use", "logits")
        v.page.wait_for_timeout(200)
        assert any("from decoder output to the vocabulary" in text for text in texts(figure))


def test_neighbours_follow_the_menu_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        figure = chart(v, "in the embedding table")
        first = texts(figure)
        assert any("(English)" in text for text in first)
        move(figure, "piece", "▁hat")
        v.page.wait_for_timeout(200)
        assert any("▁haben" in text for text in texts(figure)) and texts(figure) != first
        assert v.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert v.errors == []
