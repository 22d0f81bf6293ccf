"""Widget for the nearest rows of an embedding table: the reader types any token of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import numpy as np
import torch
import traitlets
from torch import Tensor

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
_NEAREST = 7


class NeighbourExplorer(anywidget.AnyWidget):
    """The widget; `neighbour_explorer` makes one. `token` is what the reader typed."""

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    tokens = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    groups = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    group_of = traitlets.Bytes().tag(sync=True)
    nearest = traitlets.Bytes().tag(sync=True)
    cosines = traitlets.Bytes().tag(sync=True)
    count = traitlets.Int(_NEAREST).tag(sync=True)
    token = traitlets.Unicode().tag(sync=True)


def neighbour_explorer(table: Tensor, tokens: Sequence[str], groups: Sequence[str], *, token: str) -> NeighbourExplorer:
    """The nearest rows to each row of a table, by cosine, for a token that the reader types.

    Parameters
    ----------
    table
        The rows, `[V, D]`.
    tokens
        The V tokens, the space before a word written as "▁".
    groups
        For each token the group that its bar is coloured by, such as its language; at most four different ones.
    token
        What the field holds first, without the "▁".

    Raises
    ------
    ValueError
        If the numbers of rows, tokens and groups differ, or the token is none of them.
    """
    if not len(table) == len(tokens) == len(groups):
        raise ValueError(f"{len(table)} rows, {len(tokens)} tokens and {len(groups)} groups must be as many")
    if token not in tokens and f"▁{token}" not in tokens:
        raise ValueError(f"there is no token {token!r}")
    unit = torch.nn.functional.normalize(table.double())
    cosines = (unit @ unit.T).fill_diagonal_(-2)
    nearest = cosines.topk(min(_NEAREST, len(tokens) - 1))
    names = sorted(set(groups))
    return NeighbourExplorer(
        tokens=list(tokens),
        groups=names,
        group_of=np.array([names.index(group) for group in groups], dtype="u1").tobytes(),
        nearest=nearest.indices.numpy().astype("<u2").tobytes(),
        cosines=(nearest.values.numpy().clip(0, 1) * 255).round().astype("u1").tobytes(),
        count=nearest.indices.size(1),
        token=token,
    )
