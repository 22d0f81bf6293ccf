"""The game of the doctor's page: a reader examines a model, is wrong, is right, and finds the case solved again."""

from __future__ import annotations

from typing import Any

import pytest

PAGE = "reference/doctor.html"
BEGIN = "Examine the first model"


def begin(v: Any) -> Any:
    box = v.page.locator(".live[data-panel=doctor]")
    box.get_by_role("button", name=BEGIN).press("Enter")
    v.page.wait_for_selector(".live[data-panel=doctor][data-state=done]")
    return box


def case(box: Any, number: int) -> None:
    box.locator(".doctor-cases button").nth(number - 1).press("Enter")


def test_the_model_is_loaded_when_the_reader_asks(visit: Any) -> None:
    with visit(PAGE, alone=True) as v:
        v.page.locator(".live[data-panel=doctor]").scroll_into_view_if_needed()
        v.rest()
        assert not [url for url in v.asked if "live/model.js" in url]
        box = begin(v)
        assert [url for url in v.asked if "live/model.js" in url]
        assert box.locator(".doctor-cases button").count() == 14
        assert "Solved: 0" in box.inner_text() and v.errors == [] and v.foreign == []


def test_a_reader_names_the_mistake_with_the_keyboard(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 844}) as v:
        box = begin(v)
        case(box, 4)
        answers, report = box.locator(".doctor-answers"), box.locator(".doctor-report")
        box.get_by_role("radio", name="masked").press("Space")
        assert "Weight on later tokens: none" not in box.inner_text()
        box.get_by_role("checkbox", name="healthy model beside it").press("Space")
        ill, whole = box.locator(".doctor-map figure").all_inner_texts()
        assert "This model." in ill and "Weight on later tokens: none" not in ill
        assert "Healthy model." in whole and "Weight on later tokens: none" in whole
        assert "They differ most where" in box.inner_text()
        box.locator(".doctor-tokens button").nth(4).press("Enter")
        assert "Must hold: The logits before the changed token stay as they were." in box.inner_text()
        assert "They move by up to" in box.locator(".doctor-found").inner_text()
        box.get_by_role("button", name="Add padding").press("Enter")
        assert "They do not move." in box.locator(".doctor-found").inner_text()
        assert report.inner_text() == "" and "causal_mask_missing" not in box.inner_text()
        answers.get_by_role("button", name="No mistake: the model is healthy.").press("Enter")
        assert "In a healthy model this invariant holds" in answers.inner_text() and report.inner_text() == ""
        answers.get_by_role("button", name="The decoder has no causal mask.").press("Enter")
        assert "Solved: 1" in box.inner_text() and report.inner_text().count("Must hold:") >= 6
        assert "Right, after 1 wrong answer, with 2 tests." in answers.inner_text()
        assert v.page.evaluate("document.activeElement.className") == "doctor-report"
        assert report.locator("a[href$='attention/masks.html']").count() >= 1
        assert v.overflow() <= 0 and v.errors == []
        v.page.reload()
        box = begin(v)
        assert "Solved: 1" in box.inner_text()
        case(box, 4)
        assert "The decoder has no causal mask." in box.locator(".doctor-report").inner_text()
        box.get_by_role("button", name="Next case").press("Enter")
        assert "Case 5 of 14" in box.inner_text() and box.locator(".doctor-report").inner_text() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_game_is_accessible_while_it_is_played(visit: Any, scheme: str) -> None:
    with visit(PAGE, color_scheme=scheme) as v:
        box = begin(v)
        case(box, 12)
        box.locator(".doctor-tokens button").nth(3).click()
        box.locator("button[data-answer=healthy]").click()
        assert v.axe(within=".live", marks=False) == []
        box.locator("button[data-answer=mask_fill_tiny]").click()
        assert v.axe(within=".live", marks=False) == []


def test_every_case_opens_and_is_solved_by_one_of_its_answers(visit: Any) -> None:
    with visit(PAGE) as v:
        box = begin(v)
        for number in range(1, 15):
            case(box, number)
            assert box.locator(".doctor-translations tbody tr").count() == 4
            while not box.locator(".doctor-report button").count():
                box.locator(".doctor-answers button:enabled").first.click()
        assert "Solved: 14" in box.inner_text() and v.errors == []
