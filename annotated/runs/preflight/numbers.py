"""Numbers for people: digits, hours and ranges."""

from __future__ import annotations

import math

from annotated.runs.dry_run import Range


def show_number(value: float) -> str:
    """Three digits that count, without an exponent: '1,234', '12.3', '0.0123'."""
    return f"{value:,.{max(0, 2 - _magnitude(value))}f}"


def show_range(values: Range, unit: str) -> str:
    """'11.8 hours (11.5 to 12.4)'."""
    low, typical, high = map(show_number, values)
    return f"{typical} {unit} ({low} to {high})"


def show_hours(hours: Range) -> str:
    """A range of hours, in minutes where that is easier to read."""
    return show_range(hours, "hours") if hours.typical >= 1 else show_range(hours.times(60), "minutes")


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0
