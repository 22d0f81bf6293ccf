"""Chapter 7: the mask painter answers to ticks, menus, mouse, finger and keyboard, and its meters tell the truth."""

from __future__ import annotations

import math
from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import settle

PAGE = "attention/masks.html"


def painter(v: Any) -> Any:
    return drawn_widget(v, ".mask-painter", "svg")


def meter(widget: Any, name: str) -> float:
    row = widget.locator(".meter", has_text=f"weight on {name}")
    return float(row.locator("b").inner_text().rstrip(" %"))


def choose(widget: Any, label: str, text: str) -> None:
    menu = widget.locator(".choices label", has_text=label).locator("select")
    values = menu.locator("option").all_inner_texts()
    menu.select_option(str(next(i for i, value in enumerate(values) if value.startswith(text))))


def test_without_the_causal_mask_the_meter_rises(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = painter(v)
        assert meter(widget, "the future") == 0 and meter(widget, "padding") == 0
        assert widget.locator(".verdict").inner_text() == "Nothing leaks."
        widget.get_by_label("hide the future").uncheck()
        assert meter(widget, "the future") > 5 and "answers leak" in widget.locator(".verdict").inner_text()
        widget.get_by_label("hide the future").check()
        widget.get_by_label("hide padding").uncheck()
        assert meter(widget, "the future") == 0  # the padding of a right-padded target lies in the future
        assert meter(widget, "padding") == 0
        choose(widget, "attention", "Encoder")
        assert meter(widget, "padding") > 1
        assert meter(widget, "later words") > 5
        colour = widget.locator(".meter .bar span").first.evaluate("e => getComputedStyle(e).backgroundColor")
        assert colour == "rgb(138, 143, 152)", "grey: an encoder may look ahead"
        choose(widget, "attention", "Cross")
        assert meter(widget, "padding") > 1 and widget.get_by_label("hide the future").is_disabled()
        assert v.errors == []


def test_a_tiny_number_leaks_through_every_cross(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = painter(v)
        crosses = "e => [...e.querySelectorAll('.cross')].filter(c => c.style.display !== 'none').length"
        before = widget.evaluate(crosses)
        choose(widget, "hidden scores become", "−1e-12")
        assert widget.evaluate(crosses) == before > 0
        assert meter(widget, "the future") + meter(widget, "padding") > 30
        choose(widget, "hidden scores become", "−1e9")
        assert meter(widget, "the future") == meter(widget, "padding") == 0


def test_an_empty_row_shows_what_each_fill_makes_of_it(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = painter(v)
        widget.locator("svg").focus()
        v.page.keyboard.press("ArrowDown")
        widget.get_by_role("button", name="close this row").click()
        empty = widget.locator(".empty")
        assert empty.nth(1).text_content() == "empty row: zeros"
        choose(widget, "hidden scores become", "−∞ alone")
        assert empty.nth(1).text_content() == "NaN in every cell"
        assert "NaN" in widget.locator(".verdict").inner_text()
        choose(widget, "hidden scores become", "−1e9")
        assert empty.nth(1).text_content() == "empty row: 9.1 % each"
        widget.get_by_role("button", name="undo my painting").click()
        assert not empty.nth(1).text_content()


def test_single_cells_by_keyboard_mouse_and_finger(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}, has_touch=True) as v:
        widget = painter(v)
        answer, picture = widget.locator("output"), widget.locator("svg")
        assert box_of(picture)["width"] <= 358
        picture.focus()
        v.page.keyboard.press("ArrowRight")
        assert "hidden, weight 0.0 %" in answer.inner_text()
        v.page.keyboard.press("Space")
        assert "open" in answer.inner_text() and meter(widget, "the future") > 0
        v.page.keyboard.press("Space")
        assert meter(widget, "the future") == 0
        cell = box_of(widget.locator(".frame").nth(3))
        middle = cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2
        v.page.mouse.click(*middle)
        assert "key 4" in answer.inner_text() and "open" in answer.inner_text()
        v.page.touchscreen.tap(*middle)
        assert "hidden" in answer.inner_text() and meter(widget, "the future") == 0


def test_the_widget_computes_the_softmax(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = painter(v)
        widget.get_by_label("hide the future").uncheck()
        widget.get_by_label("hide padding").uncheck()
        picture = widget.locator("svg")
        picture.focus()
        scores, weights = [], []
        for _ in range(11):
            parts = widget.locator("output").inner_text()
            scores.append(float(parts.split("score ")[1].split(",")[0].replace("−", "-")))
            weights.append(float(parts.split("weight ")[1].split(" %")[0]) / 100)
            v.page.keyboard.press("ArrowRight")
        powers = [math.exp(score) for score in scores]
        assert all(abs(w - p / sum(powers)) < 0.01 for w, p in zip(weights, powers, strict=True))


def test_the_gradient_picture_compares_two_decoders(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = next(f for f in v.draw_charts() if f.query_selector("select[name=which]"))
        cells = "e => e.querySelectorAll('.chart-stage svg .mark-rect path').length"
        assert figure.evaluate(cells) == 121
        figure.query_selector("select[name=which]").select_option("with a mask")
        settle(figure)
        assert figure.evaluate(cells) == 66  # the lower triangle of 11 positions


def test_the_panel_shows_what_the_mask_is_worth(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        box = v.page.locator(".live[data-panel=mask]")
        box.scroll_into_view_if_needed()
        v.page.wait_for_selector(".live[data-panel=mask][data-state=done]", timeout=60_000)
        assert "goes to later words" in box.inner_text() and " 0 % of" not in box.inner_text()
        box.get_by_label("causal mask").check()
        v.page.wait_for_function(
            "document.querySelector('.live[data-panel=mask]').innerText.includes(', 0 % of the decoder')"
        )
        assert v.errors == []
