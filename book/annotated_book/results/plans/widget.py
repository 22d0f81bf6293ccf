"""Pictures that the reader looks at through the cross-attention of a caption: one veiled picture for each word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent


class PictureReader(anywidget.AnyWidget):
    """The widget; `picture_reader` makes one. `picture` and `layer`, both from 0, say what is shown."""

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    pictures = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    side = traitlets.Int().tag(sync=True)
    patch = traitlets.Int().tag(sync=True)
    picture = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)


def picture_reader(shown: Sequence[Mapping[str, Any]], side: int, patch: int, *, layer: int = 0) -> PictureReader:
    """The pictures of the record, each with its caption and where each step looked.

    Parameters
    ----------
    shown
        As `annotated_book.results.plans.images.examples` gives them.
    side, patch
        Pixels along a picture, and along a patch.
    layer
        The decoder layer shown first, from 0.

    Raises
    ------
    ValueError
        If a picture has another number of pixels, or a step another number of weights, than these sizes ask for.
    """
    cells = (side // patch) ** 2
    for one in shown:
        if len(one["pixels"]) != 6 * side * side:
            raise ValueError(f"a picture of {side} pixels a side has {6 * side * side} digits")
        if any(len(step) != cells for looks in one["looks"] for step in looks):
            raise ValueError(f"each step needs a weight for each of the {cells} patches")
    return PictureReader(pictures=[dict(one) for one in shown], side=side, patch=patch, layer=layer)
