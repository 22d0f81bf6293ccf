"""Chapter 5: the query that turns, the boxes of figure 2, the sliders of the scale, and the two-key curve react."""

from __future__ import annotations

import re
from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import drawn_with, move

PAGE = "attention/scaled_dot_product.html"


def heights(figure: Any, label: str) -> list[float]:
    """What the bars say to a screen reader, e.g. 'weight p: 0.95'."""
    said = figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg [aria-label]')].map(m => m.ariaLabel)")
    found = (re.search(rf"{re.escape(label)}: ([\d.e−-]+)", text) for text in said)
    return [float(match[1].replace("−", "-")) for match in found if match]


def test_the_query_can_be_dragged_and_moved_by_keys(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        plane = drawn_widget(v, ".query-plane", "svg")
        row = lambda name: [c.inner_text() for c in plane.locator("tr", has_text=name).locator("th, td").all()]  # noqa: E731
        plane.get_by_role("slider", name="length").focus()
        v.page.keyboard.press("Home")
        assert [row(name)[-1].strip() for name in ("the", "cat", "sat")] == ["0.33"] * 3
        box = box_of(plane.locator("svg"))
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        v.page.mouse.move(*middle)
        v.page.mouse.down()
        v.page.mouse.move(middle[0] + 4 / 5.3 * box["width"] / 2, middle[1], steps=3)  # four to the right
        v.page.mouse.up()
        assert plane.locator("output").all_inner_texts() == ["0°", "4.0"]
        assert row("the")[:3] == ["the", "6.40", "4.53"], "4 times 1.6, and divided by the root of 2"
        assert v.errors == []


def test_the_boxes_show_every_number_and_how_it_came_about(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        widget = drawn_widget(v, ".boxes", "svg")
        says = widget.locator("output")
        assert "2 of 6: MatMul" in widget.locator(".title").inner_text()
        assert says.inner_text() == "Query of sat · key of cat = 1·1 + 2·1 + 0·1 + 1·1 = 4"
        widget.get_by_role("button", name="next").click()
        assert says.inner_text() == "sat, cat: 4 ÷ √4 = 2"
        widget.get_by_role("button", name="SoftMax").click()
        assert "7.39 ÷ 11.11 = 0.67" in says.inner_text()
        widget.locator("svg").focus()
        v.page.keyboard.press("ArrowLeft")
        assert "1 ÷ 11.11 = 0.09" in says.inner_text()
        widget.get_by_label("hide the future").check()
        widget.get_by_role("button", name="Mask (opt.)").click()
        widget.get_by_text("the", exact=True).first.click()  # the row of "the"
        v.page.keyboard.press("Tab")
        widget.locator("svg").focus()
        v.page.keyboard.press("ArrowRight")
        assert "comes later than the" in says.inner_text()
        assert box_of(widget.locator("svg"))["width"] <= 375 and v.errors == []


def test_the_exponent_turns_one_winner_into_an_even_spread(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "exponent")
        assert max(heights(figure, "weight p")) > 0.9
        move(figure, "exponent", 0.5)
        middle = heights(figure, "weight p")
        assert len(middle) == 16 and 0.1 < max(middle) < 0.6
        move(figure, "exponent", 1)
        assert max(heights(figure, "weight p")) < 0.1
        move(figure, "step", 0)  # d_k = 1: every power divides by 1
        one = heights(figure, "weight p")
        move(figure, "exponent", 0)
        assert heights(figure, "weight p") == one


def test_the_undivided_band_leaves_the_hill(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "log_d_k")

        def ends() -> list[float]:
            return figure.evaluate(
                "e => [...e.querySelectorAll('.chart-stage .mark-rect path')].map(m => m.getBoundingClientRect().width)"
            )

        move(figure, "log_d_k", 0)
        root, plain = sorted(ends())[-2:]
        assert abs(root - plain) < 1
        move(figure, "log_d_k", 6)
        small, large = sorted(ends())[-2:]
        assert abs(small - root) < 1 and large > 5 * small


def test_the_panel_compares_three_divisors(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        box = v.page.locator(".live[data-panel=divisor]")
        box.scroll_into_view_if_needed()
        v.page.wait_for_selector(".live[data-panel=divisor][data-state=done]", timeout=60_000)
        shares = box.get_by_label("Sharpness of attention").locator("li span:last-child").all_inner_texts()
        root, d_k, one, even = (int(text.rstrip(" %")) for text in shares)
        assert even == 16 and even < d_k < 40 < root < one and v.errors == []
