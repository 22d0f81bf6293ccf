"""What the tests of chapters do to a drawn chart: read its words, move its controls."""

from __future__ import annotations

from typing import Any


def texts(figure: Any) -> list[str]:
    """The words in the living drawing, not those of the still picture behind it."""
    return figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent)")


def move(figure: Any, name: str, value: Any) -> None:
    """Move a slider or choose from a menu as a reader would."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event(i.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); }",
        [name, value],
    )


def with_control(figures: list[Any], name: str) -> Any:
    """The first of these charts that has a control of this name."""
    return next(f for f in figures if f.query_selector(f"[name={name}]"))
