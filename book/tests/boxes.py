"""Parts of a page: a widget, once it is drawn; and where a part stands, also while the page draws it anew."""

from __future__ import annotations

import time
from typing import Any


def drawn_widget(v: Any, name: str, part: str) -> Any:
    """The first widget whose element is `name`, such as ".desk", once it has drawn `part`; scrolled to."""
    v.page.wait_for_selector(f".widget-host[data-ready] {name} {part}")
    widget = v.page.locator(name).first
    widget.scroll_into_view_if_needed()
    return widget


def box_of(part: Any, seconds: float = 10.0) -> dict[str, float]:
    """The rectangle of a locator's or a handle's element, in pixels: x, y, width, height.

    A player replaces its drawing at every step; the browser answers None for one that has just been replaced.
    """
    until = time.monotonic() + seconds
    while (found := part.bounding_box()) is None:
        assert time.monotonic() < until, f"not drawn: {part}"
        time.sleep(0.05)
    return found
