"""Chapter 18: the stepper shows where the answer is in sight; the charts answer to their menu."""

from __future__ import annotations

import re
from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import move, texts, with_control

PAGE = "training/teacher_forcing.html"
STARS = "e => [...e.querySelectorAll('.star')].filter(s => s.style.display !== 'none').length"


def stepper(v: Any) -> Any:
    return drawn_widget(v, ".tf-stepper", "svg")


def test_mask_and_shift_decide_who_sees_the_answer(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = stepper(v)
        verdict, alone = widget.locator(".verdict"), widget.locator(".alone")
        slots = widget.locator(".band").count()
        assert slots == 11 and widget.evaluate(STARS) == 0 and "No leak" in verdict.inner_text()
        assert "loss 0.25" in alone.inner_text() and "Dieser große Garten" in alone.inner_text()
        widget.get_by_label("hide the future").uncheck()
        assert widget.evaluate(STARS) == slots - 1 and "one slot below" in verdict.inner_text()
        widget.get_by_label("0", exact=True).check()
        assert widget.evaluate(STARS) == slots and "its own answer" in verdict.inner_text()
        widget.get_by_label("hide the future").check()
        assert widget.evaluate(STARS) == slots and "loss 0.00" in alone.inner_text()
        widget.get_by_label("2", exact=True).check()
        assert widget.evaluate(STARS) == 0 and "does not see the newest word" in verdict.inner_text()
        assert v.errors == []


def test_slots_by_keyboard_finger_and_menu_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}, has_touch=True) as v:
        widget = stepper(v)
        assert box_of(widget.locator("svg"))["width"] <= 358
        says, slider = widget.locator(".says"), widget.get_by_label("slot", exact=True)
        slider.focus()
        v.page.keyboard.press("ArrowRight")
        assert re.match(r"Slot 4 reads “Garten”.*must write hat\.", says.inner_text())
        widget.get_by_role("button", name="slot before").click()
        assert says.inner_text().startswith("Slot 3 ")
        band = box_of(widget.locator(".hit").nth(6))
        v.page.touchscreen.tap(band["x"] + 20, band["y"] + band["height"] / 2)
        assert says.inner_text().startswith("Slot 7 ")
        menu = widget.get_by_label("sentence")
        menu.select_option(label="The baker has 21 brown goats.")
        assert says.inner_text().startswith("Slot 1 reads “<s>”")
        bars = widget.locator(".bars .right")
        assert bars.count() == 1 and bars.inner_text().startswith("Der ✓")


def test_passes_and_losses_are_drawn(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        cost = with_control(figures, "counted")
        before = cost.evaluate("e => e.querySelector('.chart-stage svg').innerHTML.length > 0")
        assert before and "tokenbytoken,cached" in "".join(texts(cost)).replace(" ", "")
        path = "e => [...e.querySelectorAll('.chart-stage svg .mark-line path')].map(p => p.getAttribute('d')).join()"
        drawn = cost.evaluate(path)
        move(cost, "counted", "decoder passes, one after another")
        assert cost.evaluate(path) != drawn
        assert any("mask, shift 2" in texts(figure) for figure in figures)
        assert v.errors == []


def test_a_piece_is_changed_and_only_later_slots_follow(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator('.live[data-panel="forcing"]')
        box.scroll_into_view_if_needed()
        v.page.wait_for_selector('.live[data-panel="forcing"][data-state="done"]')
        said, table = box.locator(".live-status"), box.locator("table")
        assert "“Die Schläger waren alt.”" in said.inner_text() and table.locator("tbody tr").count() == 8
        assert table.locator("mark").count() == 0
        box.get_by_role("button", name="slot 3 reads").first.press("Enter")
        box.get_by_role("button", name="Schläger 63 %").press("Enter")
        v.page.wait_for_function(
            "document.querySelector('.live-status').textContent.startsWith('Slot 3 reads “Schläger”')"
        )
        assert "In the slots before it no probability changes." in said.inner_text()
        assert table.locator("mark").count() > 0 and table.locator("tbody tr:nth-child(-n+2) mark").count() == 0
        assert v.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        box.get_by_role("button", name="feed the tokens as they were").click()
        v.page.wait_for_function("document.querySelector('.live-status').textContent.startsWith('Teacher forcing')")
        box.get_by_role("combobox", name="Examples").select_option(label="The small dog sees the cat.")
        german = box.get_by_role("textbox", name="German")
        assert german.input_value() == "Der kleine Hund sieht die Katze."
        v.page.wait_for_function("document.querySelector('.live-status').textContent.includes('“Der kleine Hund')")
        box.get_by_role("button", name="the model's own, one word changed").click()
        v.page.wait_for_function(
            "![...document.querySelectorAll('.live input')].some(e => e.value === 'Der kleine Hund sieht die Katze.')"
        )
        assert len(german.input_value().split()) == 6
        assert v.overflow() <= 0 and v.errors == [] and v.axe(within=".live") == []
