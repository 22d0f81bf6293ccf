"""Live panels in the page: a reader types and takes the model apart; the front page's first frame."""

from __future__ import annotations

from typing import Any

import pytest

LABORATORY, FRONT = "start/laboratory.html", "intro.html"
FIRST = "Die Großmutter hat die grüne Schultasche aufgemacht."
WRITTEN = """() => [...document.querySelectorAll('.live-tokens:not(.live-source) .live-token')].map(token =>
  (token.classList.contains('live-begins') ? ' ' : '') + token.firstChild.textContent).join('').trim()"""
WHOLE = f"{FIRST} </s>"
STRANGER = "Hello, how are you?"
BY_WIDE = """async text => (await globalThis.annotatedWideEngine).translation(text).text + ' </s>'"""


def done(v: Any) -> None:
    v.page.wait_for_selector(".live[data-state=done]")


def after(v: Any, text: str) -> None:
    """Wait until the panel says so."""
    v.page.wait_for_function("t => document.querySelector('.live-status').textContent.includes(t)", arg=text)


def test_a_reader_takes_the_model_apart_and_puts_it_back(visit: Any) -> None:
    with visit(LABORATORY, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator(".live")
        box.scroll_into_view_if_needed()
        done(v)
        assert v.page.evaluate(WRITTEN) == WHOLE and "Every part is on" in box.locator(".live-status").inner_text()
        assert v.overflow() <= 0
        box.get_by_role("checkbox", name="feed-forward").uncheck()
        after(v, "did not stop by itself")
        assert v.page.evaluate(WRITTEN) != WHOLE and FIRST in box.locator(".live-whole").inner_text()
        assert box.locator(".live-changed").count() > 0 and "less probable" in box.locator(".live-status").inner_text()
        assert v.overflow() <= 0
        box.get_by_role("button", name="Put everything back").click()
        after(v, "Every part is on")
        assert v.page.evaluate(WRITTEN) == WHOLE and box.get_by_role("checkbox", name="feed-forward").is_checked()
        box.get_by_role("radio", name="1", exact=True).check()
        after(v, "The words stay the same")
        assert v.errors == []


def test_the_laboratory_opens_as_a_chapter_and_draws_where_the_model_looks(visit: Any) -> None:
    with visit(LABORATORY) as v:
        assert v.page.locator(".chapter-kicker").count() == v.page.locator(".chapter-question").count() == 1
        assert v.page.locator(".machine-margin").count() == 1
        done(v)
        box = v.page.locator(".live")
        tokens = box.locator(".live-frame .live-tokens").nth(1).locator(".live-token").count()
        assert box.locator(".live-lines g").count() == tokens > 5
        assert not box.locator(".live-whole").is_visible(), "the same sentence once"
        box.get_by_role("checkbox", name="positions").uncheck()
        after(v, "The words change")
        assert box.locator(".live-whole").is_visible()


def test_every_head_shows_what_it_is_worth_and_can_be_silenced(visit: Any) -> None:
    with visit(LABORATORY) as v:
        box = v.page.locator(".live")
        box.get_by_role("combobox", name="Examples").select_option(label="The small dog sees the cat.")
        numbers = "[...document.querySelectorAll('.live-heads small')].filter(e => e.textContent).length"
        v.page.wait_for_function(f"{numbers} === 36")
        head = box.get_by_role("button", name="Cross-attention, layer 3, head 1 ")
        assert head.locator("small").inner_text().startswith("−2.")
        head.press("Enter")
        after(v, "The words change")
        assert head.get_attribute("aria-pressed") == "false"
        assert v.page.evaluate(WRITTEN).startswith("Die kleine Hund")
        assert v.page.locator(".live-changed").all_inner_texts()[0].startswith("Die")
        assert v.axe(within=".live") == [] and v.errors == []


def test_the_readers_sentence_is_kept_for_the_next_page(visit: Any) -> None:
    with visit(LABORATORY) as v:
        field = v.page.get_by_role("combobox", name="English")
        field.fill("The cat sleeps.")
        v.page.wait_for_function(f"({WRITTEN})().startsWith('Die Katze')")
        v.page.reload()
        assert v.page.get_by_role("combobox", name="English").input_value() == "The cat sleeps."
        v.page.locator(".live").scroll_into_view_if_needed()
        done(v)
        assert v.page.evaluate(WRITTEN).startswith("Die Katze")
        field.fill("")
        after(v, "Type an English sentence")
        v.page.reload()
        assert v.page.get_by_role("combobox", name="English").input_value().startswith("The grandmother")


def test_going_back_to_the_pages_sentence_puts_every_part_back(visit: Any) -> None:
    with visit(LABORATORY) as v:
        box = v.page.locator(".live")
        v.page.get_by_role("combobox", name="English").fill("The cat sleeps.")
        v.page.wait_for_function(f"({WRITTEN})().startsWith('Die Katze')")
        positions = box.get_by_role("checkbox", name="positions")
        positions.uncheck()
        after(v, "Log-probability of the whole model's translation")
        box.get_by_role("button", name="Use it").click()
        after(v, "Every part is on")
        assert positions.is_checked()
        assert v.page.get_by_role("combobox", name="English").input_value().startswith("The grandmother")


def test_a_model_that_does_not_load_leaves_the_explanation(visit: Any) -> None:
    with visit(LABORATORY, alone=True) as v:
        v.context.route("**/live/model.js", lambda route: route.abort())
        v.page.reload()
        v.page.locator(".live").scroll_into_view_if_needed()
        after(v, "did not load")
        assert v.page.get_by_text("With scripts you could type a sentence here").is_visible()
        v.context.unroute("**/live/model.js")
        v.page.get_by_role("combobox", name="English").fill("The cat sleeps.")
        after(v, "Every part is on")
        assert not v.page.get_by_text("With scripts you could type a sentence here").is_visible()


def asked_for_wide(v: Any) -> int:
    return sum(url.endswith("live/wide.js") for url in v.asked)


def says(v: Any, text: str) -> None:
    """Wait until the panel is done with its sentence and names the model so."""
    code = """t => document.querySelector('.live-model').textContent.includes(t)
      && document.querySelector('.live').dataset.state === 'done'"""
    v.page.wait_for_function(code, arg=text)


@pytest.mark.parametrize("page", [FRONT, LABORATORY])
def test_the_wide_model_comes_for_words_that_the_classroom_model_has_never_read(visit: Any, page: str) -> None:
    with visit(page, alone=True, viewport={"width": 390, "height": 900}, reduced_motion="reduce") as v:
        box, field = v.page.locator(".live"), v.page.get_by_role("combobox", name="English")
        box.scroll_into_view_if_needed()
        done(v)
        assert not v.page.locator(".live-model").is_visible()
        field.fill("The cat sleeps.")
        says(v, "Translated by the classroom model.")
        assert asked_for_wide(v) == 0, "nothing asks for it before it is needed"
        field.fill(STRANGER)
        says(v, "Translated by the wide model (6 MB, fetched once), for the classroom model has never read “Hello”.")
        assert v.page.evaluate(WRITTEN) == v.page.evaluate(BY_WIDE, STRANGER) and v.overflow() <= 0
        assert box.locator(".live-under u").count() == 0 and not box.locator(".live-notes").is_visible()
        box.get_by_role("button", name="Ask the classroom model").click()
        says(v, "Translated by the classroom model.")
        assert "This model has never read “Hello”" in box.locator(".live-notes").inner_text()
        assert box.locator(".live-under u").all_inner_texts() == ["Hello", "how"]
        box.get_by_role("button", name="Ask the wide model (6 MB)").click()
        says(v, "Translated by the wide model")
        assert v.axe(within=".live") == []
        box.get_by_role("combobox", name="Examples").select_option(index=1)
        v.page.wait_for_function(f"({WRITTEN})() === {WHOLE!r}")
        assert not v.page.locator(".live-model").is_visible(), "the page's sentences are the classroom model's"
        assert asked_for_wide(v) == 1 and v.errors == [] and v.foreign == []


def test_without_the_wide_model_the_classroom_model_answers_as_ever(visit: Any) -> None:
    with visit(LABORATORY, alone=True) as v:
        held: list[Any] = []
        v.context.route("**/live/wide.js", lambda route: held.append(route))
        box, field = v.page.locator(".live"), v.page.get_by_role("combobox", name="English")
        with v.page.expect_request("**/live/wide.js"):  # which may be asked for later than the panel says so
            field.fill(STRANGER)
        after(v, "Fetching the wide model …")
        assert "Asking the wide model (6 MB, fetched once)" in box.locator(".live-model").inner_text()
        while not held:
            v.page.wait_for_timeout(20)
        held.pop().abort()
        says(v, "The wide model did not load. Translated by the classroom model.")
        assert "This model has never read “Hello”" in box.locator(".live-notes").inner_text()
        v.context.unroute("**/live/wide.js")
        v.context.route("**/live/wide.js", lambda route: route.fulfill(body="globalThis.annotatedWideModel = {"))
        box.get_by_role("button", name="Try again").click()
        v.page.wait_for_timeout(300)
        says(v, "The wide model did not load.")
        v.context.unroute("**/live/wide.js")
        box.get_by_role("button", name="Try again").click()
        says(v, "Translated by the wide model")
        assert v.page.evaluate(WRITTEN) == v.page.evaluate(BY_WIDE, STRANGER)


def test_a_panel_about_the_classroom_models_parts_stays_with_it(visit: Any) -> None:
    with visit("machine/residuals.html") as v:
        v.page.get_by_role("combobox", name="English").fill(STRANGER)
        says(v, "Here the classroom model alone translates")
        assert "This model has never read “Hello”" in v.page.locator(".live-notes").inner_text()
        assert asked_for_wide(v) == 0 and v.errors == []


def test_without_scripts_the_box_says_what_it_would_do(visit: Any) -> None:
    with visit(LABORATORY, java_script_enabled=False) as v:
        assert v.page.get_by_text("it needs scripts").is_visible()


def test_the_model_loads_only_when_its_panel_is_near(visit: Any) -> None:
    with visit(LABORATORY, alone=True, viewport={"width": 390, "height": 200}) as v:
        v.rest()
        assert not any(url.endswith("model.js") for url in v.asked)
        v.page.locator(".live").scroll_into_view_if_needed()
        done(v)
        assert sum(url.endswith("model.js") for url in v.asked) == 1 and v.foreign == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_front_page_opens_with_a_translation_and_nothing_moves(visit: Any, width: int) -> None:
    size = {"width": width, "height": 900}
    heights = (
        "[...document.querySelectorAll('.live > :not(.live-fallback)')].map(e => e.getBoundingClientRect().height)"
    )
    with visit(FRONT, viewport=size, java_script_enabled=False) as v:
        before = v.page.evaluate(heights)
        assert v.page.evaluate(WRITTEN) == WHOLE
    with visit(FRONT, viewport=size) as v:
        done(v)
        assert v.page.evaluate(heights) == pytest.approx(before, abs=4)
        assert v.page.evaluate(WRITTEN) == WHOLE
        tokens = v.page.locator(".live-written .live-token, .live-tokens:not(.live-source) .live-token")
        assert v.page.locator(".live-lines g").count() == tokens.count()
        tokens.nth(1).click()
        lit = v.page.locator(".live-lines g")
        assert [lit.nth(i).get_attribute("class") for i in range(3)] == ["", "live-lit", ""]
        v.page.get_by_role("checkbox", name="positions").uncheck()
        after(v, "The words change")
        assert v.overflow() <= 0 and v.axe(within=".live") == [] and v.errors == [] and v.foreign == []


def test_the_front_page_writes_at_once_for_readers_who_want_no_motion(visit: Any) -> None:
    with visit(FRONT, alone=True, reduced_motion="reduce") as v:
        done(v)
        assert v.page.evaluate(WRITTEN) == WHOLE
        moving = "document.getAnimations().filter(a => a.effect.target?.closest?.('.live')).length"
        assert v.page.evaluate(moving) == 0
