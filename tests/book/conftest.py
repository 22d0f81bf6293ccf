"""A browser, and the built book behind a small server. Without either the tests are skipped, and say so."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def _skip(message: str) -> None:
    warnings.warn(message, stacklevel=1)
    pytest.skip(message)


@pytest.fixture(scope="session")
def book(repository: Path) -> Path:
    """The folder of the built HTML; ANNOTATED_BOOK_HTML may name another."""
    folder = Path(os.environ.get("ANNOTATED_BOOK_HTML", repository / "_build" / "html"))
    if not (folder / "index.html").is_file():
        _skip("the book is not built: run `make book` first; its pages are not tested")
    return folder


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
def browser(book: Path) -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    chromium = shutil.which("chromium")
    if not chromium:
        _skip("no chromium on this machine: the book's pages are not tested")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is in the extra `dev`")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


class Visit:
    """One page in one browser tab, with everything that it asked for and complained about."""

    def __init__(self, browser: Any, site: str, path: str, **options: Any) -> None:
        self.site, self.foreign, self.errors = site, [], []
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.context.set_default_timeout(90_000)  # a busy machine is no failure
        self.page = self.context.new_page()
        self.page.on("request", self._on_request)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.goto(path if "://" in path else f"{site}/{path}")

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith((self.site, "data:", "blob:")):
            self.foreign.append(request.url)

    def draw_charts(self) -> list[Any]:
        """Scroll to every chart, wait until it is drawn, and return the figures."""
        figures = self.page.query_selector_all("figure.chart")
        for figure in figures:
            figure.scroll_into_view_if_needed()
            self.page.wait_for_function("e => e.dataset.ready", arg=figure)
        return figures

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.fixture
def visit(browser: Any, site: str) -> Any:
    """Open a page of the book: `with visit("intro.html") as v: ...`."""
    return functools.partial(Visit, browser, site)
