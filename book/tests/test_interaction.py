"""What holds for everything that the reader can move; each page's own controls are tested in its folder."""

from __future__ import annotations

from typing import Any

FIRST_SLIDER = """e => {
    const input = e.querySelector('.vega-bindings input[type=range]');
    input.value = input.value === input.max ? input.min : input.max;
    input.dispatchEvent(new Event('input', {bubbles: true}));
    return [input.name, +input.value];
}"""


def test_a_chart_on_canvas_keeps_its_sliders_when_the_theme_changes(visit: Any, some_canvas_page: str) -> None:
    with visit(f"{some_canvas_page}.html", color_scheme="light") as v:
        v.draw_charts()
        figure = v.page.query_selector("figure.chart[data-renderer=canvas]:has(input[type=range])")
        name, value = figure.evaluate(FIRST_SLIDER)
        figure.evaluate("e => { delete e.dataset.ready }")
        v.page.emulate_media(color_scheme="dark")
        v.page.wait_for_function("e => e.dataset.ready", arg=figure)
        assert figure.evaluate("(e, name) => e.chart.signal(name)", name) == value
        assert v.errors == []


def test_a_slider_changes_its_chart_and_can_be_moved_with_the_keyboard(visit: Any, some_chart_page: str) -> None:
    with visit(f"{some_chart_page}.html") as v:
        v.draw_charts()
        figure = v.page.query_selector("figure.chart[data-renderer=svg]:has(input[type=range])")
        drawn = figure.evaluate("e => e.querySelector('.chart-stage svg').outerHTML")
        figure.evaluate(FIRST_SLIDER)
        v.page.wait_for_function(
            "([e, old]) => e.querySelector('.chart-stage svg').outerHTML !== old", arg=[figure, drawn]
        )
        slider = figure.query_selector("input[type=range]")
        before = float(slider.input_value())
        slider.focus()
        v.page.keyboard.press("ArrowLeft")
        v.page.keyboard.press("ArrowLeft")
        v.page.keyboard.press("ArrowRight")
        assert float(slider.input_value()) != before or before == float(slider.get_attribute("min"))
        assert v.errors == []
