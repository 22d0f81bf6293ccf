"""Chapter 14: every chart follows its slider or menu, and the recorded pictures say what they show."""

from __future__ import annotations

import re
from typing import Any

from book.tests.charts import move, texts

PAGE = "machine/positions.html"


def pixels(figure: Any) -> str:
    return figure.evaluate("e => e.querySelector('.chart-stage canvas').toDataURL()")


def by_label(figures: list[Any], label: str) -> Any:
    return next(f for f in figures if f.query_selector(f".chart-stage[aria-label*='{label}']"))


def test_clock_hands_turn_with_the_position(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = by_label(v.draw_charts(), "clocks, one for each")
        hands = "e => [...e.querySelectorAll('.chart-stage .mark-rule line')].map(line => line.outerHTML)"
        before = figure.evaluate(hands)
        move(figure, "position", 120)
        assert "Each hand has its own speed: position 120" in texts(figure) and figure.evaluate(hands) != before


def test_charts_on_canvas_follow_their_menus(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = [f for f in v.draw_charts() if f.query_selector("select") and f.query_selector(".chart-stage canvas")]
        assert len(figures) == 2  # the layout, and the scores from places
        for figure, (name, value) in zip(
            figures, [("layout", "all sines first, as released"), ("head", "head 3")], strict=True
        ):
            before = pixels(figure)
            move(figure, name, value)
            assert pixels(figure) != before
        assert v.errors == []


def test_the_recorded_comparison_changes_with_the_task(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = by_label(v.draw_charts(), "Accuracy by kind of positions")
        assert "Which positions suffice to reverse?" in texts(figure)
        move(figure, "task", "sort")
        assert "Which positions suffice to sort?" in texts(figure)


def test_the_start_of_a_sentence_moves_its_loss_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 900}) as v:
        figures = v.draw_charts()
        figure = by_label(figures, "Loss against the position")

        def loss() -> float:
            return next(float(text) for text in texts(figure) if re.fullmatch(r"\d\.\d\d", text))

        move(figure, "step", 0)
        first = loss()
        move(figure, "step", 11)  # the last start, 1,000
        assert loss() > 10 * first
        move(by_label(figures, "a line marks the longest row"), "run", "seed 2")
        assert v.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert v.errors == []
