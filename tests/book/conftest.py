"""A browser, and the built book behind a small server. Without either the tests are skipped, and say so."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
AXE_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
AXE_EXTRA = ("label-content-name-mismatch", "target-size")
"""Rules that axe leaves out unless they are asked for by name."""
AXE_LOOKS = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")
"""Rules that other colours or another width may break."""
_MEDIA = {"color_scheme", "reduced_motion", "forced_colors"}
_MARKS = ".chart-stage svg, .chart-still, math"


def html_folder() -> Path:
    """The folder of the built HTML; ANNOTATED_BOOK_HTML may name another."""
    return Path(os.environ.get("ANNOTATED_BOOK_HTML", ROOT / "_build" / "html"))


def pages_in_order() -> list[str]:
    """Pages of the table of contents, without suffix."""
    yaml = pytest.importorskip("yaml")
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    names, todo = [], [{"file": toc["root"], "sections": [c for part in toc["parts"] for c in part["chapters"]]}]
    while todo:
        entry = todo.pop(0)
        names.append(entry["file"])
        todo = [*entry.get("sections", []), *todo]
    return names


def built(name: str) -> bool:
    """Whether the build has that page: a preview has a few of them."""
    return (html_folder() / f"{name}.html").is_file()


def pytest_generate_tests(metafunc: Any) -> None:
    """`listed_page`: each built page of the table of contents; `teaching_page`: those outside the reference part;
    `other_page`: all other built pages."""
    listed = pages_in_order()
    if "listed_page" in metafunc.fixturenames:
        metafunc.parametrize("listed_page", [name for name in listed if built(name)] or ["(the book is not built)"])
    if "teaching_page" in metafunc.fixturenames:
        names = [name for name in listed if built(name) and not name.startswith("reference/")]
        metafunc.parametrize("teaching_page", names or ["(the book is not built)"])
    if "other_page" in metafunc.fixturenames:
        folder = html_folder()
        found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html")}
        found = {name for name in found if not name.startswith(("_static/", "_sources/"))} - {*listed, "index"}
        metafunc.parametrize("other_page", sorted(found) or ["(the book is not built)"])


def _skip(message: str) -> None:
    warnings.warn(message, stacklevel=1)
    pytest.skip(message)


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the built HTML."""
    folder = html_folder()
    if not (folder / "index.html").is_file():
        _skip("the book is not built: run `make book` first; its pages are not tested")
    return folder


