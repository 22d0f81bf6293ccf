"""A page of the book in a browser tab: what it asks for, what it complains about, its charts, and what axe finds."""

from __future__ import annotations

import functools
import time
from importlib import resources
from typing import Any, NamedTuple

import pytest

AXE_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
AXE_EXTRA = ("label-content-name-mismatch", "target-size")
"""Rules that axe leaves out unless they are asked for by name."""
AXE_LOOKS = ("color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable")
"""Rules that other colours or another width may break."""
_MEDIA = {"color_scheme", "reduced_motion", "forced_colors"}
_MARKS = ".chart-stage svg, .chart-still, math"
_OPEN_FOLDS = "e => { for (let d = e.closest('details'); d; d = d.parentElement.closest('details')) d.open = true; }"
_DRAWN = """e => e.dataset.ready
  && (e.chart !== e.before || !/"usermeta"|"container"/.test(e.querySelector("script").textContent))"""
"""A chart is drawn; if it follows the width of its page, drawn again since `resize`, which happens after a pause."""
_ALL_SHOWN = """try { localStorage.getItem("reading") ?? localStorage.setItem("reading", "prove"); }
  catch { /* private */ }"""
"""Tests see what waits behind marks, too."""
_FORGET = "localStorage.clear(), sessionStorage.clear()"
_MOST_LEFT = 3
"""Pages that stay open: those of a chapter, wide and narrow, light and dark."""
_Kind = frozenset[tuple[str, Any]]


class _Heard(NamedTuple):
    """What a page asked for and complained about, and the requests without an answer."""

    asked: list[str]
    foreign: list[str]
    errors: list[str]
    waiting: set[Any]


class _Tabs:
    """Tabs that were used and cleaned: a new one, with a process of its own, costs twice what a page in it does."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self._windows: dict[_Kind, Any] = {}
        self._idle: dict[_Kind, list[Any]] = {}
        self._left: dict[tuple[Any, ...], tuple[Any, _Heard]] = {}

    def take(self, kind: _Kind) -> Any:
        """One that looks new, in a window with those options."""
        if self._idle.get(kind):
            return self._idle[kind].pop()
        if kind not in self._windows:
            self._windows[kind] = self.browser.new_context(**dict(kind))
        return self._windows[kind].new_page()

    def take_as_left(self, key: tuple[Any, ...]) -> tuple[Any, _Heard] | None:
        """The page with that key if somebody has left it open, and what was heard of it."""
        return self._left.pop(key, None)

    def leave_open(self, key: tuple[Any, ...], page: Any, heard: _Heard) -> None:
        """Keep a page as it is for the next test of it; the tab of the one that was left first is for others."""
        page.evaluate(_FORGET)
        page.mouse.move(0, 0)
        self._left[key] = page, heard
        if len(self._left) > _MOST_LEFT:
            first = next(iter(self._left))
            self.give_back(first[0], self._left.pop(first)[0])

    def give_back(self, kind: _Kind, page: Any) -> None:
        """Clear what its page has kept, and let somebody else have it."""
        page.evaluate(_FORGET)
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.emulate_media(**dict.fromkeys(("media", *_MEDIA), "null"))
        self._idle.setdefault(kind, []).append(page)


_tabs = functools.cache(_Tabs)


class Visit:
    """One page in one browser tab, with everything that it asked for and complained about.

    Most take a tab that somebody had before. Who has something to `prepare`, or is `alone` in a window, gets a new one.
    Who does not mind what the tests before have done to a page takes it `as_left`, and leaves it open: loading a page
    costs more than most tests do.
    """

    def __init__(
        self,
        browser: Any,
        site: str,
        path: str,
        prepare: Any = None,
        alone: bool = False,
        as_left: bool = False,
        **options: Any,
    ) -> None:
        self.site = site
        size = options.pop("viewport", {"width": 1280, "height": 900})
        media = {name: options.pop(name) for name in _MEDIA & set(options)}
        self._tabs, self._kind = _tabs(browser), frozenset(options.items())
        self._is_shared, self._is_left = not (alone or prepare), as_left
        self._key = self._kind, path, *size.values(), *sorted(media.items())
        left = self._tabs.take_as_left(self._key) if as_left else None
        self.page, heard = left or (self._new_page(browser, options), _Heard([], [], [], set()))
        self._heard = heard
        self.asked, self.foreign, self.errors, self._waiting = heard
        self.context = self.page.context
        self.context.set_default_timeout(30_000)  # a busy machine is no failure
        self._listeners = {"request": self._on_request, "pageerror": self._on_error, "console": self._on_message}
        self._listeners |= dict.fromkeys(("requestfinished", "requestfailed"), self._on_answer)
        for event, listener in self._listeners.items():
            self.page.on(event, listener)
        self.page.bring_to_front()  # in a tab behind others Chromium draws one frame a second
        if not left:
            self.page.set_viewport_size(size)
            self.page.emulate_media(**media)
            if prepare:
                prepare(self.page)
            self.page.goto(path if "://" in path else f"{site}/{path}")

    def _new_page(self, browser: Any, options: dict[str, Any]) -> Any:
        page = self._tabs.take(self._kind) if self._is_shared else browser.new_context(**options).new_page()
        page.add_init_script(_ALL_SHOWN)
        return page

    def _on_error(self, error: Any) -> None:
        self.errors.append(str(error))

    def _on_message(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _on_answer(self, request: Any) -> None:
        self._waiting.discard(request)

    def _on_request(self, request: Any) -> None:
        self._waiting.add(request)
        self.asked.append(request.url)
        if not request.url.startswith((self.site, "data:", "blob:")):
            self.foreign.append(request.url)

    def rest(self, longest: float = 20) -> None:
        """Wait until everything that was asked for is there, and half a second goes by without another request.

        Playwright's own `networkidle` misses that moment on a busy machine, and then never comes.
        """
        before, end = -1, time.monotonic() + longest
        while (before != len(self.asked) or self._waiting) and time.monotonic() < end:
            before = len(self.asked)
            self.page.wait_for_timeout(500)

    def draw_charts(self) -> list[Any]:
        """Scroll to every chart, wait until it is drawn for its width, and return the figures."""
        return [self.draw(figure) for figure in self.page.query_selector_all("figure.chart")]

    def draw(self, figure: Any) -> Any:
        """Scroll to one chart, in a fold that is opened for it, and wait until it is drawn."""
        figure.evaluate(_OPEN_FOLDS)
        figure.scroll_into_view_if_needed()
        self.page.wait_for_function(_DRAWN, arg=figure)
        return figure

    def axe(self, *only: str, within: str = "", marks: bool = True, code: bool = True) -> list[str]:
        """What axe-core finds wrong, WCAG 2.2 AA and best practice.

        `within` names the parts of the page that a test has changed. The rest of a page is judged by `test_pages.py`,
        and takes three times as long as a panel does: colours are looked at word by word.

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
            "([within, options]) => axe.run(within || document, options)",  # who finds nothing `within` fails
            [within, {**options, "resultTypes": ["violations"], "preload": False}],
        )
        return [f"{fault['id']}: {node['html'][:160]}" for fault in found["violations"] for node in fault["nodes"][:3]]

    def resize(self, size: dict[str, int]) -> None:
        """Give the page another width; `draw` then waits until the charts that follow it are drawn again."""
        self.page.evaluate("document.querySelectorAll('figure.chart').forEach(e => { e.before = e.chart; })")
        self.page.set_viewport_size(size)

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
        elif self._is_left:
            self._tabs.leave_open(self._key, self.page, self._heard)
        else:
            self._tabs.give_back(self._kind, self.page)
