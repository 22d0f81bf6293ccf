"""Chapter 6: at the desk the reader chooses who asks, and sees whose rows answer."""

from __future__ import annotations

from typing import Any

from tests.book.charts import texts

PAGE = "attention/query_key_value.html"


def desk(v: Any) -> Any:
    return next(f for f in v.draw_charts() if f.query_selector("select[name=site]"))


def test_the_call_site_changes_who_answers(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = desk(v)
        assert {"die 5", "6 green"} <= set(texts(figure))
        figure.query_selector("select[name=site]").select_option("encoder self-attention")
        v.page.wait_for_timeout(300)
        assert "green 6" in texts(figure) and not any("Großmutter" in text for text in texts(figure))
        figure.query_selector("select[name=site]").select_option("decoder self-attention")
        v.page.wait_for_timeout(300)
        assert "3 Großmutter" in texts(figure) and not any("green" in text for text in texts(figure))
        assert v.errors == []


def test_the_asking_position_moves_with_the_keyboard_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        figure = desk(v)

        def weights() -> list[str]:
            return [text for text in texts(figure) if len(text) == 4 and text[1] == "."]

        before = weights()
        figure.query_selector("input[name=query]").focus()
        v.page.keyboard.press("ArrowRight")
        v.page.wait_for_timeout(300)
        assert figure.evaluate("e => e.chart.signal('query')") == 6 and weights() != before
        assert figure.query_selector(".chart-stage svg").bounding_box()["width"] <= 375


def test_a_longer_slip_makes_the_clerk_stricter(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = next(f for f in v.draw_charts() if f.query_selector("input[name=length]"))

        def largest() -> float:
            return max(float(t) for t in texts(figure) if len(t) == 4 and t[1] == "." and t[0] in "01")

        soft = largest()
        figure.evaluate(
            "e => { const i = e.querySelector('input[name=length]'); i.value = 6;"
            " i.dispatchEvent(new Event('input', {bubbles: true})); }"
        )
        v.page.wait_for_timeout(300)
        assert largest() == 1.0 > soft
