"""Chapter 23: the live panel forces a token; the step player and the charts follow their controls."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import move, settle, texts, with_control

PAGE = "decoding/greedy.html"


def player(v: Any) -> Any:
    return drawn_widget(v, ".step-player", ".row")


def test_the_player_steps_and_says_where_greedy_leaves(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = player(v)
        verdict, doubt = widget.locator("output"), widget.locator(".doubt")
        assert verdict.inner_text().startswith("Greedy search leaves") and widget.locator(".row.best").count() == 1
        assert widget.locator(".row").count() == 11  # ten tokens, and all others
        widget.get_by_role("button", name="the next step").click()
        assert "Greedy search left it at step" in verdict.inner_text() and widget.locator(".written .left").count() == 1
        widget.get_by_role("slider").fill("0")
        assert doubt.inner_text().startswith("Step 1 of") and "begins the same way" in verdict.inner_text()
        assert widget.locator(".written span").all_inner_texts() == ["?"]
        widget.get_by_role("button", name="to the fork").click()
        assert verdict.inner_text().startswith("Greedy search leaves")
        menu = widget.get_by_role("combobox")
        menu.select_option(index=menu.locator("option").count() - 1)  # greedy keeps to the best way
        assert doubt.inner_text().startswith("Step 1 of")
        assert not widget.get_by_role("button", name="to the fork").is_visible()
        assert v.errors == []


def test_keys_play_and_the_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        widget = player(v)
        stage, verdict = widget.locator(".stage"), widget.locator("output")
        assert box_of(widget)["width"] <= 358
        stage.focus()
        v.page.keyboard.press("End")
        assert (
            "Greedy search has written" in verdict.inner_text()
            and "The most probable translation" in verdict.inner_text()
        )
        assert widget.get_by_role("button", name="the next step").is_disabled()
        v.page.keyboard.press("Home")
        v.page.keyboard.press("ArrowRight")
        assert widget.locator(".doubt").inner_text().startswith("Step 2 of")
        v.page.keyboard.press("Space")  # plays
        v.page.wait_for_function("document.querySelector('.step-player .doubt').textContent.startsWith('Step 3')")
        v.page.keyboard.press("Space")
        assert widget.get_by_role("button", name="play").is_visible()


def test_the_charts_follow_their_controls(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        tiles, ways = with_control(figures, "step"), with_control(figures, "shown")
        assert any("step 5: 7 tiles" in text for text in texts(tiles))
        move(tiles, "step", 8)
        assert any("step 8: 10 tiles" in text for text in texts(tiles))
        tiles.evaluate("e => e.querySelector('input[type=radio][value=without]').click()")
        settle(tiles)
        assert any("step 8: 64 tiles" in text for text in texts(tiles))
        before = texts(ways)
        other = ways.query_selector("[name=shown] option:nth-child(2)").get_attribute("value")
        move(ways, "shown", other)
        assert texts(ways) != before


def test_a_reader_forces_a_token_and_goes_back(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator('.live[data-panel="greedy"]')
        box.scroll_into_view_if_needed()
        status, written = box.locator(".live-status"), box.locator(".live-tokens")
        done = '.live[data-panel="greedy"][data-state="done"]'
        written.get_by_text("Schläger").wait_for()  # its tokens come one by one
        v.page.wait_for_selector(done)
        assert (
            "Schläger" in written.inner_text() and "6 decoder positions with a cache, 21 without" in status.inner_text()
        )
        assert box.locator(".live-bars li").count() == 5
        box.get_by_role("button", name="write Flederm", exact=True).press("Enter")
        v.page.wait_for_function("document.querySelector('.live-status').textContent.includes('less probable than')")
        assert "Schläger" not in written.inner_text() and "“Die Schläger waren alt.”" in status.inner_text()
        assert v.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        box.get_by_role("button", name="greedy again").click()
        v.page.wait_for_selector(done)
        assert "less probable" not in status.inner_text() and "Schläger" in written.inner_text()
        assert v.overflow() <= 0 and v.errors == []
