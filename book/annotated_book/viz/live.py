"""Controls that need a kernel: drawn where one listens, and announced where none does."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from typing import Any

from annotated_book.viz.renderers import BOOK_VARIABLE


class Notice:
    """A sentence in place of controls that could not work: plain text in a terminal, a box in a page."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<p class="needs-kernel" role="note">{html.escape(self.text)}</p>'


def live_panel(function: Callable[..., Any], what: str, **controls: Any) -> Any:
    """Controls around a function, which runs again whenever one of them moves.

    A page of the book has no kernel, so there `what` says what the reader would find in a notebook. The same holds for
    a notebook whose environment has no ipywidgets.

    Parameters
    ----------
    function
        Called with the value of each control, by name; what it shows or returns is shown.
    what
        What the controls do, as an end to the sentence "Run this page in Jupyter to ...".
    controls
        Widgets of ipywidgets, or the abbreviations that `ipywidgets.interactive` takes: `(0, 10)`, `"text"`, a list.

    Returns
    -------
    ipywidgets.interactive or Notice
        To be the last expression of a cell.
    """
    if os.environ.get(BOOK_VARIABLE):
        return Notice(f"Run this page in Jupyter to {what}.")
    try:
        import ipywidgets
    except ImportError:
        return Notice(f"Install ipywidgets (pip install ipywidgets) to {what}.")
    return ipywidgets.interactive(function, {"auto_display": True}, **controls)
