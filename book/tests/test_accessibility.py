"""What axe-core cannot judge: reaching things with the keyboard, motion, forced colours, and the printed page."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from book.tests.boxes import box_of


def test_the_first_tab_stop_skips_to_the_text(visit: Any) -> None:
    with visit("intro.html", reduced_motion="reduce") as v:  # or it would be on its way
        v.page.keyboard.press("Tab")
        assert v.page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
        assert v.page.evaluate("document.activeElement.getBoundingClientRect().top >= 0"), "it shows itself"
        v.page.keyboard.press("Enter")
        v.page.wait_for_url("**#main-content")


def test_what_has_the_focus_shows_it(visit: Any) -> None:
    with visit("start/how_to_use.html") as v:
        seen = 0
        for _ in range(25):
            v.page.keyboard.press("Tab")
            style = v.page.evaluate(
                "(() => { const s = getComputedStyle(document.activeElement);"
                " return [document.activeElement.tagName, s.outlineStyle, parseFloat(s.outlineWidth), s.boxShadow] })()"
            )
            if style[0] != "BODY":
                seen += 1
                assert (style[1] != "none" and style[2] >= 1) or style[3] != "none", style
        assert seen > 20


def test_headings_tables_and_language(book: Path, listed_page: str) -> None:
    text = (book / f"{listed_page}.html").read_text(encoding="utf-8")
    article = re.sub(
        r"<(pre|script|svg)\b.*?</\1>", "", text.partition("<article")[2].partition("</article>")[0], flags=re.S
    )
    assert re.search(r'<html lang="en"', text)
    levels = [int(level) for level in re.findall(r"<h([1-6])\b", article)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), levels
    for table in re.findall(r"<table\b.*?</table>", article, flags=re.S):
        assert "<th" in table, re.sub(r"<[^>]*>", " ", table)[:80]


def test_nothing_moves_for_who_asked_for_stillness(visit: Any) -> None:
    with visit("intro.html", reduced_motion="reduce") as v:
        longest = v.page.evaluate(
            "Math.max(...[...document.querySelectorAll('*')].flatMap(e => { const s = getComputedStyle(e);"
            " return [s.transitionDuration, s.animationDuration].flatMap(t => t.split(',').map(parseFloat)) }))"
        )
        assert longest <= 0.001


def test_forced_colours_keep_borders_and_choices(visit: Any) -> None:
    with visit("attention/masks.html", forced_colors="active") as v:
        quiz = v.page.locator("#check-yourself .quiz")
        quiz.locator("input").first.check()
        chosen = quiz.locator(".quiz-option.chosen").first
        assert chosen.evaluate("e => getComputedStyle(e).borderInlineStartStyle") == "solid"
        assert quiz.locator(".quiz-status .quiz-verdict").first.is_visible()


HIDDEN_IN_PRINT = ".bd-sidebar-primary, .bd-header-article, .prev-next-footer, .vega-bindings, .widget-host, .mark-read"


def test_the_printed_page_has_every_chart_and_no_control(visit: Any, some_chart_page: str) -> None:
    with visit(f"{some_chart_page}.html", color_scheme="dark") as v:
        v.page.locator("figure.chart").first.scroll_into_view_if_needed()
        v.page.wait_for_function("document.querySelector('figure.chart').dataset.ready")
        v.page.emulate_media(media="print", color_scheme="dark")
        for figure in v.page.locator("figure.chart").all():  # most of them were never scrolled to
            picture = figure.locator(".chart-host > svg, .chart-host > img, .chart-still svg, .chart-still img").first
            assert box_of(picture)["height"] > 60 and box_of(picture)["width"] > 150
        shown = v.page.evaluate(
            f"[...document.querySelectorAll('{HIDDEN_IN_PRINT}')].filter(e => e.offsetParent).length"
        )
        assert shown == 0
        ink = v.page.evaluate(
            "getComputedStyle(document.querySelector('figure.chart')).color.match(/\\d+/g).map(Number)"
        )
        ground = v.page.evaluate("getComputedStyle(document.querySelector('.bd-main')).backgroundColor")
        assert max(ink) < 100 and ground == "rgb(255, 255, 255)", "dark on white, also from the dark page"
        assert v.page.locator("article h1").is_visible()
        # Not printed: answers, an exercise's tests, a cell's checks, code of pictures, the figure in the margin.
        answers = (".prediction > details", ".quiz-option details", ".try details", ".graded-solution")
        unprinted = (*answers, ".graded-tested", ".checks", ".cell details.hide", ".machine-fold")
        left = f":not({', '.join(f'{name}, {name} *' for name in unprinted)})"
        closed = v.page.locator(f"article details{left} > :not(summary)").all()
        assert all(part.is_visible() for part in closed if part.evaluate("e => e.tagName") != "SCRIPT")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_link_to_the_content_has_the_colours_of_the_page(visit: Any, theme: str) -> None:
    with visit("intro.html", color_scheme=theme) as v:
        colours = "e => ['background-color', 'color'].map(name => getComputedStyle(e).getPropertyValue(name))"
        bar = v.page.locator("#pst-skip-link").evaluate(colours)[0]
        surface = v.page.evaluate(
            "() => { const e = document.body.appendChild(document.createElement('i'));"
            " e.style.background = 'var(--pst-color-surface)'; return getComputedStyle(e).backgroundColor; }"
        )
        assert bar == surface


def test_the_pdf_of_a_chapter_has_its_charts(visit: Any, some_chart_page: str) -> None:
    pypdf = pytest.importorskip("pypdf", reason="pypdf is in the extra `dev`")
    with visit(f"{some_chart_page}.html") as v:
        v.rest()
        words = v.page.evaluate(
            "[...document.querySelectorAll('.chart-host > svg')].map(s => [...s.querySelectorAll('text')]"
            ".map(t => t.textContent).filter(t => /[a-z]{4}/i.test(t))[0]).filter(Boolean)"
        )
        pdf = pypdf.PdfReader(io.BytesIO(v.page.pdf(format="A4")))
        text = " ".join(page.extract_text() for page in pdf.pages)
        assert words and [word for word in words if word.split()[0] not in text] == []
