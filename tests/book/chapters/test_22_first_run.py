"""Chapter 22: the slider goes back in time, in the curves and in what the model wrote; the panel is announced."""

from __future__ import annotations

from typing import Any

from tests.book.charts import move, texts, with_control

PAGE = "training/first_run.html"


def test_the_slider_moves_through_both_runs_and_through_the_cheat(visit: Any) -> None:
    with visit(PAGE) as v:
        figures = [f for f in v.draw_charts() if f.query_selector("[name=moment]")]
        assert len(figures) == 3
        for figure in figures[:2]:
            move(figure, "moment", 400)
            v.page.wait_for_timeout(300)
            then = " ".join(texts(figure))
            assert "after update 400: training" in then and "a guess without a clue" in then
            move(figure, "moment", 800)
            v.page.wait_for_timeout(300)
            now = " ".join(texts(figure))
            assert "after update 800" in now and now != then
        recorded = figures[1]
        move(recorded, "moment", 2000)
        v.page.wait_for_timeout(300)
        assert "Wacht er auf?" in " ".join(texts(recorded)) and "Die Winterjacke ist rot." in " ".join(texts(recorded))
        cheat = figures[2]
        honest = " ".join(texts(cheat))
        assert "honest writes" in honest and "cheating writes" in honest
        assert "Jupyter to start, pause and resume" in v.page.locator(".needs-kernel").first.inner_text()
        assert v.errors == [] and v.foreign == []


def test_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}, color_scheme="dark") as v:
        figures = v.draw_charts()
        assert v.overflow() <= 0
        figure = with_control(figures, "moment")
        assert figure.bounding_box()["width"] <= 390
        move(figure, "moment", 100)
        v.page.wait_for_timeout(300)
        assert "after update 100" in " ".join(texts(figure))
