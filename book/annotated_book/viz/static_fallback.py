"""The picture that stands in a page before its chart is drawn: as wide as the column, as the script will fit it."""

from __future__ import annotations

import functools
import json
import re
import textwrap
from pathlib import Path
from typing import Any

COLUMN = 600
"""Pixels of the text column, less the room of a controls' margin."""
_MULTI_VIEW_MARGIN = 72  # axes of a view, in concatenated charts
_AXIS_MARGIN = 10  # the axis of a picture that keeps its shape, unless it says
_LETTER = 6.8  # a letter of a title, on average
_BY_MENU = re.compile(r'(\{"(?:[^"\\]|\\.)*": ".*"\})\[([^\[\]]+)\]', re.S)  # of `title_of`
_FONTS = Path(__file__).parent / "fonts"


@functools.cache
def converter() -> Any:
    """The module vl-convert, which knows the letters of the charts: a still picture has them as the page has."""
    import vl_convert

    vl_convert.register_font_directory(str(_FONTS))
    return vl_convert


def static_fallback(spec: dict[str, Any], width: int = COLUMN) -> dict[str, Any]:
    """A specification whose widths are numbers and whose title fits, as chart_drawing.js makes it in the browser."""
    spec = {**spec, **_fitted_title(spec, width)}
    layout_hints = spec.get("usermeta") or {}
    if spec.get("width") == "container":
        spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    if aspect := layout_hints.get("aspect"):
        across = min(layout_hints["widest"], width - layout_hints.get("beside", _AXIS_MARGIN))
        spec |= {"width": across, "height": round(across * aspect)}
    if layout_hints.get("columns"):
        spec["columns"] = layout_hints["columns"] if width >= COLUMN else 1
    if layout_hints.get("fit"):
        spec["vconcat"] = [{**view, "width": width - _MULTI_VIEW_MARGIN} for view in spec["vconcat"]]
    return spec


def _fitted_title(spec: dict[str, Any], width: int) -> dict[str, Any]:
    title = spec.get("title")
    text = title.get("text", title) if isinstance(title, dict) else title
    most = max(20, int((width - _MULTI_VIEW_MARGIN) / _LETTER))
    if isinstance(text, dict) and (chosen := _BY_MENU.fullmatch(text.get("expr", ""))):
        lines = {option: _wrapped(one, most) for option, one in json.loads(chosen[1]).items()}
        longest = max(map(len, lines.values()))
        padded = {option: [*some, *[""] * (longest - len(some))] for option, some in lines.items()}
        found: Any = {"expr": f"{json.dumps(padded, ensure_ascii=False)}[{chosen[2]}]"}
    elif isinstance(text, str):
        lines_of_one = _wrapped(text, most)
        found = lines_of_one if len(lines_of_one) > 1 else text
    else:
        return {}
    return {"title": {**title, "text": found} if isinstance(title, dict) and "text" in title else found}


def _wrapped(text: str, most: int) -> list[str]:
    return textwrap.wrap(text, most, break_long_words=False, break_on_hyphens=False) or [text]
