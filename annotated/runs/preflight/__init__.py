"""Preflight checks: everything that can be known to be wrong before a long training run, with advice for each.

`start` is what every training run checks first; `annotated preflight` checks the rest, too.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotated.runs.preflight.checking import preflight
    from annotated.runs.preflight.exchange import check_exchange
    from annotated.runs.preflight.numbers import show_hours, show_number, show_range
    from annotated.runs.preflight.start import count_weights
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

_LATER = {
    "checking": ("preflight",),
    "exchange": ("check_exchange",),
    "numbers": ("show_hours", "show_number", "show_range"),
    "start": ("count_weights",),
    "table": ("PreflightCheck", "PreflightReport"),
}
"""Modules and the names in them that are imported when first asked for: the loop needs `start` alone."""


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"annotated.runs.preflight.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
