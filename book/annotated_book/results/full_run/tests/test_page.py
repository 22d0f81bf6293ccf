"""Chapter 33: the recorded run is gone through by buttons, slider and keys; the calculator follows its controls."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of, drawn_widget

PAGE = "results/full_run.html"


def playback(v: Any) -> Any:
    return drawn_widget(v, ".run-playback", ".tile svg")


def test_the_run_is_gone_through_moment_by_moment(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = playback(v)
        says, wrote = widget.locator("> output"), widget.locator(".wrote")
        slider, heads = widget.get_by_role("slider"), widget.locator(".run-heads-title")
        last = int(slider.get_attribute("max"))
        assert widget.locator(".run-title").inner_text().startswith("A rehearsal: the heads concentrate")
        assert "It is not WMT14" in widget.locator(".run-mark").inner_text()
        assert says.inner_text().startswith("After update 240 of"), "not at the end: there is something to see"
        slider.fill(str(last))
        assert widget.get_by_role("button", name="the next validation").is_disabled()
        assert "at this price 0.5" in widget.locator(".cost").inner_text()
        assert " 0:00 left" in widget.locator(".cost").inner_text(), "nothing is left after the last update"
        end, final = says.inner_text(), wrote.inner_text()
        assert "BLEU" in end and "that one large matrix product reaches" in end
        assert widget.locator(".tile").count() == 6 and widget.locator(".tile .event").count() == 6

        slider.fill("0")
        assert says.inner_text() != end and wrote.inner_text() != final
        assert says.inner_text().startswith("After update 60 of") and heads.inner_text().endswith("update 60")
        widget.get_by_role("button", name="the next validation").click()
        assert says.inner_text().startswith("After update 120 of")
        box = box_of(widget.locator(".tile svg").first)
        v.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        middle = int(slider.input_value())
        assert abs(middle - last / 2) <= 1.5

        for n in range(last + 1):  # somewhere it was stopped, and says so
            slider.fill(str(n))
            if "stopped and taken up again" in says.inner_text():
                break
        else:
            raise AssertionError("no moment tells of the stop")
        widget.get_by_role("spinbutton", name="price of an hour").fill("3600")
        assert "spent" in widget.locator(".cost").inner_text()
        assert "Jupyter to start, pause and resume" in v.page.locator(".needs-kernel").first.inner_text()
        assert v.errors == [] and v.foreign == []


def test_keys_and_heads_on_a_dark_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}, color_scheme="dark") as v:
        widget = playback(v)
        assert box_of(widget)["width"] <= 358 and v.overflow() <= 0
        slider = widget.get_by_role("slider")
        slider.focus()
        v.page.keyboard.press("Home")
        title = widget.locator(".run-heads-title")
        assert title.inner_text().endswith("update 60")
        v.page.keyboard.press("ArrowRight")
        assert title.inner_text().endswith("update 120")
        picture = "e => e.querySelector('.run-heads .stage image').getAttribute('href')"
        widget.get_by_label("Encoder self-attention").check()
        widget.get_by_role("button", name="layer 2, head 3").click()
        assert "Encoder self-attention, layer 2, head 3" in widget.locator(".run-heads .title").inner_text()
        before = widget.evaluate(picture)
        v.page.keyboard.press("ArrowRight")  # on a head's button: no moment passes
        assert title.inner_text().endswith("update 120")
        slider.focus()
        v.page.keyboard.press("End")
        assert widget.evaluate(picture) != before, "the same head at another moment"
        assert "Encoder self-attention, layer 2, head 3" in widget.locator(".run-heads .title").inner_text()
        assert v.errors == []


def test_the_calculator_follows_its_controls(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}, color_scheme="dark") as v:
        box = v.page.locator('.live[data-panel="cost"][data-state="done"]')
        said, cells = box.locator("[role=status]"), box.locator(".cost-table tbody td")
        box.get_by_role("button", name="the paper's machine").click()
        assert said.inner_text().startswith("8 × P100 at 26 % of 10.6 TFLOP/s (32 bits): the base model 12 h")
        before = cells.all_inner_texts()
        box.get_by_role("spinbutton").fill("0.5")
        costs = [float(cells.nth(i).inner_text()) for i in (3, 7)]
        hours = [float(before[i].replace(",", "")) for i in (2, 6)]
        assert all(abs(cost - hour / 2) < 0.02 * hour for cost, hour in zip(costs, hours, strict=True))
        box.get_by_role("combobox").select_option("A100")
        assert said.inner_text().startswith("8 × A100 at 26 % of 312 TFLOP/s")
        box.locator(".cost-row").nth(5).click()
        assert said.inner_text().startswith("8 × B200") and box.get_by_role("combobox").input_value() == "B200"
        box.get_by_role("slider").first.press("End")
        assert said.inner_text().startswith("32 × B200") and v.overflow() <= 0 and v.errors == []


def test_a_stopped_training_goes_on_from_its_last_checkpoint(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}, color_scheme="dark") as v:
        box = v.page.locator('.live[data-panel="stop"][data-state="done"]')
        said, lines = box.locator("[role=status]"), box.locator("dd")
        assert said.inner_text() == "The time for 234 updates is lost, and nothing else."
        assert lines.first.inner_text() == "update 51,000" and "12 s (one H100, measured)" in lines.nth(1).inner_text()
        box.get_by_role("combobox").select_option("8")
        assert "each of the 8 GPUs computes about 3,125" in lines.nth(3).inner_text()
        box.get_by_label("SIGTERM").check()
        assert said.inner_text() == "Nothing is lost." and lines.first.inner_text().startswith("update 51,234, saved")
        box.get_by_label("power cut").check()
        box.get_by_role("slider").press("Home")
        assert "The time for 1 updates" not in said.inner_text() and "no checkpoint yet" in lines.first.inner_text()
        assert v.overflow() <= 0 and v.errors == []


def test_messages_are_found_by_stage_and_by_word(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        bar, rows = v.page.locator(".page-filter"), v.page.locator("table.messages tbody tr")
        every = rows.count()
        bar.locator("select").select_option("prepare")
        assert 0 < rows.locator("visible=true").count() < every
        assert rows.locator("visible=true").first.inner_text().startswith("a download that ends")
        bar.locator("select").select_option("")
        bar.locator("input").fill("nan")
        shown = rows.locator("visible=true").all_inner_texts()
        assert len(shown) == 1 and shown[0].startswith("the loss is not finite")
        assert v.errors == []
