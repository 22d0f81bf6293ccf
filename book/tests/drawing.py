"""Drawings of charts for tests: a chart as SVG, the words and rows in it, and its controls moved."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotated_book.viz.renderers import VEGA_LITE

vl_convert = pytest.importorskip("vl_convert", reason="evaluating charts needs the extra `book`")


def draw(chart: Any, **properties: object) -> str:
    """The SVG of a chart or of its specification, some of its properties replaced."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    return vl_convert.vegalite_to_svg(spec | properties, vl_version=VEGA_LITE)


def texts(chart: Any) -> list[str]:
    """Every text that the drawn chart shows."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", draw(chart))


def moved(spec: dict, **values: object) -> dict:
    """The specification with its controls moved, in place."""
    for parameter in spec["params"]:
        if parameter["name"] in values:
            parameter["value"] = values.pop(parameter["name"])
    assert not values, f"no control for {values}"
    return spec


def rows(spec: dict, key: str) -> list[dict]:
    """The rows, anywhere in the specification, that have the key."""
    found = [v["data"]["values"] for v in [spec, *spec.get("layer", [])] if "values" in v.get("data", {})]
    return next(values for values in found if key in values[0])
