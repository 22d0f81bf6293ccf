"""Chapter 24: the tree answers to sliders, buttons, clicks and keys."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import move, texts, with_control

PAGE = "decoding/beam_search.html"


def widget_of(v: Any) -> Any:
    return drawn_widget(v, ".beam-tree", ".stage svg")


def slide(widget: Any, label: str, value: float) -> None:
    widget.get_by_label(label).evaluate(
        "(e, value) => { e.value = value; e.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def choose(v: Any, sentence: str) -> None:
    """Choose a recorded sentence and wait for its tree: the panel waits a moment for further keys."""
    tree = "document.querySelector('.beam-tree .stage svg').getAttribute('aria-label')"
    before = v.page.evaluate(tree)
    v.page.locator('.live[data-panel="beam"]').get_by_label("Recorded sentences").select_option(label=sentence)
    v.page.wait_for_function(f"before => {tree} !== before", arg=before)


def scores(widget: Any) -> list[float]:
    cells = widget.locator(".ranking tbody tr td:last-child").all_inner_texts()
    return [float(cell.replace("−", "-")) for cell in cells]


def test_sliders_and_buttons_argue(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = widget_of(v)
        verdict, stories = widget.locator(".verdict"), widget.locator(".stories")
        assert (
            "der Fledermaus geholfen" in verdict.inner_text() and "they part at step 4" in stories.inner_text().lower()
        )
        before = scores(widget)
        assert before == sorted(before, reverse=True) and len(before) == 4
        slide(widget, "beam size k", 1)
        assert "den Schläger geholfen" in verdict.inner_text() and "is greedy search" in stories.inner_text()
        slide(widget, "beam size k", 4)
        slide(widget, "length penalty", 0)
        assert all(after < score for after, score in zip(scores(widget), before, strict=True))
        slide(widget, "length penalty", 0.6)
        count = widget.locator(".node").count()
        assert not widget.locator(".legend [data-of=pruned]").is_visible(), "the legend has what the picture has"
        assert widget.locator(".legend [data-of=finished]").is_visible()
        widget.get_by_role("button", name="pruned hypotheses").click()
        assert widget.locator(".legend [data-of=pruned]").is_visible()
        assert widget.locator(".node.pruned").count() > 10 and widget.locator(".node").count() > count
        widget.locator(".dead button").first.click()
        assert "You force" in stories.inner_text() and "worse than the winner" in stories.inner_text()
        assert len(scores(widget)) == 5 and widget.locator(".route.forced").count() == 2  # one is the legend's
        widget.get_by_role("button", name="the reference's path").click()
        assert "The winner is the reference" in stories.inner_text()
        widget.get_by_role("button", name="the stopping bound").click()
        assert widget.locator(".stage .stop").count() == 2 and "hope:" in stories.inner_text()
        steps = widget.locator(".stage svg").get_attribute("aria-label")
        choose(v, "My baker invited a colleague.")
        assert widget.locator(".stage svg").get_attribute("aria-label") != steps
        slide(widget, "length penalty", 2)
        assert "ein Kollege ein" in verdict.inner_text()
        choose(v, "This lazy princess hopes to follow my rich daughter.")
        slide(widget, "length penalty", 0.6)
        slide(widget, "beam size k", 2)
        widget.locator(".dead button", has_text="hofft, meine").first.click()
        assert "you win by" in stories.inner_text()
        slide(widget, "beam size k", 1)  # the prefix that was pointed at is no more
        assert "You force" not in stories.inner_text() and "empty prefix" in widget.locator(".reading").inner_text()
        assert v.errors == []


def test_keys_force_a_token_on_a_small_screen_and_charts_move(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        widget = widget_of(v)
        assert box_of(widget)["width"] <= 360
        reading, picture = widget.locator(".reading"), widget.locator(".stage svg")
        picture.focus()
        for _ in range(4):
            v.page.keyboard.press("ArrowRight")
        v.page.keyboard.press("ArrowDown")
        assert "Step 4" in reading.inner_text() and "“den”" in reading.inner_text()
        v.page.keyboard.press("Enter")
        assert "You force “Dieses Kind hat den”" in widget.locator(".stories").inner_text()
        v.page.keyboard.press("Escape")
        assert "You force" not in widget.locator(".stories").inner_text()
        assert v.page.evaluate("document.activeElement.getAttribute('role')") == "application"
        figures = v.draw_charts()
        chart = with_control(figures, "alpha_shown")
        before = texts(chart)
        move(chart, "alpha_shown", 2)
        assert texts(chart) != before
        chart = with_control(figures, "model")
        before = texts(chart)
        move(chart, "model", "classroom, unsure")
        assert texts(chart) != before and v.errors == []


def test_a_sentence_of_the_readers_own_is_searched_with_the_same_controls(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 900}) as v:
        widget = widget_of(v)
        box = v.page.locator('.live[data-panel="beam"]')
        assert box.locator(".beam-tree").count() == 1, "one component holds recorded sentences and the reader's own"
        slide(widget, "steps shown", 3)
        assert widget.locator(".verdict").inner_text().startswith("After step 3 of 10.")
        columns = "[...document.querySelectorAll('.beam-tree .stage .head')].filter(e => e.textContent).length"
        assert v.page.evaluate(columns) == 3
        slide(widget, "steps shown", 10)
        assert "der Fledermaus geholfen" in widget.locator(".verdict").inner_text()
        assert not any(url.endswith("model.js") for url in v.asked), "recorded sentences need no weights"
        field = box.get_by_role("combobox", name="English")
        assert field.input_value() == "This child helped the bat.", "the field names the sentence of the tree"
        box.get_by_role("button", name="use the shipped model").click()  # the same sentence, the other model
        v.page.wait_for_function("document.querySelector('.live-status').textContent.startsWith('The shipped model')")
        assert scores(widget)[0] > -1 > scores(widget)[1]
        field.fill("The old baker gives the girl a bat.")
        v.page.wait_for_function("document.querySelector('.beam-tree .verdict').textContent.startsWith('Der alte')")
        assert widget.locator(".verdict").inner_text().startswith("Der alte Bäcker gibt dem Mädchen einen Schläger.")
        assert scores(widget) == sorted(scores(widget), reverse=True) and len(scores(widget)) == 4
        assert not box.get_by_role("button", name="use the shipped model").is_visible(), "it is in use"
        assert widget.get_by_role("button", name="the reference's path").is_disabled()
        widget.locator(".node.alive").nth(2).click(force=True)
        assert "You force" in widget.locator(".stories").inner_text()
        slide(widget, "beam size k", 2)
        assert len(scores(widget)) == 2
        field.fill("The cat sleeps.")
        v.page.wait_for_function("document.querySelector('.beam-tree .verdict').textContent.startsWith('Die Katze')")
        choose(v, "My baker invited a colleague.")
        assert field.input_value() == "My baker invited a colleague." and widget.locator("select").count() == 0
        v.page.wait_for_function("document.querySelector('.beam-tree .verdict').textContent.includes('Bäcker')")
        assert v.overflow() <= 0 and v.errors == [] and v.axe(within=".live") == []


def test_what_the_page_speaks_of_is_seen_without_scrolling(visit: Any) -> None:
    """All steps of the stopping bound's example, and the last row of the first tree with its pruned hypotheses."""
    room = "e => [e.clientWidth - e.scrollWidth, e.clientHeight - e.scrollHeight]"
    with visit(PAGE, viewport={"width": 1440, "height": 900}) as v:
        widget = widget_of(v)
        stage = widget.locator(".stage")
        widget.get_by_role("button", name="pruned hypotheses").click()
        assert min(stage.evaluate(room)) >= 0
        widget.get_by_role("button", name="pruned hypotheses").click()
        choose(v, "A king sees these bats and a ball.")
        widget.get_by_role("button", name="the stopping bound").click()
        assert stage.locator("text.stop").count() == 2 and stage.evaluate(room)[0] >= 0
        assert v.errors == []
