"""Renderers: how charts reach the reader, in the book as SVG that comes alive, in a notebook without a network.

`book_renderer` writes what the pages of the book need: a static SVG for the first paint and for print, and the
specification beside it, which the book's own script draws when it scrolls into view. In a notebook a widget draws it,
in the same way and with a script from this machine. Where neither can work, Altair's default stays.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from typing import Any

import altair as alt

from annotated_book.viz.inline import inline
from annotated_book.viz.png import transparent_png
from annotated_book.viz.static_fallback import converter, static_fallback
from annotated_book.viz.theme import INK, VEGA_LITE, with_theme

BOOK_VARIABLE = "ANNOTATED_BOOK"
"""The environment variable that the book's build sets; kernels inherit it."""

_LARGEST_SVG = 80_000  # bytes; a larger picture goes into the page as PNG
_GREY_INK = "#808080"  # a PNG cannot follow the page's colour


def book_renderer(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """A chart as the book shows it: description, static SVG, and the specification for the script.

    Parameters
    ----------
    spec
        A Vega-Lite specification. `usermeta.renderer` may ask for 'canvas', for charts of many marks;
        `usermeta.caption` stands below the chart.

    Returns
    -------
    dict
        The notebook output, by MIME type.

    Raises
    ------
    ValueError
        If the chart has no description: a reader who cannot see it would get nothing.
    """
    description = spec.get("description")
    if not description:
        raise ValueError("a chart in the book needs .properties(description=...): some readers hear it, not see it")
    spec = with_theme(spec)
    renderer = spec.get("usermeta", {}).get("renderer", "svg")
    svg = converter().vegalite_to_svg(static_fallback(spec), vl_version=VEGA_LITE)
    height = float(re.search(r'height="([\d.]+)"', svg)[1])  # type: ignore[index]
    height += 34 * sum("bind" in parameter for parameter in spec.get("params", []))
    # "</" would end the script element early.
    data = json.dumps(spec, separators=(",", ":")).replace("</", "<\\/")
    label = html.escape(description, quote=True)
    picture = _with_own_names(svg) if len(svg) < _LARGEST_SVG else _png(json.dumps(static_fallback(spec)))
    figure = (
        f'<figure class="chart" data-renderer="{renderer}">'
        f'<div class="chart-host" role="img" aria-label="{label}" style="min-height:{height:.0f}px">{picture}</div>'
        f'<script type="application/json">{data}</script>{_caption(spec)}</figure>'
    )
    return {"text/plain": description, "text/html": figure}


def _with_own_names(svg: str) -> str:
    """A still picture whose clips and gradients have other names than those of live charts.

    Both count from one, and in a page the first element of a name holds: a still one's frame would cut a live chart.
    """
    return re.sub(r'(?<= id=")(?=clip|gradient)|(?<=url\(#)(?=clip|gradient)', "still-", svg)


def _caption(spec: dict[str, Any]) -> str:
    text = spec.get("usermeta", {}).get("caption")
    return f"<figcaption>{inline(text)}</figcaption>" if text else ""


def _png(data: str) -> str:
    spec = json.loads(data.replace(f'"{INK}"', f'"{_GREY_INK}"'))
    on_black, on_white = (
        converter().vegalite_to_png({**spec, "config": {**spec["config"], "background": colour}}, vl_version=VEGA_LITE)
        for colour in ("black", "white")
    )
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(transparent_png(on_black, on_white)).decode()}">'


def use_renderer() -> str:
    """Choose the renderer for this kernel, unless the user has chosen one; return the active one's name.

    In the build of the book that is `book`; in a notebook `annotated`, whose widget has its script from vl-convert, so
    that no chart asks the network; without vl-convert, Altair's default.
    """
    if "book" not in alt.renderers.names():
        alt.renderers.register("book", book_renderer)
        alt.renderers.register("annotated", _notebook_renderer)
    if alt.renderers.active != "default":
        return alt.renderers.active
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return alt.renderers.active
    if os.environ.get(BOOK_VARIABLE):
        alt.renderers.enable("book")
    elif _in_notebook():
        alt.renderers.enable("annotated")
    return alt.renderers.active


def _notebook_renderer(spec: dict[str, Any], **options: Any) -> Any:
    # Not before the first chart: widgets take time to import.
    from annotated_book.viz.notebook_chart import notebook_renderer

    return notebook_renderer(spec, **options)


def use_inline_data() -> None:
    """Let charts carry the rows of their DataFrames in place, however many: a page's script reads them there.

    Altair's default refuses more than 5,000 rows, and moves them to a table of the outermost chart.
    """
    alt.data_transformers.disable_max_rows()
    alt.data_transformers.consolidate_datasets = False


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
