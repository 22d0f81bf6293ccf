"""A widget that replays the merges of a tokenizer, one after another, on a text that the reader types."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from annotated.config import SPECIAL_TOKENS
from annotated.data import Tokenizer
from annotated_book.training.subwords.merges import merges
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
LONGEST = 400


class MergeReplay(anywidget.AnyWidget):
    """The widget; `merge_replay` makes one.

    `text` is what is cut, and `merged` how many of the merges have been carried out; both may be set from Python.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    merges = traitlets.Unicode().tag(sync=True)
    first = traitlets.Int(len(SPECIAL_TOKENS)).tag(sync=True)
    longest = traitlets.Int(LONGEST).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    merged = traitlets.Int(0).tag(sync=True)


def merge_replay(tokenizer: Tokenizer, text: str, merged: int | None = None) -> MergeReplay:
    """Type a text, and see a tokenizer cut it: all merges, or the first few, or one after another.

    The page carries the pairs only, a dozen kilobytes for 2,000 entries; it cuts any text as the library does.

    Parameters
    ----------
    tokenizer
        Whose merges are replayed.
    text
        What stands in the field at first, at most 400 characters.
    merged
        How many merges have been carried out at first; all of them if it is not given.

    Raises
    ------
    ValueError
        If the text is too long, there are not that many merges, or two merges make the same piece: then the order in
        which they were learned is not enough to cut a text.
    """
    pairs = merges(tokenizer)
    made = {left + right for left, right in pairs}
    if len(made) < len(pairs):
        raise ValueError(f"{len(pairs) - len(made)} pieces are made by more than one merge: replay another tokenizer")
    if len(text) > LONGEST:
        raise ValueError(f"the text has {len(text)} characters; the field takes {LONGEST}")
    merged = len(pairs) if merged is None else merged
    if not 0 <= merged <= len(pairs):
        raise ValueError(f"merged must lie between 0 and {len(pairs)}, not {merged}")
    return MergeReplay(merges="\n".join(f"{a} {b}" for a, b in pairs), text=text, merged=merged)
