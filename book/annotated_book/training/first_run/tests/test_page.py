"""Chapter 22: the slider goes back in time, in the curves and in what the model wrote."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of
from book.tests.charts import move, texts, with_control

PAGE = "training/first_run.html"


def test_the_slider_moves_through_both_runs_and_through_the_cheat(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = [f for f in v.draw_charts() if f.query_selector("[name=moment]")]
        assert len(figures) == 4
        recorded, own, _, cheat = figures
        for figure, ends in ((recorded, 2000), (own, 800)):
            move(figure, "moment", 400)
            then = " ".join(texts(figure))
            assert "update 400: training" in then and "a guess without a clue" in then
            move(figure, "moment", ends)
            now = " ".join(texts(figure))
            assert f"update {ends}" in now and now != then
        assert "Wacht er auf?" in " ".join(texts(recorded)) and "Die Winterjacke ist rot." in " ".join(texts(recorded))
        honest = " ".join(texts(cheat))
        assert "honest writes" in honest and "cheating writes" in honest
        assert v.errors == [] and v.foreign == []


def test_each_of_the_four_runs_is_judged_with_a_reason(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        quiz = v.page.locator("[data-quiz='22-runs']")
        runs = quiz.locator("fieldset").all()
        assert [run.locator("legend").inner_text().rpartition("Run ")[2][0] for run in runs] == ["A", "B", "C", "D"]
        reasons = set()
        for run in runs:
            right = int(run.get_attribute("data-answer"))
            for number, radio in enumerate(run.locator("input").all(), 1):
                radio.click()
                said = run.locator("[role=status]").inner_text()
                assert said.startswith("✓ Right." if number == right else "✗ Not this one.")
                reasons.add(said)
            run.locator("input").nth(right - 1).click()
        assert len(reasons) == 16, "a reason of its own for each choice"
        assert quiz.locator(".quiz-score").inner_text() == "4 of 4 right."
        assert v.page.locator(".mark-read button").get_attribute("aria-pressed") == "false", "no quiz of the chapter"
        assert v.errors == []


def test_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}, color_scheme="dark") as v:
        figures = v.draw_charts()
        assert v.overflow() <= 0
        figure = with_control(figures, "moment")
        assert box_of(figure)["width"] <= 390
        move(figure, "moment", 160)
        assert "update 160" in " ".join(texts(figure))


def test_a_reason_stands_below_its_row_and_moves_nothing(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        field = v.page.locator("[data-quiz='22-runs'] fieldset").first
        field.scroll_into_view_if_needed()
        options = field.locator(".quiz-option").all()
        before = [box_of(option)["x"] for option in options]
        for option in options:
            option.locator("input").click()
            boxes = [box_of(o) for o in options]
            assert [box["x"] for box in boxes] == before, "the options stay where they are"
            reason, row = box_of(field.locator(".quiz-status .quiz-feedback")), box_of(field)
            assert reason["y"] >= max(box["y"] + box["height"] for box in boxes), "below the options"
            assert reason["x"] >= row["x"] and reason["x"] + reason["width"] <= row["x"] + row["width"] + 1
            assert v.overflow() <= 0
