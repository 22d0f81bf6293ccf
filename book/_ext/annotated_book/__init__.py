"""The book's Sphinx extension: offline pages, code by object name, links into the paper, predictions."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from annotated_book import offline, paper, prediction, source


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the four parts."""
    for part in (offline, paper, prediction, source):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
