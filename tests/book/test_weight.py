"""How much a page asks a network to carry: everything it loads, compressed as servers do it, with an empty cache.

Seconds are measured by `python -m benchmarks book`: a busy machine must not fail a test.
"""

from __future__ import annotations

import gzip
import re
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


def charts_of(book: Path, name: str) -> int:
    return (book / f"{name}.html").read_text(encoding="utf-8").count('<figure class="chart"')


def test_no_page_is_heavier_than_its_kind_may_be(visit: Any, book: Path, listed_page: str) -> None:
    text = (book / f"{listed_page}.html").read_text(encoding="utf-8")
    charts, widgets = charts_of(book, listed_page), text.count("jupyter.widget-view+json")
    with visit(f"{listed_page}.html") as v:
        v.draw_charts()
        v.page.wait_for_load_state("networkidle")
        weight = total(v, book, listed_page)
        limit = THREE_CHARTS if charts else PLAIN
        limit += FORMULAS * ("math notranslate" in text) + WIDGETS * bool(widgets)
        assert weight <= limit
        if not charts:
            assert not any("vega" in url for url in v.asked), "no chart, no Vega"
        if "math notranslate" not in text:
            assert not any("mathjax" in url for url in v.asked), "no formula, no MathJax"


def test_what_the_theme_does_not_need_is_not_loaded(visit: Any, book: Path) -> None:
    with visit("genindex.html") as v:
        v.page.wait_for_load_state("networkidle")
        assert total(v, book, "genindex") <= PLAIN
        unwanted = re.compile(r"fontawesome|webfonts|thebe|searchindex|searchtools|sphinx-design|clipboard")
        assert [url for url in v.asked if unwanted.search(url)] == []


def test_icons_are_drawn_from_the_small_font(visit: Any) -> None:
    with visit("genindex.html") as v:
        v.page.wait_for_function("document.fonts.ready.then(() => true)")
        icons = v.page.evaluate(
            "[...document.querySelectorAll('.bd-header-article i, .bd-header-article .fa-bars')]"
            ".filter(e => e.offsetParent).map(e => getComputedStyle(e, '::before').content.codePointAt(1))"
        )
        assert len(icons) >= 3
        loaded = [url for url in v.asked if url.endswith((".woff", ".woff2", ".ttf"))]
        assert loaded and all("vendor/icons.woff" in url for url in loaded)


def test_the_search_still_finds(visit: Any) -> None:
    with visit("search.html?q=softmax") as v:
        v.page.wait_for_selector("#search-results li")
        assert v.page.locator("#search-results li").count() >= 1
        assert v.errors == [] and v.foreign == []