@pytest.fixture(scope="module")
def extension(repository: Path) -> Iterator[Callable[[str], Any]]:
    """Import a part of the book's extension: `extension("terms").places`."""
    sys.path.insert(0, str(repository / "book" / "_ext"))
    yield lambda part: import_module(f"annotated_book.{part}")
    sys.path.pop(0)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[str]:
    """The address of the book on this machine."""
    handler = functools.partial(_Quiet, directory=str(book))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library's wheel, as the book builds it."""
    pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    try:
        from annotated_book.launch import build_wheel
    finally:
        sys.path.pop(0)
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    program = shutil.which("chromium")
    if not program:
        _skip("no chromium on this machine: nothing is tested in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def browser(book: Path, chromium: Any) -> Any:
    """A browser, for a book that is built."""
    return chromium


class _Tabs:
    """Tabs that were used and cleaned: a new one, with a process of its own, costs twice what a page in it does."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self._windows: dict[frozenset[tuple[str, Any]], Any] = {}
        self._idle: dict[frozenset[tuple[str, Any]], list[Any]] = {}

    def take(self, kind: frozenset[tuple[str, Any]]) -> Any:
        """One that looks new, in a window with those options."""
        if self._idle.get(kind):
            return self._idle[kind].pop()
        if kind not in self._windows:
            self._windows[kind] = self.browser.new_context(**dict(kind))
        return self._windows[kind].new_page()

    def give_back(self, kind: frozenset[tuple[str, Any]], page: Any) -> None:
        """Clear what its page has kept, and let somebody else have it."""
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.emulate_media(**dict.fromkeys(("media", *_MEDIA), "null"))
        self._idle.setdefault(kind, []).append(page)


_tabs = functools.cache(_Tabs)


class Visit:
    """One page in one browser tab, with everything that it asked for and complained about.

    Most take a tab that somebody had before. Who has something to `prepare`, or is `alone` in a window, gets a new one.
    """

    def __init__(
        self, browser: Any, site: str, path: str, prepare: Any = None, alone: bool = False, **options: Any
    ) -> None:
        self.site, self.foreign, self.errors, self.asked = site, [], [], []
        size = options.pop("viewport", {"width": 1280, "height": 900})
        media = {name: options.pop(name) for name in _MEDIA & set(options)}
        self._tabs, self._kind = _tabs(browser), frozenset(options.items())
        self._is_shared = not (alone or prepare)
        self.page = self._tabs.take(self._kind) if self._is_shared else browser.new_context(**options).new_page()
        self.context = self.page.context
        self.context.set_default_timeout(30_000)  # a busy machine is no failure
        self.page.set_viewport_size(size)
        self.page.emulate_media(**media)
        if prepare:
            prepare(self.page)
        self._listeners = {"request": self._on_request, "pageerror": self._on_error, "console": self._on_message}
        for event, listener in self._listeners.items():
            self.page.on(event, listener)
        self.page.goto(path if "://" in path else f"{site}/{path}")

    def _on_error(self, error: Any) -> None:
        self.errors.append(str(error))

    def _on_message(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _on_request(self, request: Any) -> None:
        self.asked.append(request.url)
        if not request.url.startswith((self.site, "data:", "blob:")):
            self.foreign.append(request.url)

    def draw_charts(self) -> list[Any]:
        """Scroll to every chart, wait until it is drawn, and return the figures."""
        figures = self.page.query_selector_all("figure.chart")
        for figure in figures:
            figure.scroll_into_view_if_needed()
            self.page.wait_for_function("e => e.dataset.ready", arg=figure)
        return figures

    def axe(self, *only: str, marks: bool = True, code: bool = True) -> list[str]:
        """What axe-core finds wrong, WCAG 2.2 AA and best practice.

        `only` may name rules; without `marks` it does not look again into drawings and formulas, and without `code` not
        into listings, whose colours are the same on every page. What it shall not see is taken out of the page: axe
        needs as long for an element that is excluded as for any other, and a listing has a thousand.
        """
        if not self.page.evaluate("'axe' in window"):
            package = pytest.importorskip("axe_playwright_python", reason="axe-core is in the extra `dev`")
            self.page.evaluate(resources.files(package).joinpath("axe.min.js").read_text(encoding="utf-8"))
        rules = {name: {"enabled": True} for name in AXE_EXTRA}
        options = {"runOnly": list(only)} if only else {"runOnly": list(AXE_TAGS), "rules": rules}
        if not marks:
            self.page.evaluate(f"document.querySelectorAll('{_MARKS}').forEach(e => e.replaceChildren())")
        if not code:
            self.page.evaluate("document.querySelectorAll('.highlight pre').forEach(e => (e.textContent += ''))")
        found = self.page.evaluate(
            "options => axe.run({...options, resultTypes: ['violations'], preload: false})", options
        )
        return [f"{fault['id']}: {node['html'][:160]}" for fault in found["violations"] for node in fault["nodes"][:3]]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        if not self._is_shared:
            self.context.close()
        elif kind is not None:  # nobody knows what state it is in
            self.page.close()
        else:
            self._tabs.give_back(self._kind, self.page)


@pytest.fixture
def visit(browser: Any, site: str) -> Any:
    """Open a page of the book: `with visit("intro.html") as v: ...`."""
    return functools.partial(Visit, browser, site)


def _page_with(mark: str, at_least: int) -> str:
    for name in pages_in_order():
        if built(name) and (html_folder() / f"{name}.html").read_text(encoding="utf-8").count(mark) >= at_least:
            return name
    pytest.skip(f"no built page has {mark!r} {at_least} times")


@pytest.fixture
def some_chart_page(book: Path) -> str:
    """A page with two charts or more."""
    return _page_with('<figure class="chart"', 2)


@pytest.fixture
def some_canvas_page(book: Path) -> str:
    """A page with a slider on a chart that is drawn on a canvas."""
    return _page_with('data-renderer="canvas"', 1)


@pytest.fixture
def some_widget_page(book: Path) -> str:
    """A page with a widget."""
    return _page_with('class="widget-notice"', 1)


@pytest.fixture
def some_listing_page(book: Path) -> str:
    """A page that shows code of the library."""
    return _page_with('class="library-source-caption"', 1)
