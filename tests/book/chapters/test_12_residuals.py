"""Chapter 12: the normalised vector stays, streams and gradients follow their controls, curves can be chosen."""

from __future__ import annotations

from typing import Any

PAGE = "machine/residuals.html"
LINES = (
    "e => [...e.querySelectorAll('.chart-stage [aria-roledescription=\"line mark\"]')].map(p => p.getAttribute('d'))"
)


def figure(v: Any, word: str) -> Any:
    """The chart whose description holds a word, drawn."""
    found = next(f for f in v.page.query_selector_all("figure.chart") if word in f.inner_html())
    found.scroll_into_view_if_needed()
    v.page.wait_for_function("e => e.dataset.ready", arg=found)
    return found


def slide(v: Any, chart: Any, name: str, value: float) -> None:
    chart.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`input[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event('input', {bubbles: true})); }",
        [name, value],
    )
    v.page.wait_for_timeout(200)


def bars(chart: Any, colour: str) -> list[str]:
    return chart.evaluate(
        "(e, c) => [...e.querySelectorAll('.chart-stage .mark-rect.role-mark path')]"
        ".filter(p => p.getAttribute('fill') === c)"
        ".map(p => p.getAttribute('d').replace(/[0-9.]+/g, n => (+n).toFixed(2)))",
        colour,
    )


def test_scale_and_offset_of_the_input_do_not_get_through(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "before and after layer normalisation")
        before, after = bars(chart, "#8a8f98"), bars(chart, "#3b83d6")
        assert len(before) == len(after) == 6
        slide(v, chart, "times", 2)
        slide(v, chart, "plus", 1)
        assert bars(chart, "#8a8f98") != before and bars(chart, "#3b83d6") == after
        slide(v, chart, "gain", 0.5)
        assert bars(chart, "#3b83d6") != after
        assert v.errors == []


def test_words_or_positions_are_read(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "share read correctly")
        before = chart.evaluate(LINES)
        assert len(before) == 4
        chart.query_selector("select").select_option("which position")
        v.page.wait_for_timeout(200)
        assert chart.evaluate(LINES) != before


def test_depth_and_stack_choose_the_gradients(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        chart = figure(v, "Gradient norm of the feed-forward matrices")
        title = "e => [...e.querySelectorAll('.chart-stage svg .role-title-text text')].map(t => t.textContent).join()"
        assert "the decoder, 12 layers" in chart.evaluate(title)
        slide(v, chart, "depth", 4)
        chart.query_selector("input[type=radio][value=encoder]").check()
        v.page.wait_for_timeout(200)
        assert "the encoder, 4 layers" in chart.evaluate(title)
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_placement_warm_up_and_seed_choose_curves(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "Training curves, 24 in all")
        assert len(chart.evaluate(LINES)) == 24
        placement, warm_up, seed = chart.query_selector_all("select")
        for menu, value, left in ((placement, "post-norm", 6), (warm_up, "without", 3), (seed, "1", 1)):
            menu.select_option(value)
            v.page.wait_for_timeout(250)
            assert len(chart.evaluate(LINES)) == left
