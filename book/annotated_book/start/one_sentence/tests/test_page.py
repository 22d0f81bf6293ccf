"""Chapter 1: the machine of figure 1 takes a sentence, is chosen from, stepped through, and read out; also narrow."""

from __future__ import annotations

from typing import Any

import pytest

from book.tests.boxes import box_of

PAGE = "start/one_sentence.html"


def machine(v: Any) -> Any:
    v.page.locator('.live[data-panel="machine"]').scroll_into_view_if_needed()
    v.page.wait_for_selector(".architecture.running .panel .title")
    return v.page.locator(".architecture.running")


def box(widget: Any, name: str) -> Any:
    return widget.locator(f'[data-box="{name}"]')


def test_every_box_shows_its_tensor_shape_and_code(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = machine(v)
        boxes = widget.locator("[role=radio][data-box]")
        assert boxes.count() == 21
        for i in range(21):
            boxes.nth(i).click()
            assert boxes.nth(i).get_attribute("aria-checked") == "true"
            assert widget.locator("[role=radio][aria-checked=true]").count() == 1
            assert "section 3" in widget.locator(".facts").inner_text() or i == 0
            assert widget.locator(".panel pre").count() >= 1
            assert widget.locator(".panel svg.tensor, .panel .pieces, .panel .bar").count() >= 1
        assert v.errors == [] and v.foreign == []


def test_a_step_changes_the_german_side_and_leaves_the_memory(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = machine(v)

        def picture(name: str) -> str:
            return box(widget, name).locator("image").get_attribute("href")

        def covered(name: str) -> float:
            return float(box(widget, name).locator("rect.later").get_attribute("height"))

        before, hidden = picture("memory"), covered("target.sum")
        linear, following = picture("linear"), widget.locator(".next").text_content()
        slider = widget.locator("input[type=range]")
        slider.focus()
        v.page.keyboard.press("ArrowRight")
        assert picture("memory") == before and box(widget, "memory").locator("rect.later[height]").count() == 0
        assert 0 < covered("target.sum") < hidden and picture("linear") != linear
        assert widget.locator(".next").text_content() != following
        slider.press("End")
        assert widget.locator(".next").text_content() == "</s>" and covered("target.sum") == 0
        assert "aufgemacht." in widget.locator(".so-far").text_content()


def test_a_row_of_the_decoder_has_two_names(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = machine(v)
        v.page.locator('.live[data-panel="machine"] select').select_option(label="The grandmother gets up.")
        v.page.wait_for_function("document.querySelector('.running .now').textContent === '0 of 6 tokens'")
        slider = widget.locator("input[type=range]")
        slider.press("Home")
        for _ in range(4):
            slider.press("ArrowRight")
        row = "Having read “ht”, about to write “▁auf”"
        assert widget.locator(".maps .note").inner_text().startswith(row)
        assert widget.locator(".row-said").inner_text().startswith(row)
        up = []
        for layer in ("3", "2", "1"):
            widget.get_by_label(layer, exact=True).check()
            up.append(widget.locator(".head b").all_inner_texts().count("▁up"))
        assert up == [3, 1, 0], "heads that give most to “up”, by layer, as the text says"


def test_a_sentence_of_ones_own_goes_through_the_machine(visit: Any) -> None:
    with visit(PAGE, alone=True) as v:
        widget = machine(v)
        v.page.locator('.live[data-panel="machine"] input[type=text]').fill("The cat sleeps.")
        v.page.wait_for_function("document.querySelector('.architecture.running .now').textContent.startsWith('0 of')")
        widget.locator("input[type=range]").press("End")
        assert "Die Katze schläft." in widget.locator(".so-far").text_content()
        box(widget, "source.tokens").click()
        assert widget.locator(".pieces li").all_inner_texts()[-1].startswith("</s>")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_step_of_writing_moves_or_jumps(visit: Any, motion: str) -> None:
    with visit(PAGE, reduced_motion=motion) as v:
        widget = machine(v)
        before = widget.locator(".now").inner_text()
        widget.get_by_role("button", name="Write one token").click()
        if motion == "reduce":
            assert widget.locator(".now").inner_text() != before, "at once"
        else:
            assert widget.locator(".box.active").count() >= 1
            v.page.wait_for_function("text => document.querySelector('.now').textContent !== text", arg=before)
        assert before.startswith("4 of") and widget.locator(".now").inner_text().startswith("5 of")
        assert widget.locator(".box.active").count() == 0


def test_layers_are_chosen(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = machine(v)
        box(widget, "encoder.*.self_attention").click()
        before = box(widget, "encoder.*.self_attention").locator("image").get_attribute("href")
        assert "layer 3" in widget.locator(".panel .title").inner_text()
        widget.get_by_label("1", exact=True).check()
        assert box(widget, "encoder.*.self_attention").locator("image").get_attribute("href") != before
        assert "layer 1" in widget.locator(".panel .title").inner_text()


def test_the_keyboard_goes_along_the_flow_and_across(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = machine(v)
        chosen = widget.locator("[role=radio][aria-checked=true]")
        assert widget.locator("[role=radio][tabindex='0']").count() == 1
        box(widget, "decoder.*.cross_attention").click()
        for key, expected in (
            ("ArrowUp", "decoder.*.add_norm_2"),
            ("ArrowDown", "decoder.*.cross_attention"),
            ("ArrowLeft", "encoder.*.feed_forward"),
            ("ArrowRight", "decoder.*.cross_attention"),
            ("Home", "source.tokens"),
            ("End", "softmax"),
        ):
            v.page.keyboard.press(key)
            assert chosen.get_attribute("data-box") == expected
            assert v.page.evaluate("document.activeElement.dataset.box") == expected
        box(widget, "memory").click()
        table, said = widget.locator("svg.tensor"), widget.locator(".panel output")
        first = said.inner_text()
        table.focus()
        v.page.keyboard.press("ArrowRight")
        assert "dimension 1:" in said.inner_text() and said.inner_text() != first
        v.page.keyboard.press("ArrowDown")
        assert "grandmother" in said.inner_text()


def test_masked_maps_have_an_empty_corner(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = machine(v)
        box(widget, "decoder.*.self_attention").click()
        corners = widget.locator(".map canvas").evaluate_all(
            "all => all.map(c => c.getContext('2d').getImageData(c.width - 1, 0, 1, 1).data[3])"
        )
        assert corners == [0] * 4
        diagonal = widget.locator(".map canvas").first.evaluate(
            "c => c.getContext('2d').getImageData(0, 0, 1, 1).data[3]"
        )
        assert diagonal == 255, "the first piece has only itself"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(visit: Any, scheme: str) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 844}, color_scheme=scheme) as v:
        widget = machine(v)
        for name in ("memory", "linear", "softmax", "source.tokens", "decoder.*.cross_attention"):
            box(widget, name).click()
            assert v.page.evaluate("document.documentElement.scrollWidth") <= 390
            panel, drawing = box_of(widget.locator(".panel")), box_of(widget.locator("svg.figure-1"))
            assert panel["y"] >= drawing["y"] + drawing["height"] - 1 and panel["width"] > 300


def test_without_scripts_the_drawing_and_its_shapes_are_there(visit: Any) -> None:
    with visit(PAGE, java_script_enabled=False) as v:
        drawing = v.page.locator(".architecture-twin svg.figure-1")
        assert drawing.is_visible()
        assert "10 × 128" in drawing.text_content() and "11 × 2,000" in drawing.text_content()


def test_with_scripts_the_drawing_is_shown_once(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        machine(v)
        assert v.page.locator(".architecture-twin").count() == 0
        heads = v.page.locator(".architecture.running path[marker-end]").first.get_attribute("marker-end")
        assert v.page.locator(f".architecture.running {heads[4:-1]}").count() == 1, "its arrow heads are its own"
