"""Chapter 3: the menus and sliders of its charts change what they show, also on a narrow screen."""

from __future__ import annotations

from typing import Any

from tests.book.charts import move, texts, with_control

PAGE = "why/before_2017.html"


def test_accuracy_changes_with_the_measure(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = with_control(v.draw_charts(), "measure")
        assert {"plain", "with attention", "Transformer"} <= set(texts(figure))
        points = "e => [...e.querySelectorAll('.chart-stage .mark-symbol path')].map(p => p.getAttribute('transform'))"
        before = figure.evaluate(points)
        move(figure, "measure", "whole sequences")
        v.page.wait_for_timeout(200)
        assert figure.evaluate(points) != before
        assert v.errors == []


def test_probe_and_alignment_follow_their_sliders(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figures = v.draw_charts()
        probe, alignment = with_control(figures, "step"), with_control(figures, "example")
        assert "20 letters" in texts(probe)
        move(probe, "step", 0)
        v.page.wait_for_timeout(200)
        assert "5 letters" in texts(probe) and "20 letters" not in texts(probe)
        picture = "e => e.querySelector('.chart-stage canvas').toDataURL()"
        before = alignment.evaluate(picture)
        move(alignment, "example", 6)
        v.page.wait_for_timeout(300)
        assert alignment.evaluate(picture) != before


def test_the_timeline_dims_what_was_not_chosen(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = with_control(v.draw_charts(), "kind")
        faint = (
            "e => [...e.querySelectorAll('.chart-stage .mark-symbol path[opacity]')]"
            ".filter(p => p.getAttribute('opacity') < 0.5).length"
        )
        assert figure.evaluate(faint) == 0
        move(figure, "kind", "convolution")
        v.page.wait_for_timeout(200)
        assert figure.evaluate(faint) > 10
