"""Batches as rows of tiles, real tokens and padding, under the reader's own way of batching.

The widget's JavaScript sorts and cuts as `annotated.data.buckets` does, on lengths alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anywidget
import numpy as np
import traitlets
from numpy.typing import ArrayLike

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
WAYS = ("fixed", "come", "pools", "packed")


class PaddingTiles(anywidget.AnyWidget):
    """The widget; `padding_tiles` makes one. Its choices may be read and set from Python in a live notebook."""

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    lengths = traitlets.Bytes().tag(sync=True)
    texts = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    text = traitlets.Int(0).tag(sync=True)
    way = traitlets.Unicode("come").tag(sync=True)
    budget = traitlets.Int(1000).tag(sync=True)
    pool = traitlets.Int(1000).tag(sync=True)
    shuffle = traitlets.Bool(False).tag(sync=True)
    first = traitlets.Int(1).tag(sync=True)


def padding_tiles(
    texts: Mapping[str, tuple[ArrayLike, ArrayLike]], *, way: str = "come", budget: int = 1000, pool: int = 1000
) -> PaddingTiles:
    """Draw the batches of some texts, to choose among ways of batching.

    Parameters
    ----------
    texts
        By name: source lengths and target lengths of the same pairs, from 1 to 255 tokens, in the order of the text.
    way
        'fixed' (32 pairs, padded to 72), 'come' (in the text's order, cut at the budget), 'pools' (each pool sorted
        by the longer side, then cut) or 'packed'.
    budget
        Tokens of a batch, on each side by itself; padding counts, except when packed.
    pool
        Pairs that are sorted together.

    Raises
    ------
    ValueError
        If there is no text or no such way, or if lengths do not fit.
    """
    if way not in WAYS:
        raise ValueError(f"way must be one of {', '.join(WAYS)}, not {way!r}")
    if not texts:
        raise ValueError("there is no text whose batches could be drawn")
    parts, names = [], []
    for name, sides in texts.items():
        source, target = (np.asarray(side) for side in sides)
        if source.ndim != 1 or source.shape != target.shape or not len(source):
            raise ValueError(f"{name}: give one source and one target length for each pair")
        both = np.stack([source, target], axis=1)
        if both.min() < 1 or both.max() > 255:
            raise ValueError(f"{name}: lengths must lie between 1 and 255, not {both.min()} to {both.max()}")
        parts.append(both.astype(np.uint8).tobytes())
        names.append({"name": name, "count": len(source)})
    return PaddingTiles(lengths=b"".join(parts), texts=names, way=way, budget=budget, pool=pool)
