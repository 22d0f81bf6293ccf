"""What every page loads, and what it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from book.tests.page_size import KIB, PLAIN, total

ROOT = Path(__file__).resolve().parents[2]


def test_what_the_theme_does_not_need_is_not_loaded_and_icons_are_drawn_from_the_small_font(
    visit: Any, book: Path
) -> None:
    with visit("genindex.html", alone=True) as v:
        v.rest()
        assert total(v, book, "genindex") <= PLAIN
        unwanted = re.compile(r"fontawesome|webfonts|thebe|searchindex|searchtools|sphinx-design|clipboard")
        assert [url for url in v.asked if unwanted.search(url)] == []
        v.page.wait_for_function("document.fonts.ready.then(() => true)")
        icons = v.page.evaluate(
            "[...document.querySelectorAll('.bd-header-article i, .bd-header-article .fa-bars')]"
            ".filter(e => e.offsetParent).map(e => getComputedStyle(e, '::before').content.codePointAt(1))"
        )
        assert len(icons) >= 3
        loaded = [url for url in v.asked if url.endswith((".woff", ".woff2", ".ttf"))]
        ours = [url for url in loaded if "_static/fonts/" in url]
        assert ours and [url for url in loaded if "vendor/icons.woff" not in url and url not in ours] == []


def test_heavy_data_of_widgets_are_in_files_of_their_own(book: Path) -> None:
    inline = re.compile(r'<script[^>]*widget-state\+json"[^>]*>(.*?)</script>', re.DOTALL)
    pages = {page.relative_to(book): page.read_text(encoding="utf-8") for page in book.glob("*/*.html")}
    sizes = {name: max(map(len, inline.findall(text)), default=0) for name, text in pages.items()}
    assert max(sizes.values()) < 60_000, {name: size for name, size in sizes.items() if size >= 60_000}
    files = [book / name for text in pages.values() for name in re.findall(r'data-file="\.\./([^"]+)"', text)]
    assert files and all(file.is_file() for file in files)


def test_the_fonts_are_light() -> None:
    fonts = {path.stem: path.stat().st_size for path in (ROOT / "book" / "_assets" / "fonts").glob("*.woff2")}
    chinese = fonts.pop("chinese")  # fetched only where Chinese stands
    assert len(fonts) == 10 and sum(fonts.values()) < 185 * KIB and chinese < 55 * KIB


def test_the_search_puts_chapters_first_under_their_heading(visit: Any) -> None:
    with visit("search.html?q=attention") as v:
        v.page.wait_for_function("document.querySelectorAll('section.search-group').length >= 2")
        groups = v.page.evaluate("[...document.querySelectorAll('section.search-group')].map(e => +e.dataset.group)")
        assert groups == sorted({*groups}) and groups[0] == 0
        heads = v.page.locator("section.search-group > h2").all_inner_texts()
        assert heads[0].lower() == "chapters" and len(heads) == len({*heads})
        assert v.page.locator("#search-results li").count() >= 1 and v.errors == [] and v.foreign == []


def test_the_search_begins_with_the_page_that_is_called_so(visit: Any) -> None:
    for word, first in (("mask", "7. Masks"), ("dropout", "21. Dropout"), ("bleu", "26. BLEU")):
        with visit(f"search.html?q={word}") as v:
            v.page.wait_for_selector("#search-results[data-done]")
            links = v.page.locator("#search-results li:not(.search-group) > a")
            assert links.first.inner_text().startswith(first)
            places = links.evaluate_all("all => all.map(a => a.href.replace(/[?][^#]*/, ''))")
            assert len(places) == len({*places}), "one line for each place"
