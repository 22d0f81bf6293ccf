"""Parameters of charts that the reader sets: sliders and menus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt


def slider(name: str, value: float, low: float, high: float, step: float = 1, label: str | None = None) -> Any:
    """A parameter that the reader moves, with or without a kernel."""
    bind = alt.binding_range(min=low, max=high, step=step, name=(label or name) + " ")
    return alt.param(name=name, value=value, bind=bind)


def menu(name: str, options: Sequence[Any], value: Any = None, label: str | None = None) -> Any:
    """A parameter that the reader chooses from a list, with or without a kernel; it starts at the first of them."""
    start = options[0] if value is None else value
    return alt.param(name=name, value=start, bind=alt.binding_select(options=list(options), name=(label or name) + " "))
