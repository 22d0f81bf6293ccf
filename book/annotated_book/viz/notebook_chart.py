"""Charts of a live notebook: a widget that draws a specification as the pages of the book draw it, without a network.

Altair's own `jupyter` renderer puts a chart into an element that is as wide as what is in it, so that a chart which
asks for the width of its cell gets none; and it knows nothing of dark notebooks.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
from typing import Any

import anywidget
import ipywidgets
import traitlets

from annotated_book.viz.inline import inline
from annotated_book.viz.javascript import KIT, esm
from annotated_book.viz.static_fallback import converter, static_fallback
from annotated_book.viz.theme import INK, VEGA_LITE, with_theme

_DARK_INK = "#333333"
_LARGEST_SPECIFICATION = 500_000  # bytes; drawing more marks would take many seconds


class DrawingLibrary(ipywidgets.Widget):
    """The module that draws charts, with Vega in it: large, so there is one for all charts of a kernel."""

    code = traitlets.Unicode().tag(sync=True)


class NotebookChart(anywidget.AnyWidget):
    """A chart, by its Vega-Lite specification as JSON; it cannot be changed from Python."""

    _esm = esm(KIT / "notebook_chart.js")
    _css = KIT / "notebook_chart.css"
    library = traitlets.Instance(DrawingLibrary).tag(sync=True, **ipywidgets.widget_serialization)
    specification = traitlets.Unicode().tag(sync=True)

    def __init__(self, spec: dict[str, Any]) -> None:
        if caption := (spec.get("usermeta") or {}).get("caption"):  # HTML, as in a page: names of code look so
            spec = {**spec, "usermeta": {**spec["usermeta"], "caption": inline(caption)}}
        super().__init__(library=drawing_library(), specification=json.dumps(with_theme(spec), separators=(",", ":")))


def notebook_renderer(spec: dict[str, Any], **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as a live notebook shows it: a widget, and where there are no widgets its picture and its description.

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
    if picture := saved_picture(spec):
        data = {**data, "image/png": base64.b64encode(picture).decode()}
    return {**data, "text/plain": spec.get("description", "a chart")}, metadata


@functools.cache
def drawing_library() -> DrawingLibrary:
    """The library of this process: its code is taken from vl-convert, so that no chart asks the network."""
    import vl_convert

    return DrawingLibrary(code=vl_convert.javascript_bundle(esm(KIT / "chart_drawing.js"), vl_version=VEGA_LITE))


def saved_picture(spec: dict[str, Any]) -> bytes | None:
    """The chart as it is first, dark on white, as PNG: what a saved notebook shows where no widget draws.

    Not as SVG, which JupyterLab leaves out of a notebook that it has no reason to trust. None for a chart of a reader's
    own that cannot be drawn here: its data lie elsewhere, are too many, or it is wrong, as the widget will say.
    """
    text = json.dumps(static_fallback(with_theme(spec))).replace(f'"{INK}"', f'"{_DARK_INK}"')
    if len(text) > _LARGEST_SPECIFICATION:
        return None
    still = json.loads(text)
    still["config"]["background"] = "white"
    with contextlib.suppress(ValueError):
        return converter().vegalite_to_png(still, vl_version=VEGA_LITE, allowed_base_urls=[])
    return None
