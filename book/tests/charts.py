"""What the tests of chapters do to a drawn chart: find it, read its words, move its controls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LINES = (
    "e => [...e.querySelectorAll('.chart-stage [aria-roledescription=\"line mark\"]')].map(p => p.getAttribute('d'))"
)
"""The paths of a chart's lines."""
_SETTLED = "e.chart.runAsync().then(() => null)"


def texts(figure: Any) -> list[str]:
    """The words in the living drawing, not those of the still picture behind it."""
    return figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent)")


def settle(figure: Any) -> None:
    """Wait until a chart has computed and drawn what it was asked for, whenever that was: Vega does it in turn."""
    figure.evaluate(f"e => {_SETTLED}")


def move(figure: Any, name: str, value: Any) -> None:
    """Move a slider, tick a box or choose from a menu as a reader would, and wait until it is drawn."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`);"
        " if (i.type === 'checkbox') i.checked = value; else i.value = value;"
        " i.dispatchEvent(new Event(i.matches('select, [type=checkbox]') ? 'change' : 'input', {bubbles: true}));"
        f" return {_SETTLED}; }}",
        [name, value],
    )


def with_control(figures: Iterable[Any], name: str) -> Any:
    """The first of these charts that has a control of this name."""
    return next(f for f in figures if f.query_selector(f"[name={name}]"))


def drawn_with(v: Any, control: str) -> Any:
    """The chart that has a control of this name; of the others of its page none is drawn that has no such word."""
    has_word = "(e, word) => e.querySelector('script').textContent.includes(word)"
    figures = (f for f in v.page.query_selector_all("figure.chart") if f.evaluate(has_word, f'"{control}"'))
    return with_control((v.draw(figure) for figure in figures), control)


def described(v: Any, word: str) -> Any:
    """The chart whose description holds a word, drawn."""
    return v.draw(next(f for f in v.page.query_selector_all("figure.chart") if word in f.inner_html()))
