"""The picture that stands in a page before its chart is drawn: as wide as the column, as the script will fit it."""

from __future__ import annotations

import textwrap
from typing import Any

COLUMN = 600
"""Pixels of the text column, less the room of a controls' margin."""
_BESIDE = 72  # axes of a view, in concatenated charts
_ASIDE = 10  # the axis of a picture that keeps its shape, unless it says
_LETTER = 7.4  # a letter of a title, on average


def first_picture(spec: dict[str, Any], width: int = COLUMN) -> dict[str, Any]:
    """A specification whose widths are numbers and whose title fits, as chart_drawing.js makes it in the browser."""
    spec = {**spec, **_fitted_title(spec, width)}
    wishes = spec.get("usermeta") or {}
    if spec.get("width") == "container":
        spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    if aspect := wishes.get("aspect"):
        across = min(wishes["widest"], width - wishes.get("beside", _ASIDE))
        spec |= {"width": across, "height": round(across * aspect)}
    if wishes.get("columns"):
        spec["columns"] = wishes["columns"] if width >= COLUMN else 1
    if wishes.get("fit"):
        spec["vconcat"] = [{**view, "width": width - _BESIDE} for view in spec["vconcat"]]
    return spec


def _fitted_title(spec: dict[str, Any], width: int) -> dict[str, Any]:
    title = spec.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    if not isinstance(text, str):
        return {}
    lines = textwrap.wrap(text, max(20, int((width - _BESIDE) / _LETTER))) or [text]
    found = lines if len(lines) > 1 else text
    return {"title": {**title, "text": found} if isinstance(title, dict) else found}
