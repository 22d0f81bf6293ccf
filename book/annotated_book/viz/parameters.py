"""Parameters of charts that the reader sets: sliders and menus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

_BETWEEN = " | "
_THOUSANDS = 10_000


def slider(name: str, value: float, low: float, high: float, step: float = 1, label: str | None = None) -> Any:
    """A parameter that the reader moves, with or without a kernel."""
    bind = alt.binding_range(min=low, max=high, step=step, name=(label or name) + " ")
    return alt.param(name=name, value=value, bind=bind)


def steps(name: str, values: Sequence[Any], value: Any = None, label: str | None = None) -> Any:
    """A slider over a list of values: the parameter holds the index, and the reader sees the value.

    Parameters
    ----------
    name
        The parameter's name in the chart, where it is the index into the list, from 0.
    values
        Numbers or texts, in the order of the slider.
    value
        The one that it starts at; the first unless told.
    label
        What the values are.

    Notes
    -----
    A slider of Vega knows numbers only, and shows them. So the values go into its label, between brackets, where
    `chart_drawing.js` finds them; drawn by other means, the chart shows the list itself.

    Raises
    ------
    ValueError
        If the list has fewer than two values, a text has a bracket or a bar, or the list lacks the first value.
    """
    shown = [_shown(one) for one in values]
    if len(shown) < 2:
        raise ValueError(f"a slider needs two values or more, not {shown}")
    if any(set("[]|") & set(text) for text in shown):
        raise ValueError(f"values of a slider are without brackets and bars: {shown}")
    start = 0 if value is None else list(values).index(value)
    return slider(name, start, 0, len(shown) - 1, label=f"{label or name} [{_BETWEEN.join(shown)}]")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if abs(value) >= _THOUSANDS and value == int(value) else f"{value:g}"


def menu(name: str, options: Sequence[Any], value: Any = None, label: str | None = None) -> Any:
    """A parameter that the reader chooses from a list, with or without a kernel; it starts at the first of them."""
    start = options[0] if value is None else value
    return alt.param(name=name, value=start, bind=alt.binding_select(options=list(options), name=(label or name) + " "))
