"""Query plane: a query arrow that the reader turns and stretches, keys around it, their scores and weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import numpy as np
import traitlets
from numpy.typing import ArrayLike

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
LONGEST = 5
"""How long the reader may make the query; the plane has room for it."""


class QueryPlane(anywidget.AnyWidget):
    """The widget; `query_plane` makes one. `angle` (degrees) and `length` may be set from Python."""

    _esm = esm(_HERE / "query_plane.js")
    _css = _HERE / "query_plane.css"
    points = traitlets.List(trait=traitlets.List()).tag(sync=True)
    names = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    values = traitlets.List(trait=traitlets.List()).tag(sync=True)
    divisor = traitlets.Float(1.0).tag(sync=True)
    angle = traitlets.Float(60.0).tag(sync=True)
    length = traitlets.Float(2.0).tag(sync=True)


def query_plane(
    keys: ArrayLike,
    names: Sequence[str],
    *,
    values: ArrayLike = (),
    length: float = 2.0,
    angle: float = 60.0,
    divisor: float = 2**0.5,
) -> QueryPlane:
    """A query in the plane, the keys around it, the dot product, score and weight of each key, and the output.

    Parameters
    ----------
    keys
        `[S, 2]`.
    names
        The S tokens.
    values
        `[S, 2]`, to draw them and their mixture, the output, in the same plane; left out, neither is drawn.
    length, angle
        Where the query starts; the angle in degrees.
    divisor
        What the dot products are divided by: the root of 2, as the paper has it for d_k = 2, or 1 for none.

    Raises
    ------
    ValueError
        If there is not one key and value of the plane for each name, or the query is longer than `LONGEST`.
    """
    array = np.asarray(keys, dtype=np.float64)
    if array.shape != (len(names), 2):
        raise ValueError(f"keys must be [{len(names)}, 2], one point for each name, not {list(array.shape)}")
    mixed = np.asarray(values, dtype=np.float64)
    if mixed.size and mixed.shape != array.shape:
        raise ValueError(f"values must be {list(array.shape)}, as the keys are, not {list(mixed.shape)}")
    if not 0 <= length <= LONGEST:
        raise ValueError(f"the query may be 0 to {LONGEST} long, not {length}")
    return QueryPlane(
        points=array.tolist(), names=list(names), values=mixed.tolist(), divisor=divisor, angle=angle, length=length
    )
