"""How much a page asks a network to carry: everything it loads, compressed as servers do it, with an empty cache.

Seconds are measured by `python -m benchmarks book`: a busy machine must not fail a test.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

KIB = 1024
PLAIN = 320 * KIB
THREE_CHARTS = 650 * KIB
FORMULAS = 280 * KIB
"""What MathJax and its fonts may add, on the pages that have formulas."""
WIDGETS = 200 * KIB
"""What the data of widgets may add: the atlas carries every map of forty sentences."""


def weigh(v: Any, book: Path) -> dict[str, int]:
    """The compressed size of each file that the page asked for."""
    found = {}
    for url in set(v.asked):
        if url.startswith(v.site):
            file = book / unquote(urlsplit(url).path).lstrip("/")
            if file.is_file():
                found[file.relative_to(book).as_posix()] = len(gzip.compress(file.read_bytes(), 6))
    return found


def total(v: Any, book: Path, name: str) -> int:
    """The sum, which is printed with its largest parts."""
    parts = weigh(v, book)
    largest = sorted(parts.items(), key=lambda part: -part[1])[:4]
    weight = sum(parts.values())
    print(f"{name}: {weight / KIB:.0f} KiB in {len(parts)} files;", *(f"{k} {n / KIB:.0f}" for k, n in largest))
    return weight


def check_weight(v: Any, book: Path, name: str, text: str) -> None:
    """A page whose charts are drawn is no heavier than its kind may be, and loads no library that it does not need."""
    charts, widgets = text.count('<figure class="chart"'), text.count("jupyter.widget-view+json")
    v.page.wait_for_load_state("networkidle")
    assert not any("fa-brands" in url for url in v.asked), "115 KB for the icon of one link"
    limit = THREE_CHARTS if charts else PLAIN
    limit += FORMULAS * ("math notranslate" in text) + WIDGETS * bool(widgets)
    assert total(v, book, name) <= limit
    if not charts:
        assert not any("vega" in url for url in v.asked), "no chart, no Vega"
    if "math notranslate" not in text:
        assert not any("mathjax" in url for url in v.asked), "no formula, no MathJax"
