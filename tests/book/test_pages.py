"""Every page, light and dark, wide and narrow: nothing foreign is asked for, nothing fails, nothing sticks out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CHAPTERS = {
    "intro.html": 1,
    "attention/scaled_dot_product.html": 4,
    "positions/sinusoids.html": 3,
    "heads/classroom.html": 2,
}
"""Each chapter, and how many charts it has."""
OTHER = ("search.html", "genindex.html", "source/annotated/model/attention.html")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_every_chapter_is_listed_here(book: Path) -> None:
    parts = {path.relative_to(book).as_posix() for path in book.rglob("*.html")}
    outside = {"index.html", "search.html", "genindex.html"}
    chapters = {
        path for path in parts if path not in outside and not path.startswith(("source/", "_static/", "vendor/"))
    }
    assert chapters == set(CHAPTERS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", CHAPTERS)
def test_a_chapter_stands_alone_and_fits(visit: Any, path: str, scheme: str) -> None:
    with visit(path, color_scheme=scheme) as v:
        assert v.page.evaluate("document.documentElement.dataset.theme") == scheme
        figures = v.draw_charts()
        assert len(figures) == CHAPTERS[path]
        for width in (1280, 390):
            v.page.set_viewport_size({"width": width, "height": 900})
            v.page.wait_for_timeout(350)  # charts that follow the width are drawn again after a pause
            assert v.page.evaluate(OVERFLOW) <= 0, f"{path} is wider than {width} pixels"
            for figure in v.draw_charts():
                sizes = figure.evaluate(
                    "e => { const d = e.querySelector('.chart-stage svg, .chart-stage canvas').getBoundingClientRect();"
                    " return [d.width, d.height, e.scrollWidth - e.clientWidth] }"
                )
                assert sizes[0] > 200 and sizes[1] > 60 and sizes[2] <= 0, f"a chart of {path} at {width}: {sizes}"
        assert v.foreign == [] and v.errors == []


@pytest.mark.parametrize("path", OTHER)
def test_the_other_pages_stand_alone_too(visit: Any, path: str) -> None:
    with visit(path, viewport={"width": 390, "height": 800}) as v:
        assert v.page.evaluate(OVERFLOW) <= 0
        assert v.foreign == [] and v.errors == []


def test_every_page_forbids_foreign_requests(book: Path) -> None:
    for path in [*CHAPTERS, *OTHER]:
        text = (book / path).read_text(encoding="utf-8")
        assert 'http-equiv="Content-Security-Policy" content="default-src \'self\'' in text, path
        assert "unpkg.com" not in text and "jsdelivr" not in text, path


def test_a_foreign_request_would_be_refused(visit: Any) -> None:
    with visit("intro.html") as v:
        refused = v.page.evaluate(
            "new Promise(done => { document.addEventListener('securitypolicyviolation', e => done(e.blockedURI));"
            " fetch('https://example.org/').catch(() => setTimeout(() => done('not by the policy'), 1000)) })"
        )
        assert refused.startswith("https://example.org")


def test_ink_follows_the_theme(visit: Any) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with visit("positions/sinusoids.html", color_scheme=scheme) as v:
            figure = v.draw_charts()[1]
            colours[scheme] = figure.evaluate(
                "e => [getComputedStyle(e.querySelector('svg text')).fill, getComputedStyle(document.body).color,"
                " getComputedStyle(e.closest('.output')).backgroundColor]"
            )
            assert colours[scheme][0] == colours[scheme][1], "labels have the colour of the text"
            assert colours[scheme][2] == "rgba(0, 0, 0, 0)", "no box behind the chart"
    assert colours["light"][0] != colours["dark"][0]


def test_formulas_are_set(visit: Any) -> None:
    with visit("attention/scaled_dot_product.html") as v:
        v.page.wait_for_selector("mjx-container")
        assert v.page.locator("mjx-container").count() > 10
        assert v.page.locator("mjx-merror").count() == 0


def test_without_javascript_pictures_and_explanations_are_there(visit: Any) -> None:
    for path, count in CHAPTERS.items():
        with visit(path, java_script_enabled=False) as v:
            pictures = v.page.locator(".chart-host > svg, .chart-host > img")
            assert pictures.count() == count
            assert all(pictures.nth(i).bounding_box()["height"] > 60 for i in range(count))
            assert v.page.locator(".prediction li").count() == 3


def test_pages_work_from_the_file_system(visit: Any, book: Path) -> None:
    with visit((book / "attention/scaled_dot_product.html").as_uri()) as v:
        assert len(v.draw_charts()) == CHAPTERS["attention/scaled_dot_product.html"]
        assert all(url.startswith("file://") for url in v.foreign)


def test_code_links_lead_to_its_line(visit: Any) -> None:
    with visit("attention/scaled_dot_product.html") as v:
        v.page.locator(".library-source-caption a").first.click()
        number = v.page.url.rpartition("#line-")[2]
        assert v.page.locator(f"[id='line-{number}']").count() == 1
        line = v.page.locator("main pre").inner_text().splitlines()[int(number) - 1]
        assert "def scaled_dot_product_attention" in line
