"""Wall of clocks for two positions: the waves are added to a token, or they rotate queries and keys (RoPE)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from annotated.model.positional_encoding import sinusoidal_encoding
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
_SEED = 14
LONGEST = 60
"""The largest offset that the picture shows."""
LAST = 100
"""The largest position of the query."""


class RotationWall(anywidget.AnyWidget):
    """The widget; `rotation_wall` makes one. `mode`, `position` and `offset` may be set from Python."""

    _esm = esm(_HERE / "rotation.js")
    _css = _HERE / "rotation.css"
    content = traitlets.List(trait=traitlets.Float()).tag(sync=True)
    longest = traitlets.Int(LONGEST).tag(sync=True)
    last = traitlets.Int(LAST).tag(sync=True)
    mode = traitlets.Unicode("add").tag(sync=True)
    position = traitlets.Int(5).tag(sync=True)
    offset = traitlets.Int(7).tag(sync=True)


def content_vector(d_model: int = 64) -> NDArray[np.float64]:
    """The vector of a token that stands at both positions: independent normal numbers, always the same."""
    return np.random.default_rng(_SEED).standard_normal(d_model).round(4)


def rotation_wall(*, d_model: int = 64, mode: str = "add", position: int = 5, offset: int = 7) -> RotationWall:
    """A clock for each of the d_model / 2 pairs, with a hand for two positions, and the score against the offset.

    Parameters
    ----------
    d_model
        Width of the vectors.
    mode
        'add' for the paper's way, 'rotate' for RoPE.
    position, offset
        The query stands at `position`, the key at `position` + `offset`.

    Raises
    ------
    ValueError
        If d_model is odd, or mode, position or offset is out of range.
    """
    if d_model % 2 or mode not in ("add", "rotate"):
        raise ValueError(f"d_model must be even and mode 'add' or 'rotate', not {d_model} and {mode!r}")
    if not (0 <= position <= LAST and 0 <= offset <= LONGEST):
        raise ValueError(f"position goes from 0 to {LAST}, offset from 0 to {LONGEST}; not {position}, {offset}")
    return RotationWall(content=content_vector(d_model).tolist(), mode=mode, position=position, offset=offset)


def added_score(content: NDArray[np.float64], position: int, offset: int) -> float:
    """(x + PE(p)) · (x + PE(p + k)) / √d: both matrices the identity, the same token x at both positions."""
    waves = sinusoidal_encoding(position + offset + 1, len(content)).double().numpy()
    return float((content + waves[position]) @ (content + waves[position + offset]) / np.sqrt(len(content)))


def rotated_score(content: NDArray[np.float64], position: int, offset: int) -> float:
    """(R_p x) · (R_{p+k} x) / √d, where R_p turns each pair of numbers by p times the frequency of its clock."""
    return float(rotate(content, position) @ rotate(content, position + offset) / np.sqrt(len(content)))


def rotate(vector: NDArray[np.float64], position: int) -> NDArray[np.float64]:
    """Each pair (x_2i, x_2i+1), turned by position / 10000^(2i / d)."""
    angles = position * 10000.0 ** (-np.arange(0, len(vector), 2) / len(vector))
    even, odd = vector[0::2], vector[1::2]
    turned = np.stack([even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles)], 1)
    return turned.ravel()
