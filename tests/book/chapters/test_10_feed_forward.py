"""Chapter 10: the fold, the shares, the explorer of units; mouse, keyboard and a narrow window."""

from __future__ import annotations

from typing import Any

from tests.book.charts import texts

PAGE = "machine/feed_forward.html"


def figure(v: Any, word: str) -> Any:
    """The chart whose description holds a word, drawn."""
    found = next(f for f in v.page.query_selector_all("figure.chart") if word in f.inner_html())
    found.scroll_into_view_if_needed()
    v.page.wait_for_function("e => e.dataset.ready", arg=found)
    return found


def move(v: Any, chart: Any, name: str, value: Any) -> None:
    chart.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`);"
        " if (i.type === 'checkbox') i.checked = value; else i.value = value;"
        " for (const kind of ['input', 'change']) i.dispatchEvent(new Event(kind, {bubbles: true})); }",
        [name, value],
    )
    v.page.wait_for_timeout(250)


def test_the_share_follows_d_ff(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "Stacked bars of the parameters")
        assert {"67%", "50%"} <= set(texts(chart))
        move(v, chart, "d_ff", 256)
        assert {"20%", "11%"} <= set(texts(chart))
        assert v.errors == []


def test_the_plane_takes_sliders_and_loses_its_folds(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "small feed-forward network over a plane")
        picture = "e => e.querySelector('canvas').toDataURL()"
        before = chart.evaluate(picture)
        move(v, chart, "angle", -90)
        turned = chart.evaluate(picture)
        move(v, chart, "relu", False)
        assert len({before, turned, chart.evaluate(picture)}) == 3


def test_table_3_has_three_measures(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = figure(v, "Points joined by a line")
        assert {"25.4", "25.8", "26.2"} <= set(texts(chart))
        move(v, chart, "measure", "perplexity")
        assert {"5.12", "4.92", "4.75"} <= set(texts(chart))


def explorer(v: Any) -> Any:
    v.page.wait_for_selector(".widget-host[data-ready] .neurons li")
    widget = v.page.locator(".neurons")
    widget.scroll_into_view_if_needed()
    return widget


def test_units_can_be_leafed_through_and_found_by_word(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = explorer(v)
        assert widget.locator("mark").all_inner_texts() == ["not"] * 6
        widget.get_by_label("next unit").click()
        assert "unit 386" in widget.locator(".title").inner_text()
        widget.get_by_label("layer 3").check()
        assert widget.locator(".title").inner_text().startswith("layer 3, unit 386")
        widget.get_by_label("find units that fire at").fill("because")
        assert "among their strongest" in widget.locator(".found").inner_text()
        widget.locator(".found button").first.click()
        assert "because" in widget.locator("mark").all_inner_texts()
        widget.get_by_label("find units that fire at").fill("qqq")
        assert widget.locator(".found").inner_text() == "no unit of this layer"
        assert v.errors == []


def test_the_explorer_answers_to_the_keyboard_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        widget = explorer(v)
        slider = widget.get_by_label("unit", exact=True)
        slider.focus()
        v.page.keyboard.press("ArrowLeft")
        assert "unit 384" in widget.locator(".title").inner_text()
        v.page.keyboard.press("Home")
        assert "unit 1:" in widget.locator(".title").inner_text()
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        box = widget.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
