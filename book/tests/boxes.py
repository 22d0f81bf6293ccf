"""Where a part of a page stands: measured again when the page draws it anew between finding and measuring."""

from __future__ import annotations

import time
from typing import Any


def box_of(part: Any, seconds: float = 10.0) -> dict[str, float]:
    """The rectangle of a locator's or a handle's element, in pixels: x, y, width, height.

    A player replaces its drawing at every step; the browser answers None for one that has just been replaced.
    """
    until = time.monotonic() + seconds
    while (found := part.bounding_box()) is None:
        assert time.monotonic() < until, f"not drawn: {part}"
        time.sleep(0.05)
    return found
