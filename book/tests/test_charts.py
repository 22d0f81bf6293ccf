"""Charts in a page: they follow their figure's width, their sliders show values, captions stand below."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pytest

from annotated_book.viz.caption import captioned
from annotated_book.viz.javascript import KIT, esm
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.renderers import book_renderer
from annotated_book.viz.theme import VEGA_LITE
from book.tests.boxes import box_of
from book.tests.sites import served

vl_convert = pytest.importorskip("vl_convert", reason="the book's charts need the extra `book`")

ASSETS = Path(__file__).resolve().parents[2] / "book" / "_assets" / "book"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Charts</title>
{styles}<style>
body {{ display: flex; margin: 0; }} nav {{ flex: none; width: 300px; transition: width 0.5s; overflow: hidden; }}
main {{ flex: 1; min-width: 0; padding: 0 20px; }} figure {{ margin: 0; }} svg {{ max-width: 100%; height: auto; }}
@media (max-width: 1000px) {{ nav {{ width: 0; }} }} .closed nav {{ width: 0; }}</style></head>
<body><nav>Sidebar</nav><main class="bd-content">{figures}</main><script src="book/charts.js"></script></body></html>"""
SCALE = """e => { const svg = e.querySelector('.chart-stage svg');
  return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; }"""
FILLED = "e => e.querySelector('.chart-stage svg').getBoundingClientRect().width / e.clientWidth"


def made_chart() -> alt.Chart:
    data = pd.DataFrame({"x": [1, 2, 3] * 2, "y": [1, 2, 4, 2, 4, 8], "n": [0] * 3 + [1] * 3})
    chart = alt.Chart(data).mark_line().encode(x="x:Q", y="y:Q").transform_filter("datum.n == n")
    params = (
        steps("n", [512, 37_000], 512, "length n"),
        slider("k", 3, 1, 9, label="kernel width k"),
        menu("m", ["a", "b"]),
    )
    chart = chart.add_params(*params).properties(width="container", height=120, description="a line")
    return captioned(chart, "Made up.")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with a chart that asks for its container's width, and one that is fitted by the page's script."""
    folder = tmp_path_factory.mktemp("charts")
    shutil.copytree(ASSETS, folder / "book")
    (folder / "vendor").mkdir()
    drawing = esm(KIT / "chart_drawing.js").replace("export ", "") + "window.drawIn = drawIn;"
    bundle = vl_convert.javascript_bundle(drawing, vl_version=VEGA_LITE)
    (folder / "vendor" / "vega.js").write_text("(()=>{" + bundle + "})();", encoding="utf-8")
    points = alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_point().encode(x="x:Q").properties(height=50)
    fitted = alt.vconcat(points, points, usermeta={"fit": True}).properties(description="points")
    sheets = sorted(path.name for path in ASSETS.glob("*.css") if path.name != "kit.css")
    styles = "".join(f'<link rel="stylesheet" href="book/{name}">' for name in (*sheets, "kit.css"))
    figures = "".join(book_renderer(chart.to_dict())["text/html"] for chart in (made_chart(), fitted))
    (folder / "index.html").write_text(PAGE.format(figures=figures, styles=styles), encoding="utf-8")
    with served(folder) as port:
        yield f"http://127.0.0.1:{port}/index.html"


@pytest.fixture(scope="module")
def opened(chromium: Any, address: str) -> Iterator[Callable[[int], Any]]:
    """Open the page in a window of some width, with its charts drawn; all use one tab, which knows Vega already."""
    context = chromium.new_context()
    context.set_default_timeout(30_000)
    page = context.new_page()

    def open_page(width: int) -> Any:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        page.wait_for_function("[...document.querySelectorAll('figure.chart')].every(e => e.dataset.ready)")
        return page

    yield open_page
    context.close()


def wait_until_fitted(page: Any) -> None:
    """Until every drawing is as large as it was drawn, and takes its figure's width; or a timeout."""
    fits = f"Math.abs(({SCALE})(e) - 1) < 0.02 && ({FILLED})(e) > 0.8"
    page.wait_for_function(f"[...document.querySelectorAll('figure.chart')].every(e => {fits})")


@pytest.mark.parametrize(("before", "after"), [(800, 1200), (500, 1440), (1440, 390)])
def test_charts_follow_a_window_that_passes_the_sidebars_breakpoint(opened: Any, before: int, after: int) -> None:
    page = opened(before)
    page.set_viewport_size({"width": after, "height": 900})
    wait_until_fitted(page)


def test_charts_follow_a_sidebar_that_closes_while_the_window_stays(opened: Any) -> None:
    page = opened(1400)
    narrow = page.eval_on_selector("figure.chart svg", "e => e.getBoundingClientRect().width")
    page.eval_on_selector('[name="k"]', "e => { e.value = 7; e.dispatchEvent(new Event('input')); }")
    page.evaluate("document.body.classList.add('closed')")
    page.wait_for_function(f"{narrow} + 250 < document.querySelector('.chart-stage svg').getBoundingClientRect().width")
    wait_until_fitted(page)
    assert page.eval_on_selector("figure.chart", "e => e.chart.signal('k')") == 7, "the reader's setting stays"


def test_a_slider_over_a_list_shows_the_value_by_eye_and_ear(opened: Any) -> None:
    page = opened(1200)
    row = page.locator(".vega-bind").first
    name, value, input_ = row.locator(".vega-bind-name"), row.locator("output"), row.locator("input")
    assert name.inner_text().strip() == "length n" and value.inner_text() == "512"
    assert re.sub(r"\s+", " ", row.inner_text()).strip() == "length n 512", "and not the index"
    input_.focus()
    page.keyboard.press("ArrowRight")
    assert value.inner_text() == "37,000" and input_.get_attribute("aria-valuetext") == "37,000"
    page.eval_on_selector("figure.chart", "async e => { e.chart.signal('n', 0); await e.chart.runAsync(); }")
    assert value.inner_text() == "512", "also where the page itself sets it"


@pytest.mark.parametrize("width", [1200, 390])
def test_sliders_and_menus_start_at_one_place_and_stay_inside(opened: Any, width: int) -> None:
    page = opened(width)
    starts = page.eval_on_selector_all(
        ".vega-bind :is(input, select)", "all => all.map(e => e.getBoundingClientRect().x)"
    )
    assert len(starts) == 3 and max(starts) - min(starts) <= 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_caption_stands_below_the_drawing_and_its_controls(opened: Any) -> None:
    page = opened(1200)
    assert page.locator("figcaption").inner_text() == "Made up."
    top = box_of(page.locator("figcaption"))["y"]
    assert top >= max(box_of(page.locator(".vega-bind").nth(i))["y"] for i in range(3)) + 10


def test_text_is_twelve_pixels(opened: Any) -> None:
    page = opened(1200)
    sizes = page.eval_on_selector_all(
        ".chart-stage svg text", "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert sizes and min(sizes) == 12


LONG = re.compile(r"[1-9]\d*\.\d{4,}|0\.0*[1-9]\d{4,}")
"""Five figures or more: 3.16228, but not a learning rate of 0.00012."""


def test_no_chart_of_the_book_has_a_tick_of_six_figures(book: Path) -> None:
    """Such as 3.16228: an axis of halves of decades that nobody formatted."""
    for path in sorted(book.rglob("*.html")):
        for figure in re.findall(r'<figure class="chart".*?</figure>', path.read_text(encoding="utf-8"), re.DOTALL):
            labels = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
            assert not [text for text in labels if LONG.search(text)], path.name
