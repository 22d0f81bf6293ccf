"""Preflight report: checks as data, the table that they make, and numbers as it shows them."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Literal

from annotated.runs.dry_run import Estimate, Range

CheckStatus = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class PreflightCheck:
    """One thing that was looked at."""

    name: str
    status: CheckStatus
    """'ok'; 'warn': it will work, but read this; 'fail': it will not work."""
    found: str
    advice: str = ""
    """What to do; empty if all is well."""


@dataclass(frozen=True)
class PreflightReport:
    """All checks of a training run that has not begun; printed, it is a table."""

    checks: tuple[PreflightCheck, ...]
    estimate: Estimate | None
    """Hours, disk and money, from a dry run; None without one."""

    @property
    def ready(self) -> bool:
        """Whether nothing failed."""
        return all(check.status != "fail" for check in self.checks)

    def __getitem__(self, name: str) -> PreflightCheck:
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = []
        for check in self.checks:
            lines.append(f"{check.status:<5}{check.name:<{width}}  {check.found}")
            if check.advice:
                lines.append(f"{'':<{width + 5}}  -> {check.advice}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        marks = {"ok": "ok", "warn": "read this", "fail": "will not work"}
        rows = "".join(
            f"<tr><td>{marks[check.status]}</td><td>{html.escape(check.name)}</td>"
            f"<td>{html.escape(check.found)}</td><td>{html.escape(check.advice)}</td></tr>"
            for check in self.checks
        )
        head = "".join(f"<th>{name}</th>" for name in ("state", "checked", "found", "what to do"))
        return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def show_number(value: float) -> str:
    """Three digits that count, without an exponent: '1,234', '12.3', '0.0123'."""
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(0, 2 - magnitude)}f}"


def show_range(values: Range, unit: str) -> str:
    """'11.8 hours (11.5 to 12.4)'."""
    low, typical, high = map(show_number, values)
    return f"{typical} {unit} ({low} to {high})"


def show_hours(hours: Range) -> str:
    """A range of hours, in minutes where that is easier to read."""
    return show_range(hours, "hours") if hours.typical >= 1 else show_range(hours.times(60), "minutes")
