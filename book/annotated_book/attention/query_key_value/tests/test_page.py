"""Chapter 6: at the desk the reader chooses a use of attention and a row, and sees whose rows answer."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of, drawn_widget

PAGE = "attention/query_key_value.html"


def desk(v: Any) -> Any:
    return drawn_widget(v, ".desk", "svg")


def side(widget: Any, which: int) -> list[str]:
    """The tokens of one side, queries (0) or keys (1)."""
    rows = widget.locator(".lines .token")
    texts = rows.evaluate_all("all => all.map(e => [e.dataset.row, e.textContent])")
    return [text for row, text in texts if (row == "-1") == bool(which)]


def test_the_use_changes_who_answers(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = desk(v)
        said = "Layer 3, head 3: the German token 5, “die” → “grü”, attends to the English tokens. Most weight: green"
        assert said in widget.locator("p").inner_text()
        assert "green" in side(widget, 1) and "Großmutter" in side(widget, 0)
        menu = widget.locator("select")
        menu.select_option(label="encoder self-attention")
        assert "green" in side(widget, 0) and "Großmutter" not in side(widget, 0) + side(widget, 1)
        menu.select_option(label="decoder self-attention")
        assert "Großmutter" in side(widget, 1) and "green" not in side(widget, 0) + side(widget, 1)
        assert v.errors == []


def test_the_range_of_rows_is_that_of_the_sequence(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = desk(v)
        slider = widget.get_by_role("slider")
        slider.focus()
        v.page.keyboard.press("End")
        assert widget.locator("label output").inner_text().startswith("11:")
        widget.locator("select").select_option(label="encoder self-attention")
        assert slider.get_attribute("max") == "10" and widget.locator("label output").inner_text() == "10: </s>"


def test_rows_answer_to_keys_and_clicks_on_a_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        widget = desk(v)
        widget.locator("svg.lines").focus()
        v.page.keyboard.press("ArrowDown")
        assert widget.locator("label output").inner_text().startswith("6:")
        v.page.keyboard.press("ArrowDown")
        assert widget.locator("label output").inner_text().startswith("7:"), "the picture keeps the focus"
        first = box_of(widget.locator(".lines .token text").first)
        v.page.mouse.click(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
        assert widget.locator("label output").inner_text() == "1: <s> → Die"
        assert box_of(widget.locator("svg.lines"))["width"] <= 375 and v.errors == []


SAYS = "text => document.querySelector('.live[data-panel=desk] .live-status').textContent.includes(text)"


def test_the_desk_takes_the_readers_sentences(visit: Any) -> None:
    with visit(PAGE) as v:
        box, widget = v.page.locator(".live[data-panel=desk]"), desk(v)
        box.get_by_role("combobox", name="English").fill("The cat sleeps.")
        v.page.wait_for_function(SAYS, arg="Katze")
        assert side(widget, 0)[0] == "<s>" and "".join(side(widget, 0)[1:]) == "DieKatzeschläft."
        assert "".join(side(widget, 1)) == "Thecatsleeps.</s>"
        box.get_by_role("textbox", name="German").fill("Der Hund singt.")
        v.page.wait_for_function(SAYS, arg="German sentence:")
        assert side(widget, 0)[:3] == ["<s>", "Der", "Hund"]
        assert "attends to the English tokens" in widget.locator("p").inner_text()
        widget.locator("select").select_option(label="decoder self-attention")
        assert "Hund" in side(widget, 1) and v.errors == [] and v.overflow() <= 0


def test_the_picture_of_a_head_takes_the_readers_sentence(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        box, picture = v.page.locator(".live[data-panel=head]"), drawn_widget(v, ".projection", ".tile")
        box.scroll_into_view_if_needed()
        box.get_by_role("combobox", name="English").fill("The small dog sleeps.")
        v.page.wait_for_function("document.querySelector('.projection .tokens').children.length === 7")
        picture.get_by_role("combobox", name="Token").select_option(label="▁dog")
        assert "“▁dog”" in picture.locator(".said").inner_text()
        assert picture.locator(".tile-k canvas").evaluate("c => c.height") == 7
        assert v.errors == [] and v.overflow() <= 0


def test_the_picture_opens_at_its_first_step_and_each_step_fits_a_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        picture = drawn_widget(v, ".projection", ".tile")
        assert "Step 1 of 6" in picture.inner_text() and picture.locator(".tile.later").count() == 12
        assert picture.get_by_role("button", name="back").is_disabled()
        for step in range(2, 7):
            picture.get_by_role("button", name="next").click()
            assert f"Step {step} of 6" in picture.inner_text()
            assert 0 < box_of(picture)["height"] < 760, "picture, sentence and controls are seen together"
            tiles = [box_of(one) for one in picture.locator(".tile:not(.aside)").all()]
            assert tiles and all(one["x"] + one["width"] <= 390 for one in tiles)
        assert picture.locator(".tile.later").count() == 0
        assert picture.get_by_role("button", name="next").is_disabled() and v.errors == []


def test_the_picture_plays(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        picture = drawn_widget(v, ".projection", ".tile")
        picture.get_by_role("button", name="play").click()
        v.page.wait_for_function("document.querySelector('.projection .step').textContent.startsWith('Step 3')")
        picture.get_by_role("button", name="pause").click()
        assert picture.get_by_role("button", name="play").is_visible() and v.errors == []


def test_a_longer_query_gives_the_nearest_key_all_the_weight(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        plane = drawn_widget(v, ".query-plane", "svg")
        largest = lambda: max(float(text) for text in plane.locator("td b").all_inner_texts())  # noqa: E731
        soft = largest()
        plane.get_by_role("slider", name="length").focus()
        v.page.keyboard.press("End")
        assert largest() > 0.95 > soft
