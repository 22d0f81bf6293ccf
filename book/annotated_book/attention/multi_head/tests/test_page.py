"""Chapter 8: the way through multi-head attention can be stepped, played and cut otherwise; charts answer to menus."""

from __future__ import annotations

import re
from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import settle, texts

PAGE = "attention/multi_head.html"
PHONE = {"width": 390, "height": 900}


def widget(v: Any) -> Any:
    return drawn_widget(v, ".split-heads", "svg")


def seen(w: Any, kind: str) -> int:
    """How many cells of a kind are shown."""
    return w.evaluate(
        "(e, kind) => [...e.querySelectorAll(`g.cell[data-kind=${kind}]`)].filter(c => c.style.opacity === '1').length",
        kind,
    )


def menu(v: Any, name: str) -> Any:
    """The chart with the menu of this name, drawn."""
    return next(f for f in v.draw_charts() if f.query_selector(f"select[name={name}]"))


def test_the_keyboard_steps_from_the_input_to_the_mixture_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport=PHONE) as v:
        w = widget(v)
        assert seen(w, "x") == 32 and w.get_by_role("button", name="back").is_disabled()
        w.get_by_role("button", name="next").focus()
        shapes = []
        for _ in range(8):
            v.page.keyboard.press("Enter")
            shapes.append(re.search(r"= (\[.*?\])", w.locator(".shape").inner_text())[1])
        assert shapes[0] == shapes[-1] == shapes[-2] == "[1, 4, 8]"
        assert shapes[1:4] == ["[1, 4, 4, 2]", "[1, 4, 4, 2]", "[1, 4, 4, 4]"]
        assert w.locator(".title").inner_text().startswith("9 of 9") and seen(w, "y") == 32 and seen(w, "x") == 0
        assert w.get_by_role("button", name="next").is_disabled()
        assert box_of(w.locator("svg"))["width"] <= 360
        assert v.errors == []


def test_the_number_of_heads_cuts_anew(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        w = widget(v)
        for _ in range(4):
            w.get_by_role("button", name="next").click()
        assert seen(w, "w") == 4 * 16, "four maps of 4 x 4"
        slider = w.get_by_role("slider", name="heads")
        slider.focus()
        v.page.keyboard.press("ArrowRight")
        assert seen(w, "w") == 8 * 16 and "8, each 1 wide" in w.locator("output").inner_text()
        v.page.keyboard.press("Home")
        assert seen(w, "w") == 16 and "1, each 8 wide" in w.locator("output").inner_text()


def test_maps_have_the_names_of_rows_and_columns_inside_the_picture(visit: Any) -> None:
    with visit(PAGE, viewport=PHONE) as v:
        w = widget(v)
        for _ in range(4):
            w.get_by_role("button", name="next").click()
        slider = w.get_by_role("slider", name="heads")
        slider.focus()
        v.page.keyboard.press("Home")
        for heads, columns in ((1, 1), (2, 2), (4, 2), (8, 4)):
            names = w.locator("svg text.label, svg text.small").all()
            assert sum(name.text_content() == "cat" for name in names) == heads + heads // columns
            frame = box_of(w.locator("svg"))
            for name in names:
                box = box_of(name)
                assert box["x"] >= frame["x"] - 1 and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
                assert box["y"] >= frame["y"] - 1
            v.page.keyboard.press("ArrowRight")


def test_play_moves_on_its_own_and_cells_move_unless_motion_is_unwelcome(visit: Any) -> None:
    duration = "e => getComputedStyle(e.querySelector('g.cell')).transitionDuration"
    with visit(PAGE) as v:
        w = widget(v)
        assert w.evaluate(duration).startswith("0.9s")
        w.get_by_role("button", name="play").click()
        v.page.wait_for_function("document.querySelector('.split-heads .title').textContent.startsWith('3 of 9')")
        w.get_by_role("button", name="pause").click()
        assert w.get_by_role("button", name="play").is_visible()
    with visit(PAGE, reduced_motion="reduce") as v:
        assert max(float(part.rstrip("s")) for part in widget(v).evaluate(duration).split(", ")) < 0.01


def test_the_menu_shows_what_both_read_outs_get_from_one_head_at_each_offset(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = menu(v, "offset")
        assert {"100%", "34%", "96%"} <= set(texts(figure))
        figure.query_selector("select").select_option("2")
        settle(figure)
        assert "81%" in texts(figure) and not {"34%", "96%"} & set(texts(figure))


def test_grouped_inputs_are_block_diagonal(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = next(f for f in v.draw_charts() if "quarter of the input" in texts(f))
        shown = texts(figure)
        assert {"Multi-head attention", "Input cut into groups"} <= set(shown)
        assert shown.count("0.00") == 12, "zeros in one of the squares"


def test_a_silent_head_loses_a_word(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        box = v.page.locator(".live[data-panel=heads]")
        box.scroll_into_view_if_needed()
        v.page.wait_for_selector(".live[data-panel=heads][data-state=done]", timeout=60_000)
        assert "Every part is on" in box.locator("[role=status]").inner_text()
        box.get_by_role("button", name=re.compile("^Cross-attention, layer 2, head 1")).click()
        v.page.wait_for_function(
            "document.querySelector('.live[data-panel=heads] [role=status]').textContent.includes('The words change')"
        )
        assert "immer" not in box.locator(".live-tokens").first.inner_text()
        assert v.errors == []
