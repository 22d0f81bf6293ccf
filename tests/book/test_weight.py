"""What every page loads, and what it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.book.weight import PLAIN, total


def test_what_the_theme_does_not_need_is_not_loaded(visit: Any, book: Path) -> None:
    with visit("genindex.html", alone=True) as v:
        v.page.wait_for_load_state("networkidle")
        assert total(v, book, "genindex") <= PLAIN
        unwanted = re.compile(r"fontawesome|webfonts|thebe|searchindex|searchtools|sphinx-design|clipboard")
        assert [url for url in v.asked if unwanted.search(url)] == []


def test_icons_are_drawn_from_the_small_font(visit: Any) -> None:
    with visit("genindex.html", alone=True) as v:
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
