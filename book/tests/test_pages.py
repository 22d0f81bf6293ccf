"""Every page, light and dark, wide and narrow: nothing foreign is asked for, nothing fails, nothing sticks out.

Pages are found in the build and in the table of contents; each is loaded once, and looked at in several ways.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from book.conftest import built, pages_in_order
from book.tests.boxes import box_of
from book.tests.kinds import chosen, source
from book.tests.page_size import check_arrival, check_weight
from book.tests.visit import AXE_LOOKS

pytestmark = pytest.mark.spread

POLICY = 'http-equiv="Content-Security-Policy" content="default-src \'self\''
CODE = "decoding/beam_search"
"""The page whose listings are judged too; the colours of code are the same everywhere, and it has most of them."""
API = "reference/api/decoding"
"""The page of generated descriptions that axe judges for all of them: they are long, and made by one template."""
TEMPLATES = ("intro", CODE, "reference/notation", "reference/exercises", API)
"""A page of each kind: front page, chapter, reference, list, generated descriptions."""
LOOKS = {
    "wide": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "narrow": {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}},
}
SIZES = (
    "e => { const d = e.querySelector('.chart-stage svg, .chart-stage canvas').getBoundingClientRect();"
    " return [d.width, d.height, e.scrollWidth - e.clientWidth] }"
)
FORMULAS = (
    "[...document.querySelectorAll('article math')].filter(m => m.checkVisibility()).map(m => {"
    " const r = m.getBoundingClientRect(), box = m.closest('div.math');"
    " return [m.getAttribute('alttext'), r.width, r.height, box ? box.scrollWidth - box.clientWidth : 0,"
    " box ? box.classList.contains('too-wide') : false] })"
)
UNNAMED = (
    "[...document.querySelectorAll('main input, main select, main button')]"
    ".filter(e => !(e.labels?.length || e.ariaLabel || e.title || e.textContent.trim())).map(e => e.outerHTML)"
)


UNREACHABLE = (
    "[...document.querySelectorAll('article *')].filter(e => e.scrollWidth > e.clientWidth && e.clientWidth"
    " && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.tabIndex < 0"
    " && !e.querySelector('a, button, input, select, [tabindex]')).map(e => e.outerHTML.slice(0, 120))"
)


def axe_looks(name: str) -> set[str]:
    """How axe looks at a page, which takes half of its test: both ways at one of each kind, at the others nightly."""
    return {*LOOKS} if name in TEMPLATES else set()


def is_one_of_its_kind(name: str) -> bool:
    """Whether the charts of a page are drawn wide, too, before they are drawn narrow; those of the others are nightly.

    Narrow is where a chart sticks out; a wide one fails by its kind, which these pages have all of.
    """
    return name in (*TEMPLATES, *chosen())


def is_opened_for_a_commit(name: str) -> bool:
    """Whether a page is opened in a browser before a commit: all but most of the generated descriptions of the API.

    `make test` opens one of each kind, and `make lab` the others: together they take minutes.
    """
    return not name.startswith("reference/api/") or name in (API, "reference/api/index", "reference/api/chapters")


def pytest_generate_tests(metafunc: Any) -> None:
    """`opened_page`: each built page of the table of contents, all but one of each kind slow, and most of the API's
    nightly; `page_for_no_scripts`: those outside the reference part, all but one of each kind nightly."""
    names = [name for name in pages_in_order() if built(name)]
    teaching = [name for name in names if not name.startswith("reference/")]
    for fixture, pages, is_of_a_commit, of_a_kind in (
        ("opened_page", names, is_opened_for_a_commit, pytest.mark.slow),
        ("page_for_no_scripts", teaching, is_one_of_its_kind, ()),
    ):
        if fixture in metafunc.fixturenames:
            marks = {name: () if is_one_of_its_kind(name) else of_a_kind for name in pages}
            marks |= {name: pytest.mark.nightly for name in pages if not is_of_a_commit(name)}
            marked = [pytest.param(name, marks=marks[name]) for name in pages]
            metafunc.parametrize(fixture, marked or ["(the book is not built)"])


def check_policy(text: str) -> None:
    assert POLICY in text and "unpkg.com" not in text and "jsdelivr" not in text


def check_formulas(v: Any, where: str) -> None:
    """Each formula is drawn whole, or scrolls and says so; none has the size of an error."""
    for tex, width, height, beyond, marked in v.page.evaluate(FORMULAS):
        assert width > 2 and height > 4, f"{tex} of {where} is not drawn: {width} x {height}"
        assert beyond <= 1 or marked, f"{tex} of {where} is cut by {beyond} pixels without a hint"


def check_charts(v: Any, where: str) -> None:
    for figure in v.draw_charts():
        width, height, beyond = figure.evaluate(SIZES)
        assert width > 200 and height > 60 and beyond <= 0, f"a chart of {where}: {width} x {height}, {beyond} too wide"


def test_a_listed_page_stands_alone_fits_and_can_be_used_by_all(visit: Any, book: Path, opened_page: str) -> None:
    text, looks = (book / f"{opened_page}.html").read_text(encoding="utf-8"), axe_looks(opened_page)
    # Without motion, or axe would judge colours halfway from light to dark.
    with visit(f"{opened_page}.html", color_scheme="light", reduced_motion="reduce") as v:
        assert v.page.evaluate("document.documentElement.dataset.theme") == "light"
        check_arrival(v, book, opened_page)
        if is_one_of_its_kind(opened_page):
            check_charts(v, f"{opened_page} at 1280")
        if v.page.locator(".widget-host").count():
            v.page.wait_for_function("[...document.querySelectorAll('.widget-host')].every(e => e.dataset.ready)")
        assert v.overflow() <= 0, f"{opened_page} is wider than 1280 pixels"
        check_formulas(v, opened_page)
        assert "wide" not in looks or v.axe(code=opened_page == CODE) == []

        v.page.emulate_media(color_scheme="dark")
        v.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")

        v.resize(LOOKS["narrow"]["viewport"])
        check_charts(v, f"{opened_page} at 390")
        check_weight(v, book, opened_page, text)
        for drawing in v.page.query_selector_all("figure.chart [role^=graphics-document]"):
            assert len(drawing.get_attribute("aria-label")) > 40
        assert v.page.evaluate(UNNAMED) == []
        check_formulas(v, f"{opened_page} at 390")
        assert v.overflow() <= 0, f"{opened_page} is wider than 390 pixels"
        assert v.page.evaluate(UNREACHABLE) == [], "boxes that scroll, out of the keyboard's reach"
        if "narrow" in looks:
            # What was asked when the page was wide is not asked again, but for what colours and width may break.
            again = {"marks": False} if "wide" in looks else {}
            assert v.axe(*(AXE_LOOKS if again else ()), **again, code=opened_page == CODE) == [], "dark, narrow"
        assert v.foreign == [] and v.errors == []


@pytest.mark.nightly
def test_charts_of_any_page_fit_a_wide_window_and_are_drawn_again_in_a_narrow_one(visit: Any, listed_page: str) -> None:
    if is_one_of_its_kind(listed_page):
        pytest.skip("drawn with the rest of the page")
    with visit(f"{listed_page}.html", reduced_motion="reduce") as v:
        check_charts(v, f"{listed_page} at 1280")
        assert v.overflow() <= 0, f"{listed_page} is wider than 1280 pixels"
        v.resize(LOOKS["narrow"]["viewport"])
        check_charts(v, f"{listed_page} at 390")
        assert v.overflow() <= 0 and v.errors == []


@pytest.mark.nightly
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_any_page_in_any_look(visit: Any, listed_page: str, look: str) -> None:
    if look in axe_looks(listed_page) or (listed_page.startswith("reference/api/") and listed_page != API):
        pytest.skip("looked at with the rest of the page, or made by the template of one that was")
    with visit(f"{listed_page}.html", reduced_motion="reduce", **LOOKS[look]) as v:
        v.draw_charts()
        assert v.axe(code=False) == []


def test_a_chapter_has_its_parts(book: Path, teaching_page: str) -> None:
    text = source(teaching_page)
    page = (book / f"{teaching_page}.html").read_text(encoding="utf-8")
    numbered = re.search(r"^  number: (\d+)", text, re.MULTILINE)
    for directive, mark in (("prediction", 'class="prediction docutils'), ("quiz", 'class="quiz-questions"')):
        wanted = len(re.findall(rf"^[`:]{{3,}}\{{{directive}\}}", text, re.MULTILINE))
        assert page.count(mark) == wanted, f"{directive}s"
        if numbered and int(numbered[1]):  # chapter 0 is about the book
            assert wanted, f"a chapter has a {directive}"
    if numbered:
        assert '<div class="chapter-strip' in page and '<div class="mark-read"' in page
        assert 'class="right-next"' not in page or 'class="prev-next-why"' in page, "the front matter says why to go on"


def test_a_listed_page_asks_for_nothing_foreign(book: Path, listed_page: str) -> None:
    check_policy((book / f"{listed_page}.html").read_text(encoding="utf-8"))


def test_pages_of_source_stand_alone(book: Path) -> None:
    """One template over highlighted code; the test below opens a few in a browser."""
    pages = list((book / "source").rglob("*.html"))
    assert pages or not (book / "reference" / "api" / "index.html").is_file()
    for page in pages:
        check_policy(page.read_text(encoding="utf-8"))


def test_another_page_stands_alone_too(visit: Any, book: Path, other_page: str) -> None:
    check_policy((book / f"{other_page}.html").read_text(encoding="utf-8"))
    with visit(f"{other_page}.html", color_scheme="light", viewport={"width": 390, "height": 844}) as v:
        assert v.overflow() <= 0
        # Axe looks at the shorter index of Sphinx's two: the other has thousands of the same entries.
        assert other_page.startswith(("source/", "genindex")) or v.axe() == []
        assert v.foreign == [] and v.errors == []


def test_the_build_has_every_page_of_the_table_of_contents(book: Path) -> None:
    listed = pages_in_order()
    if not all(map(built, listed[:3])):
        pytest.skip("a preview of some pages")
    assert [name for name in listed if not built(name)] == []


def test_a_foreign_request_would_be_refused(visit: Any) -> None:
    with visit("search.html") as v:
        refused = v.page.evaluate(
            "new Promise(done => { document.addEventListener('securitypolicyviolation', e => done(e.blockedURI));"
            " fetch('https://example.org/').catch(() => setTimeout(() => done('not by the policy'), 1000)) })"
        )
        assert refused.startswith("https://example.org")


def test_a_dark_system_gives_a_dark_page_at_once(visit: Any, some_chart_page: str) -> None:
    ink = {}
    for scheme in ("light", "dark"):
        with visit(f"{some_chart_page}.html", color_scheme=scheme) as v:
            assert v.page.evaluate("document.documentElement.dataset.theme") == scheme
            figure = next(f for f in v.draw_charts() if f.query_selector("svg text"))
            ink[scheme] = figure.evaluate(
                "e => [getComputedStyle(e.closest('.output')).backgroundColor, getComputedStyle(document.body).color,"
                " [...e.querySelectorAll('.chart-stage svg text')].map(t => getComputedStyle(t).fill)]"
            )
            ground, text, fills = ink[scheme]
            assert ground == "rgba(0, 0, 0, 0)", "no box behind the chart"
            assert text in fills, "labels have the colour of the text"
    assert ink["light"][1] != ink["dark"][1]


PICTURE = re.compile(r'class="chart-host"[^>]*>\s*<(?:svg|img)\b')
MESSAGE = re.compile(r'class="widget-notice"[^>]*>[^<]*needs JavaScript')


def test_a_page_holds_what_a_reader_without_scripts_sees(book: Path, teaching_page: str) -> None:
    """What the next test opens in a browser, for a page of each kind, is in the text of every page."""
    text = (book / f"{teaching_page}.html").read_text(encoding="utf-8")
    assert len(PICTURE.findall(text)) == text.count('<figure class="chart"')
    assert len(MESSAGE.findall(text)) == text.count('class="widget-notice"')
    assert '<noscript><p class="no-script">' in text


def test_without_scripts_pictures_answers_and_messages_are_there(visit: Any, page_for_no_scripts: str) -> None:
    with visit(f"{page_for_no_scripts}.html", java_script_enabled=False) as v:
        figures, pictures = v.page.locator("figure.chart"), v.page.locator(".chart-host > svg, .chart-host > img")
        assert pictures.count() == figures.count()
        shown = [picture for picture in pictures.all() if picture.is_visible()]  # others wait in a fold
        assert all(box_of(picture)["height"] > 60 for picture in shown) and len(shown) >= pictures.count() / 2
        assert v.page.locator(".prediction details, .quiz-option details").count() == (
            v.page.locator(".prediction").count() + v.page.locator(".quiz-option").count()
        )
        assert v.page.locator(".no-script").is_visible()
        for i in range(v.page.locator(".widget-notice").count()):
            assert "needs JavaScript" in v.page.locator(".widget-notice").nth(i).inner_text()
        option = v.page.locator(".quiz-option:visible").first  # not in a closed card
        if option.count():
            option.locator("summary").click()
            assert option.locator(".quiz-verdict").is_visible()
        assert v.overflow() <= 0


def test_if_the_chart_library_is_blocked_pictures_stay_and_say_so(visit: Any, some_chart_page: str) -> None:
    block = lambda page: page.route("**/vega.js*", lambda route: route.abort())  # noqa: E731
    with visit(f"{some_chart_page}.html", prepare=block) as v:
        figure = v.page.locator("figure.chart").first
        figure.scroll_into_view_if_needed()
        figure.locator(".chart-notice").wait_for()
        assert "did not load" in figure.locator(".chart-notice").inner_text()
        assert box_of(figure.locator(".chart-host > svg, .chart-host > img"))["height"] > 60


def test_one_broken_chart_does_not_stop_the_others(visit: Any, some_chart_page: str, book: Path) -> None:
    text = (book / f"{some_chart_page}.html").read_text(encoding="utf-8")
    broken = text.replace('<script type="application/json">{"', '<script type="application/json">{broken "', 1)
    assert broken != text
    fulfil = lambda route: route.fulfill(body=broken, content_type="text/html")  # noqa: E731
    with visit(f"{some_chart_page}.html", prepare=lambda page: page.route(f"**/{some_chart_page}.html", fulfil)) as v:
        figures = v.page.locator("figure.chart")
        figures.first.scroll_into_view_if_needed()
        figures.first.locator(".chart-notice").wait_for()
        assert figures.first.locator(".chart-host > svg, .chart-host > img").is_visible()
        figures.nth(1).scroll_into_view_if_needed()
        v.page.wait_for_function("document.querySelectorAll('figure.chart')[1].dataset.ready")


def test_a_widget_that_fails_leaves_a_message(visit: Any, some_widget_page: str, book: Path) -> None:
    text = (book / f"{some_widget_page}.html").read_text(encoding="utf-8")
    moved = re.search(r'data-file="(?:\.\./)*([^"]+)"', text)
    place = moved[1] if moved else f"{some_widget_page}.html"
    whole = (book / place).read_text(encoding="utf-8")
    broken = re.sub(r'("_esm": ?")', r"\1throw new Error('no');", whole)
    assert broken != whole
    kind = "text/javascript" if moved else "text/html"
    fulfil = lambda route: route.fulfill(body=broken, content_type=kind)  # noqa: E731
    with visit(f"{some_widget_page}.html", prepare=lambda page: page.route(f"**/{place}", fulfil)) as v:
        v.page.wait_for_function("document.querySelector('.widget-notice').textContent.includes('did not start')")
        assert v.page.locator(".widget-notice").first.is_visible()
        assert v.page.locator(".widget-host").count() == 0


def test_a_copy_of_the_book_works_without_a_server(
    visit: Any, book: Path, tmp_path: Path, some_chart_page: str
) -> None:
    shutil.copytree(book, tmp_path / "elsewhere")
    with visit((tmp_path / "elsewhere" / f"{some_chart_page}.html").as_uri()) as v:
        assert v.draw_charts()
        box = v.page.locator(".prediction").first
        if box.count():
            box.locator("input").first.check()
            assert box.locator("details").get_attribute("open") is not None
            for _ in range(5):  # on a busy machine what a file keeps is there a moment later
                v.page.reload()
                if box.locator("input").first.is_checked():
                    break
                v.page.wait_for_timeout(300)
            assert box.locator("input").first.is_checked(), "remembered, also from a file"
        assert all(url.startswith("file://") for url in v.foreign) and v.errors == []


def test_code_links_lead_to_its_line(visit: Any, some_listing_page: str) -> None:
    with visit(f"{some_listing_page}.html") as v:
        v.page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
        v.page.locator(".library-source-caption a[href*='#line-']").first.click()
        v.page.wait_for_url("**/source/**#line-*")
        number = v.page.url.rpartition("#line-")[2]
        v.page.locator(f"[id='line-{number}']").wait_for(state="attached")
        line = v.page.locator("main pre").inner_text().splitlines()[int(number) - 1]
        assert re.search(r"(?:def|class) \w", line)
