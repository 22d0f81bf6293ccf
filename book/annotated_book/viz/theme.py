"""Theme of the charts: colours, and the configuration that makes all look alike, on a light page and on a dark one."""

from __future__ import annotations

from typing import Any

INK = "currentColor"  # follows the page from light to dark without drawing anew
BLUE, ORANGE, GREEN, GREY = "#3b83d6", "#d9731a", "#2f9e6e", "#8a8f98"  # mid-tones: readable on white and on black
PALETTE = (BLUE, ORANGE, GREEN, "#b45fc4", "#c4475f")
TEXT_SIZE, TITLE_SIZE = 12, 14  # pixels
VEGA_LITE = "6.4"
"""Vega-Lite of the static pictures and of the script that the book ships: one version for both."""
_LABELS = {"labelColor": INK, "titleColor": INK, "labelFontSize": TEXT_SIZE, "titleFontSize": TEXT_SIZE}
_TITLE = {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": TITLE_SIZE, "subtitleFontSize": TEXT_SIZE}
CONFIG: dict[str, Any] = {
    "background": None,
    "font": "Token Mark, Book Sans, system-ui, sans-serif",
    "title": {**_TITLE, "offset": 10},
    "view": {"stroke": INK, "strokeOpacity": 0.3, "continuousWidth": 300, "continuousHeight": 220},
    "axis": {**_LABELS, "titleFontWeight": "normal", "domainColor": INK, "tickColor": INK, "gridColor": INK,
             "gridOpacity": 0.15},
    "legend": {**_LABELS, "orient": "top", "title": None},
    "header": _LABELS,
    "text": {"fill": INK, "fontSize": TEXT_SIZE},
    "range": {"category": list(PALETTE)},
}  # fmt: skip


def with_theme(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification with the house's configuration, which yields to what the chart itself configures."""
    return {**spec, "config": {**CONFIG, **spec.get("config", {}), "background": None}}
