"""Attention box by box: the matrices of figure 2 before and after each of its boxes, in numbers that can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import numpy as np
import traitlets
from numpy.typing import ArrayLike

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent


class AttentionBoxes(anywidget.AnyWidget):
    """The widget; `attention_boxes` makes one. `step`, `row`, `column` and `causal` may be set from Python."""

    _esm = esm(_HERE / "boxes.js")
    _css = _HERE / "boxes.css"
    q = traitlets.List(trait=traitlets.List()).tag(sync=True)
    k = traitlets.List(trait=traitlets.List()).tag(sync=True)
    v = traitlets.List(trait=traitlets.List()).tag(sync=True)
    names = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    column = traitlets.Int(0).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)


def attention_boxes(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, names: Sequence[str], *, row: int = -1, step: int = 1
) -> AttentionBoxes:
    """Self-attention of a few tokens, one box of figure 2 at a time, with every number open to inspection.

    Parameters
    ----------
    queries, keys
        `[S, d_k]`, few and small enough to be read.
    values
        `[S, d_v]`.
    names
        The S tokens.
    row, step
        What is shown first: the number of a query, and a step from 0 (the inputs) to 5.

    Raises
    ------
    ValueError
        If the shapes do not fit each other or the names.
    """
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (queries, keys, values))
    if q.ndim != 2 or q.shape != k.shape or not len(k) == len(names) == len(v):
        raise ValueError(f"queries and keys must be [{len(names)}, d_k] and values [{len(names)}, d_v]")
    row %= len(names)
    return AttentionBoxes(q=q.tolist(), k=k.tolist(), v=v.tolist(), names=list(names), row=row, column=1, step=step)
