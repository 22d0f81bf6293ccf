"""Chapter 30: a card is closed, opens when it is addressed, answers a guess and remembers it."""

from __future__ import annotations

import json
from typing import Any

PAGE = "results/questions.html"


def is_open(v: Any, name: str) -> bool:
    return bool(v.page.evaluate(f"document.getElementById('{name}').open"))


def test_a_guess_opens_the_answer_and_is_kept(visit: Any) -> None:
    with visit(PAGE) as v:
        card = v.page.locator("#q7")
        assert v.page.locator("details.question-card[open]").count() == 0
        card.locator("summary").first.click()
        assert not card.locator(".card-answer > p").first.is_visible(), "the guess comes first"
        card.locator("input").nth(1).click()
        assert "Not this one" in card.locator(".quiz-status").inner_text()
        assert card.locator(".card-answer > p").first.is_visible() and "assert" in card.locator("pre").inner_text()
        assert card.locator(".card-mark").inner_text().startswith("✗")
        card.locator("input").nth(0).click()
        assert card.locator(".card-mark").inner_text().startswith("✓")
        assert v.page.locator(".cards-score").inner_text().startswith("1 of 59 guessed, 0 right at the first guess.")
        stored = json.loads(v.page.evaluate("localStorage.getItem('annotated-book')"))
        assert stored["quizzes"]["q7"]["answers"] == {"1": 1} and stored["read"] == {}, "a card is no chapter"
        v.page.reload()
        assert v.page.locator("#q7").get_attribute("data-guess") == "right" and not is_open(v, "q7")
        assert v.errors == []


def test_an_addressed_card_opens_and_its_link_is_copied(visit: Any) -> None:
    with visit(f"{PAGE}#q12") as v:
        assert is_open(v, "q12") and v.page.evaluate("document.querySelectorAll('.question-card[open]').length") == 1
        v.page.wait_for_function("document.activeElement.id === 'question-q12'")
        copied = v.page.locator("#q12 .card-answer button.copy").get_attribute("data-copy")
        assert copied == f"{v.site}/{PAGE}#q12"
        v.page.evaluate("location.hash = 'question-q40'")  # the name under which other pages refer to it
        v.page.wait_for_function("document.getElementById('q40').open")
        assert v.errors == []


def test_cards_are_found_by_words_part_section_and_guess(visit: Any) -> None:
    with visit(PAGE) as v:
        shown = lambda: [c.get_attribute("id") for c in v.page.locator("details.question-card:visible").all()]  # noqa: E731
        assert len(shown()) == 59
        field = v.page.locator(".page-filter input")
        field.fill("label-smoothed infinite")
        assert shown() == ["q49"]
        field.fill("zzzzzz")
        assert shown() == [] and field.is_visible(), "the field does not hide with what it hides"
        field.fill("")
        v.page.locator(".page-filter select[data-by=section]").select_option("3.2.1")
        assert "q47" in shown() and "q50" not in shown() and len(shown()) < 10
        v.page.locator(".page-filter select[data-by=section]").select_option("")
        v.page.locator("#q3 summary").first.click()
        v.page.locator("#q3 input").nth(1).click()
        v.page.locator(".page-filter select[data-by=guess]").select_option("right")
        assert shown() == ["q3"]
        field.press("Escape")
        v.page.get_by_role("button", name="Next without a guess").click()
        assert v.page.evaluate("document.activeElement.closest('.question-card').id") == "q1" and v.errors == []


def test_without_scripts_questions_and_answers_unfold(visit: Any) -> None:
    with visit(PAGE, java_script_enabled=False) as v:
        card = v.page.locator("#q18")
        card.locator("summary").first.click()
        card.locator(".card-answer > summary").click()
        assert card.locator(".card-answer > p").first.is_visible() and v.page.locator(".cards-score").count() == 0


def test_all_cards_fit_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 844}, color_scheme="dark", reduced_motion="reduce") as v:
        v.page.evaluate(
            "document.querySelectorAll('.question-card, .card-answer').forEach(box => { box.open = true; })"
        )
        assert v.overflow() <= 0
        v.page.evaluate(
            "document.querySelectorAll('.question-card:nth-of-type(n+4)').forEach(box => { box.open = false; })"
        )
        assert v.axe(within=".question-card[open]") == [] and v.errors == []
