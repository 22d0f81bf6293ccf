"""Charts of a live notebook: a widget that draws a specification as the pages of the book draw it, without a network.

Altair's own `jupyter` renderer puts a chart into an element that is as wide as what is in it, so that a chart which
asks for the width of its cell gets none; and it knows nothing of dark notebooks.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import anywidget
import traitlets

from annotated_book.viz.javascript import KIT, esm
from annotated_book.viz.theme import VEGA_LITE, with_theme


class NotebookChart(anywidget.AnyWidget):
    """A chart, by its Vega-Lite specification as JSON; it cannot be changed from Python."""

    _esm = esm(KIT / "notebook_chart.js")
    _css = KIT / "notebook_chart.css"
    library = traitlets.Unicode().tag(sync=True)
    specification = traitlets.Unicode().tag(sync=True)

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(library=drawing_library(), specification=json.dumps(with_theme(spec), separators=(",", ":")))


def notebook_renderer(spec: dict[str, Any], **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as a live notebook shows it: a widget, and its description where there are no widgets.

    Parameters
    ----------
    spec
        A Vega-Lite specification. `usermeta.renderer` may ask for 'canvas', for charts of many marks.

    Returns
    -------
    tuple of dict
        The notebook output by MIME type, and its metadata.
    """
    data, metadata = NotebookChart(spec)._repr_mimebundle_() or ({}, {})
    return {**data, "text/plain": spec.get("description", "a chart")}, metadata


@functools.cache
def drawing_library() -> str:
    """The module that draws charts, with Vega in it: taken from vl-convert, so that no chart asks the network."""
    import vl_convert

    return vl_convert.javascript_bundle(esm(KIT / "chart_drawing.js"), vl_version=VEGA_LITE)
