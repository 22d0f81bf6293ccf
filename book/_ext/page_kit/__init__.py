"""The book's Sphinx extension: offline pages, code by object name, links into the paper, and the rest of its parts."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

PARTS = (
    "all_names",
    "api",
    "api_chapters",
    "bibliography",
    "cards",
    "checks",
    "citations",
    "claims_page",
    "component_timeline",
    "doctor",
    "effects",
    "execution",
    "exercise_index",
    "filters",
    "fold",
    "formula_numbers",
    "formulas",
    "glossary",
    "graded",
    "inventories",
    "languages",
    "launch",
    "ledger",
    "live",
    "machine",
    "margin",
    "objects",
    "offline",
    "no_break",
    "on_demand",
    "opener",
    "output_cache",
    "page_folders",
    "paper",
    "paper_map",
    "parallel_execution",
    "prediction",
    "quiz",
    "reader",
    "row_blocks",
    "searching",
    "sidebar",
    "source",
    "source_pages",
    "symbols",
    "term_index",
    "terms",
    "thumbs",
    "tries",
    "versions",
    "weight",
)


def read_in_parallel(app: Sphinx) -> None:
    """Answer for an extension that does not say whether it is safe: no part of this book has numbers."""
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts. Pages are read and written by one process for each core: all parts are safe for that."""
    app.parallel = max(app.parallel, os.cpu_count() or 1)  # `jupyter-book build` has no option for it
    app.connect("builder-inited", read_in_parallel)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads would not be there in a fork, which waits for them
    for part in PARTS:
        import_module(f"page_kit.{part}").setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
