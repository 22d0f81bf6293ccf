"""What the reader can move, moves: sliders, predictions, and the widget of attention heads; with mouse and keyboard."""

from __future__ import annotations

import re
from typing import Any


def slide(figure: Any, name: str, value: float) -> None:
    """Move a chart's slider as a reader would."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`input[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event('input', {bubbles: true})); }",
        [name, value],
    )


def test_turning_the_query_moves_its_weights(visit: Any) -> None:
    with visit("attention/scaled_dot_product.html") as v:
        figure = v.draw_charts()[0]

        def weights() -> list[str]:
            found = figure.evaluate("e => [...e.querySelectorAll('svg text')].map(t => t.textContent)")
            return [text for text in found if re.fullmatch(r"\d\.\d\d", text)]

        before = weights()
        slide(figure, "angle", -140)
        v.page.wait_for_timeout(200)
        assert figure.evaluate("e => e.chart.signal('angle')") == -140
        assert weights() != before and len(weights()) == 3
        slide(figure, "length", 0)
        v.page.wait_for_timeout(200)
        assert weights() == ["0.33"] * 3


def test_a_chart_on_canvas_keeps_its_sliders_when_the_theme_changes(visit: Any) -> None:
    with visit("positions/sinusoids.html", color_scheme="light") as v:
        figure = v.draw_charts()[0]
        slide(figure, "dimension", 20)
        v.page.evaluate("() => { delete document.querySelector('figure.chart').dataset.ready }")
        v.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        v.page.wait_for_function("e => e.dataset.ready", arg=figure)
        assert figure.evaluate("e => e.chart.signal('dimension')") == 20
        assert v.errors == []


def test_every_control_has_a_name(visit: Any) -> None:
    for path in ("positions/sinusoids.html", "heads/classroom.html"):
        with visit(path) as v:
            v.draw_charts()
            unnamed = v.page.evaluate(
                "[...document.querySelectorAll('main input, main select, main button')]"
                ".filter(e => !(e.labels?.length || e.ariaLabel || e.title || e.textContent.trim()))"
                ".map(e => e.outerHTML)"
            )
            assert unnamed == []
            for drawing in v.page.query_selector_all("figure.chart [role^=graphics-document]"):
                assert len(drawing.get_attribute("aria-label")) > 40


def test_a_prediction_opens_its_explanation_and_is_remembered(visit: Any) -> None:
    with visit("attention/scaled_dot_product.html") as v:
        box = v.page.locator(".prediction")
        assert box.locator("details").get_attribute("open") is None
        box.get_by_label("About a quarter").check()
        assert box.locator("details").get_attribute("open") is not None
        assert "Not what happens" in box.locator(".prediction-verdict").inner_text()
        v.page.reload()
        assert box.get_by_label("About a quarter").is_checked()
        box.get_by_label("Nearly all of it").check()
        assert "As you predicted" in box.locator(".prediction-verdict").inner_text()


def heads(v: Any) -> Any:
    v.page.wait_for_selector(".widget-host[data-ready] .attention-heads svg")
    return v.page.locator(".attention-heads")


def test_the_widget_shows_every_head_of_every_use(visit: Any) -> None:
    with visit("heads/classroom.html") as v:
        widget = heads(v)
        for label in ("Encoder self-attention", "Decoder self-attention", "Cross-attention"):
            widget.get_by_label(label).check()
            assert widget.locator(".title").inner_text() == f"{label}, layer 1, head 1"
            layers, buttons = widget.locator(".layer-row").count(), widget.locator(".thumbnails button")
            assert layers >= 2 and buttons.count() % layers == 0
            buttons.last.click()
            assert widget.locator(".title").inner_text().startswith(f"{label}, layer {layers}, head ")
            assert buttons.last.get_attribute("aria-pressed") == "true"
            assert widget.locator("[aria-pressed=true]").count() == 1
            options = [widget.locator("select").nth(i).locator("option").count() for i in (0, 1)]
            assert widget.locator("svg text").count() == sum(options)
        assert v.errors == []


def test_the_widget_answers_to_mouse_keyboard_and_menus(visit: Any) -> None:
    with visit("heads/classroom.html", viewport={"width": 390, "height": 900}) as v:
        widget = heads(v)
        answer, picture = widget.locator("output"), widget.locator("svg[role=application]")
        picture.scroll_into_view_if_needed()
        first = answer.inner_text()
        picture.focus()
        v.page.keyboard.press("ArrowDown")
        v.page.keyboard.press("ArrowRight")
        assert widget.locator("select").nth(0).input_value() == "1"
        assert widget.locator("select").nth(1).input_value() == "1"
        second = answer.inner_text()
        assert second != first
        box = picture.locator("image").bounding_box()
        v.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
        rows = widget.locator("select").nth(0).locator("option").count()
        assert widget.locator("select").nth(0).input_value() == str(rows - 1)
        widget.locator("select").nth(0).select_option("0")
        assert answer.inner_text() not in (first, second)


def test_in_the_decoder_the_future_gets_nothing(visit: Any) -> None:
    with visit("heads/classroom.html") as v:
        widget = heads(v)
        widget.get_by_label("Decoder self-attention").check()
        assert "100 % of its attention" in widget.locator("output").inner_text(), "the first position sees itself only"
        widget.locator("select").nth(1).select_option("1")
        assert " 0 % of its attention" in widget.locator("output").inner_text()
