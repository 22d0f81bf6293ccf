"""Chapter 3: the menus and sliders of its charts change what they show, also on a narrow screen."""

from __future__ import annotations

from typing import Any

PAGE = "why/before_2017.html"


def shown(figure: Any) -> list[str]:
    return figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent)")


def control(figure: Any, name: str, value: Any) -> None:
    """Move a slider or choose from a menu as a reader would."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event(i.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); }",
        [name, value],
    )


def with_control(figures: list[Any], name: str) -> Any:
    return next(f for f in figures if f.query_selector(f"[name={name}]"))


def test_accuracy_changes_with_the_measure(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = with_control(v.draw_charts(), "measure")
        assert {"plain", "with attention", "Transformer"} <= set(shown(figure))
        points = "e => [...e.querySelectorAll('.chart-stage .mark-symbol path')].map(p => p.getAttribute('transform'))"
        before = figure.evaluate(points)
        control(figure, "measure", "whole sequences")
        v.page.wait_for_timeout(200)
        assert figure.evaluate(points) != before
        assert v.errors == []


def test_probe_and_alignment_follow_their_sliders(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figures = v.draw_charts()
        probe, alignment = with_control(figures, "step"), with_control(figures, "example")
        assert "20 letters" in shown(probe)
        control(probe, "step", 0)
        v.page.wait_for_timeout(200)
        assert "5 letters" in shown(probe) and "20 letters" not in shown(probe)
        picture = "e => e.querySelector('.chart-stage canvas').toDataURL()"
        before = alignment.evaluate(picture)
        control(alignment, "example", 6)
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
        control(figure, "kind", "convolution")
        v.page.wait_for_timeout(200)
        assert figure.evaluate(faint) > 10
