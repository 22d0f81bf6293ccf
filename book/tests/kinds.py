"""What kinds of outputs the chapters of the built book have, and a few cheap chapters that have every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from annotated_book.pages import page_file
from book.conftest import built, html_folder, pages_in_order

_CHART = re.compile(
    r'<figure class="chart" data-renderer="(\w+)">.*?<script type="application/json">(.*?)</script>', re.DOTALL
)
_PARTS = ("layer", "concat", "hconcat", "vconcat", "spec")
_SHAPES = ("facet", "repeat", "hconcat", "vconcat", "concat")
_SIZES = ("aspect", "columns", "fit")
"""What `chart_drawing.js` knows to do with the width of a page or a cell; the width itself is a word or a number."""
_ELSEWHERE = {"widget": "widget-view+json", "table": 'class="result-table'}
_CALLS = {"live panel": "\nlive_panel("}  # the training panel has a notebook of its own: test_live_panel.py


def source(name: str) -> str:
    """A chapter as its author wrote it."""
    return page_file(name).read_text(encoding="utf-8")


CHAPTERS = [name for name in pages_in_order() if "{code-cell}" in source(name)]


def _words(spec: Any) -> Iterator[str]:
    """The keys of a specification and of its parts; an encoding that makes facets is one."""
    for part in spec if isinstance(spec, list) else [spec]:
        yield from part
        if {"row", "column", "facet"} & set(part.get("encoding", {})):
            yield "facet"
        for name in _PARTS:
            yield from _words(part.get(name, []))


def kind_of_chart(renderer: str, spec: dict[str, Any]) -> str:
    """How a chart is drawn, put together and fitted: 'canvas, vconcat, fit'."""
    words, asked = set(_words(spec)), spec.get("usermeta", {})
    shape = next((name for name in _SHAPES if name in words), "one view")
    width = "container" if '"container"' in json.dumps(spec) else "numbers"
    return f"{renderer}, {shape}, {next((name for name in _SIZES if asked.get(name)), width)}"


@cache
def kinds_of(name: str) -> frozenset[str]:
    """The kinds of outputs that the cells of a built chapter have made."""
    page, cells = (html_folder() / f"{name}.html").read_text(encoding="utf-8"), source(name)
    charts = {kind_of_chart(renderer, json.loads(spec)) for renderer, spec in _CHART.findall(page)}
    others = {kind for kind, mark in _ELSEWHERE.items() if mark in page}
    return frozenset(charts | others | {kind for kind, call in _CALLS.items() if call in cells})


def chosen() -> list[str]:
    """Chapters with few cells that together have every kind of output; all chapters where the book is not built."""
    if not all(map(built, CHAPTERS)):
        return CHAPTERS
    left, few = every_kind(CHAPTERS), []
    while left:
        few.append(max(CHAPTERS, key=lambda name: len(kinds_of(name) & left) / source(name).count("{code-cell}")))
        left -= kinds_of(few[-1])
    for name in few.copy():  # what came first may have become needless
        others = [other for other in few if other != name]
        few = others if kinds_of(name) <= every_kind(others) else few
    return few


def every_kind(names: list[str]) -> set[str]:
    """The kinds of outputs of these chapters together."""
    return set().union(*map(kinds_of, names))
