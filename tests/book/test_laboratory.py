"""The laboratory in the page: a reader types, takes the model apart, and puts it together again."""

from __future__ import annotations

from typing import Any

PAGE = "start/laboratory.html"


def test_a_reader_types_takes_apart_and_puts_back(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator(".laboratory")
        box.get_by_role("button", name="Load the model").click()
        done = v.page.locator(".laboratory[data-state=done]")
        done.wait_for()
        result, whole = box.locator(".laboratory-result"), box.locator(".laboratory-whole")
        first = result.inner_text()
        assert first == "Die Großmutter hat die grüne Schultasche aufgemacht."
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0

        box.get_by_role("checkbox", name="feed-forward").uncheck()
        v.page.wait_for_function("document.querySelector('.laboratory-whole').textContent.includes('The whole model')")
        assert result.inner_text() != first and first in whole.inner_text()
        assert "did not stop by itself" in whole.inner_text()
        box.get_by_role("button", name="Put everything back").click()
        v.page.wait_for_function("text => document.querySelector('.laboratory-result').textContent === text", arg=first)

        box.locator("summary").click()
        head = box.get_by_role("button", name="Cross-attention, layer 1, head 1")
        head.press("Enter")
        assert head.get_attribute("aria-pressed") == "false"
        v.page.wait_for_function("document.querySelector('.laboratory-whole').textContent.includes('The whole model')")

        box.get_by_role("textbox", name="English").fill("The small dog sees the cat.")
        v.page.wait_for_function("document.querySelector('.laboratory-result').textContent.includes('Hund')")
        box.locator(".laboratory-pieces button").nth(1).click()
        assert box.locator(".laboratory-bars li").count() == 5
        assert v.errors == []


def test_a_model_that_does_not_load_leaves_the_explanation(visit: Any) -> None:
    with visit(PAGE, alone=True) as v:
        v.context.route("**/laboratory/model.js", lambda route: route.abort())
        v.page.get_by_role("button", name="Load the model").click()
        v.page.wait_for_selector(".laboratory-note:has-text('did not load')")
        assert "With scripts you could type a sentence here" in v.page.locator(".laboratory").inner_text()
        assert v.page.get_by_role("button", name="Load the model").is_enabled()


def test_without_scripts_the_box_says_what_it_would_do(visit: Any) -> None:
    with visit(PAGE, java_script_enabled=False) as v:
        assert "needs scripts" in v.page.locator(".laboratory").inner_text()
