"""Chapter 10: networks switched off, the fold, the shares, all activations of a unit, the explorer of units."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import described, move, texts

PAGE = "machine/feed_forward.html"


def test_the_share_follows_d_ff(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "Stacked bars of the parameters")
        assert {"67%", "50%"} <= set(texts(chart))
        move(chart, "d_ff", 256)
        assert {"20%", "11%"} <= set(texts(chart))
        assert v.errors == []


def test_the_plane_takes_sliders_and_loses_its_folds(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "small feed-forward network over a plane")
        picture = "e => e.querySelector('canvas').toDataURL()"
        before = chart.evaluate(picture)
        move(chart, "angle", -90)
        turned = chart.evaluate(picture)
        move(chart, "weight", -1)
        roof = chart.evaluate(picture)
        move(chart, "relu", False)
        assert len({before, turned, roof, chart.evaluate(picture)}) == 4


def test_table_3_has_three_measures(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "Points joined by a line")
        assert {"25.4", "25.8", "26.2"} <= set(texts(chart))
        move(chart, "measure", "perplexity")
        assert {"5.12", "4.92", "4.75"} <= set(texts(chart))


def test_all_activations_of_a_unit_are_shown_by_token(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "Histograms of all activations of single units")
        assert {"35 × not", "188 × ."} <= set(texts(chart))
        move(chart, "unit", "layer 3, unit 74")
        assert "36 × not" in texts(chart)


def test_networks_can_be_switched_off(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = v.page.locator(".live[data-panel=feed_forward]")
        panel.scroll_into_view_if_needed()
        whole = "Die Königin lacht über alte Geschichten."
        said = panel.locator(".live-status")
        said.filter(has_text="3 of 6 networks off. The words change.").wait_for(timeout=20_000)
        assert panel.locator(".live-text").inner_text() == whole
        panel.get_by_role("button", name="decoder, layer 1").click()
        said.filter(has_text="4 of 6 networks off. The words change.").wait_for(timeout=20_000)
        panel.get_by_role("button", name="Put everything back").click()
        said.filter(has_text="All networks are on.").wait_for(timeout=20_000)
        assert v.errors == []


def explorer(v: Any) -> Any:
    return drawn_widget(v, ".neurons", "li")


def test_units_can_be_leafed_through_and_found_by_word(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = explorer(v)
        assert widget.locator("mark").all_inner_texts() == ["not"] * 6
        assert "active at 305 of 2,452 positions" in widget.locator(".title").inner_text()
        rows = widget.locator(".tally li").all_inner_texts()
        assert [row.split() for row in rows][:2] == [[".", "188", "(62", "%)"], ["not", "35", "(11", "%)"]]
        assert len(rows) == 5 and rows[-1].startswith("others")
        widget.get_by_label("next unit").click()
        assert "unit 386" in widget.locator(".title").inner_text()
        widget.get_by_label("layer 3").check()
        assert widget.locator(".title").inner_text().startswith("layer 3, unit 386")
        widget.get_by_label("find units most active at").fill("because")
        assert "among their strongest" in widget.locator(".found").inner_text()
        assert all(" %" in one for one in widget.locator(".found button").all_inner_texts()), "each with its share"
        assert "because" in widget.locator("mark").all_inner_texts(), "the first is shown at once"
        first = widget.locator(".title").inner_text()
        widget.locator(".found button").nth(1).click()
        assert widget.locator(".title").inner_text() != first
        widget.get_by_label("find units most active at").fill("qqq")
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
        box = box_of(widget)
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
