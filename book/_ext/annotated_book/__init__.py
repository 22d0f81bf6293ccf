"""The book's Sphinx extension: offline pages, code by object name, links into the paper, and the rest of its parts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

PARTS = (
    "ahead",
    "api",
    "citations",
    "doctor",
    "execution",
    "graded",
    "inventories",
    "laboratory",
    "languages",
    "launch",
    "ledger",
    "offline",
    "paper",
    "paper_map",
    "prediction",
    "quiz",
    "reader",
    "results",
    "source",
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts."""
    for part in PARTS:
        import_module(f"annotated_book.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
