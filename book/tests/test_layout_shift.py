"""Text stays where it is when the book's fonts arrive: local fonts of their width and height stand in."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

TYPE = Path(__file__).parents[2] / "book" / "_assets" / "book" / "type.css"
WATCH = """window.shifts = 0;
const count = entry => (window.shifts += entry.hadRecentInput ? 0 : entry.value);
new PerformanceObserver(list => list.getEntries().forEach(count)).observe({ type: "layout-shift", buffered: true });"""
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
"""In the first the text is laid out with its fonts, and what moved is told before the second."""
LATE = 0.4
"""Seconds after which the fonts arrive."""
MOST = 0.02
"""Browsers call a page stable below 0.1; before the fonts stood in for each other, the front page had 0.16."""


@pytest.mark.parametrize(
    ("page", "width"),
    [
        ("intro", 1440),
        ("intro", 390),
        ("machine/embeddings", 390),
        pytest.param("machine/embeddings", 1440, marks=pytest.mark.nightly),
        pytest.param("reference/api/model", 390, marks=pytest.mark.nightly),
        pytest.param("reference/api/model", 1440, marks=pytest.mark.nightly),
    ],
)
def test_late_fonts_move_nothing(visit: Any, page: str, width: int) -> None:
    fonts = subprocess.run(["fc-list"], capture_output=True, text=True).stdout if shutil.which("fc-list") else ""
    if not re.search("DejaVu Serif|Liberation Serif|Noto Serif:|Georgia|Times New Roman", fonts):
        pytest.skip("none of the fonts that stand in is on this machine")

    def prepare(tab: Any) -> None:
        tab.add_init_script(WATCH)
        tab.route("**/*.woff2", lambda route: (time.sleep(LATE), route.continue_()))

    with visit(f"{page}.html", prepare=prepare, viewport={"width": width, "height": 900}) as v:
        v.rest()
        v.page.evaluate("document.fonts.ready")
        assert v.page.evaluate("""document.fonts.check('16px "Source Serif Book"')""")
        v.page.evaluate(TWO_FRAMES)
        assert v.page.evaluate("window.shifts") <= MOST


def test_each_face_has_its_own_stand_ins() -> None:
    faces = re.findall(r'@font-face \{ font-family: "(As [^"]*)";(.*?)\}', TYPE.read_text(encoding="utf-8"))
    kinds: dict[str, int] = {}
    for name, rule in faces:
        keys = ("size-adjust", "ascent-override", "descent-override")
        scale, above, below = (float(re.findall(rf"{key}: ([\d.]+)%", rule)[0]) for key in keys)
        own = (102.5, 27.5) if "mono" in name else (103.6, 33.5)
        assert (scale * above / 100, scale * below / 100) == pytest.approx(own, abs=0.1), "as high as the book's font"
        kinds[name] = kinds.get(name, 0) + 1
    assert kinds == {f"As wide {n}": 3 for n in (1, 2, 3, 4)} | {f"As title {n}": 1 for n in (1, 2, 3, 4)} | {
        f"As wide mono {n}": 1 for n in (1, 2, 3)
    }
