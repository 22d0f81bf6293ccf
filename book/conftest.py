"""What tests of the book share: a browser, the built book behind a small server, and the model as a page has it.

Without a browser or a book their tests are skipped, and say so.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from annotated_book.viz.engine.tests.conftest import data, translator
from book.tests.sites import served
from book.tests.visit import Visit

__all__ = ["data", "translator"]

ROOT = Path(__file__).resolve().parent.parent
SOURCE_PAGES = tuple(
    f"source/{name}"
    for name in (
        "annotated/model/attention",
        "book/annotated_book/viz/theme",
        "grader/annotated_grader/sandbox/interpreter",
    )
)


def html_folder() -> Path:
    """The folder of the built HTML; ANNOTATED_BOOK_HTML may name another."""
    return Path(os.environ.get("ANNOTATED_BOOK_HTML", ROOT / "_build" / "html"))


@functools.cache
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
    `other_page`: all other built pages, of those with source code a few."""
    listed = pages_in_order()
    if "listed_page" in metafunc.fixturenames:
        metafunc.parametrize("listed_page", [name for name in listed if built(name)] or ["(the book is not built)"])
    if "teaching_page" in metafunc.fixturenames:
        names = [name for name in listed if built(name) and not name.startswith("reference/")]
        metafunc.parametrize("teaching_page", names or ["(the book is not built)"])
    if "other_page" in metafunc.fixturenames:
        folder = html_folder()
        found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html")}
        found = {name for name in found if not name.startswith(("_static/", "_sources/", "source/"))}
        found = (found | {name for name in SOURCE_PAGES if built(name)}) - {*listed, "index"}
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


@pytest.fixture(scope="session")
def extension() -> Callable[[str], Any]:
    """Import a part of the book's extension: `extension("terms.term_counts").places`."""
    pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    return lambda part: import_module(f"page_kit.{part}")


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[str]:
    """The address of the book on this machine."""
    with served(book) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def wheels(extension: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of library, grader and book by their packages: the built book's if they are of this very code."""
    folder, built_with_the_book = tmp_path_factory.mktemp("wheel"), ROOT / "_build" / ".wheel" / "wheel"
    if built_with_the_book.is_dir():
        shutil.copytree(built_with_the_book, folder, dirs_exist_ok=True)
    return extension("delivery.downloads").build_wheels(folder)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium, driven by Playwright: Debian's shell of it without windows, which takes half of the time, or itself."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not program:
        _skip("no chromium on this machine: nothing is tested in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")
    with sync_api.sync_playwright() as playwright:
        # With hints the shell rounds the width of each letter to a pixel, which Chromium with windows does not.
        switches = ["--no-sandbox", "--font-render-hinting=none"]
        running = playwright.chromium.launch(executable_path=program, args=switches)
        yield running
        running.close()


@pytest.fixture(scope="session")
def browser(book: Path, chromium: Any) -> Any:
    """A browser, for a book that is built."""
    return chromium


@pytest.fixture
def visit(browser: Any, site: str) -> Callable[..., Visit]:
    """Open a page of the book: `with visit("intro.html") as v: ...`; a test of one that a preview lacks is skipped."""

    def open_page(path: str, **options: Any) -> Visit:
        if "://" not in path and not (html_folder() / path.partition("?")[0]).is_file():
            pytest.skip(f"{path} is not built")
        return Visit(browser, site, path, **options)

    return open_page


@functools.cache
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
