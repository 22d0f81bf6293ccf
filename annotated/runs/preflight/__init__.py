"""Preflight checks: everything that can be known to be wrong before a long training run, with advice for each."""

from annotated.runs.preflight.checking import count_weights, preflight
from annotated.runs.preflight.exchange import check_exchange
from annotated.runs.preflight.numbers import show_hours, show_number, show_range
from annotated.runs.preflight.table import PreflightCheck, PreflightReport

__all__ = [
    "PreflightCheck",
    "PreflightReport",
    "check_exchange",
    "count_weights",
    "preflight",
    "show_hours",
    "show_number",
    "show_range",
]
