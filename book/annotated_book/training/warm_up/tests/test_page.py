"""Chapter 20: the schedule follows its controls, a slip moves the curve, the grid shows the chosen cell."""

from __future__ import annotations

from typing import Any

from book.tests.charts import LINES, move, settle, texts, with_control

PAGE = "training/warm_up.html"
ROOM = (
    "e => { const free = e.cloneNode(true); e.after(free);"
    " free.style.cssText = 'position: absolute; width: max-content; max-width: none';"
    " const room = e.offsetWidth - free.offsetWidth; free.remove(); return room; }"
)


def chart(v: Any, control: str) -> Any:
    found = with_control(v.page.query_selector_all("figure.chart"), control)
    found.scroll_into_view_if_needed()
    v.page.wait_for_function("e => e.dataset.ready", arg=found)
    return found


def test_schedule_and_slips(visit: Any) -> None:
    with visit(PAGE) as v:
        v.draw_charts()
        schedule = chart(v, "warmup")
        assert any("0.00070, at update 4,000" in text for text in texts(schedule))
        move(schedule, "warmup", 1000)
        assert any("0.00140, at update 1,000" in text for text in texts(schedule))
        linear = schedule.evaluate(LINES)
        schedule.query_selector("input[type=radio][value=log]").check()
        settle(schedule)
        assert schedule.evaluate(LINES) != linear

        slip = chart(v, "accumulate")
        assert any("after update 400" in text for text in texts(slip))
        move(slip, "accumulate", 20)
        assert any("after update 200" in text for text in texts(slip))
        assert v.errors == []


def test_grid_and_memory_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        v.draw_charts()
        memory = chart(v, "place")
        assert memory.query_selector(".vega-bind-value").inner_text() == "0.98"
        move(memory, "place", 9)
        assert memory.query_selector(".vega-bind-value").inner_text() == "0.999"
        assert any("1999 gradients" in text for text in texts(memory))
        assert any("add up to 1000" in text for text in texts(memory))

        chosen = chart(v, "accumulate").query_selector("select")
        assert chosen.evaluate(ROOM) >= 0, "the longest name of a slip is read in full"

        grid = chart(v, "placed")
        before = grid.evaluate(LINES)
        grid.query_selector("select[name=cell_w]").select_option("80")
        settle(grid)
        after = grid.evaluate(LINES)
        assert len(after) == len(before) and after != before
        tiles = grid.query_selector_all('.chart-stage [aria-roledescription="rect mark"]')
        assert len(tiles) == 20
        tiles[0].click(force=True)  # learning rate 0.0005, no warm-up
        settle(grid)
        assert grid.query_selector("select[name=cell_w]").input_value() == "0"
        assert grid.query_selector("select[name=cell_r]").input_value() == "0.0005"
        assert grid.evaluate(LINES) != after
        move(grid, "placed", "pre-norm")
        assert len(grid.evaluate(LINES)) == 22  # all 20 in grey, the chosen cell, and the other warm-up
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
