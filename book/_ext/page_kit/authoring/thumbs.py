"""Small drawings beside links to figures: {thumb}`mask` draws one of them."""

from __future__ import annotations

import math

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from page_kit.raw_html import raw

SIZE = 48


def _box(x: float, y: float, w: float, h: float, fill: str = "none", opacity: float = 1) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="1.5" fill="{fill}" fill-opacity="{opacity:.2f}"/>'
    )


def _path(d: str, extra: str = "") -> str:
    return f'<path d="{d}" {extra}/>'


def _machine() -> str:
    boxes = [_box(6, y, 14, 7, "var(--code)", 0.35) for y in (20, 31)]
    boxes += [_box(28, y, 14, 7, "var(--paper)" if y == 20 else "var(--code)", 0.35) for y in (9, 20, 31)]
    return "".join(boxes) + _path("M13 20V14H24V23.5H28M13 44V38M35 44V38M35 9V3")


def _model() -> str:
    words = "".join(_path(f"M{x} 9h{w}", 'stroke-width="4"') for x, w in ((4, 10), (19, 12), (35, 9)))
    lines = "".join(
        _path(f"M{a} 36C{a} 24 {b} 24 {b} 12", 'stroke="var(--ours)"') for a, b in ((9, 9), (24, 40), (40, 25))
    )
    return words + lines + "".join(_path(f"M{x} 40h{w}", 'stroke-width="4"') for x, w in ((4, 10), (19, 12), (35, 9)))


def _query() -> str:
    keys = "".join(
        _path(
            f"M24 26L{24 + 18 * math.cos(a):.1f} {26 - 18 * math.sin(a):.1f}",
            'stroke="var(--code)" stroke-opacity=".6"',
        )
        for a in (0.3, 1.4, 2.5, 3.7, 5.2)
    )
    return f'<circle cx="24" cy="26" r="18" stroke-opacity=".25"/>{keys}' + _path(
        "M24 26L31 6", 'stroke="var(--paper)" stroke-width="3"'
    )


def _mask() -> str:
    cells = ((r, c) for r in range(5) for c in range(5))
    return "".join(_box(5 + 8 * c, 5 + 8 * r, 6.4, 6.4, "var(--code)", 0.6 if c <= r else 0.05) for r, c in cells)


def _heads() -> str:
    places = [(4 + 14 * c, 4 + 14 * r) for r in range(3) for c in range(3)]
    lines = (
        "M1 1l10 10",
        "M1 4l8 8",
        "M4 1l8 8",
        "M11 1v11",
        "M1 1l10 10",
        "M2 11h9",
        "M1 4l8 8",
        "M6 1v11",
        "M1 1l10 10",
    )
    blue = 'stroke="var(--code)" stroke-width="2"'
    drawn = (f'<g transform="translate({x} {y})">{_path(d, blue)}</g>' for (x, y), d in zip(places, lines, strict=True))
    return "".join(_box(x, y, 12, 12) for x, y in places) + "".join(drawn)


def _beam() -> str:
    faint = _path("M5 24L18 10L31 6M18 10L31 15M18 37L31 43", 'stroke-opacity=".35"')
    taken = _path("M5 24L18 37L31 32L44 27", 'stroke="var(--code)" stroke-width="2.4"')
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="2.2" fill="currentColor"/>'
        for x, y in ((5, 24), (18, 10), (18, 37), (31, 6), (31, 15), (31, 32), (31, 43), (44, 27))
    )
    return faint + taken + dots


THUMBS = {"machine": _machine, "model": _model, "query": _query, "mask": _mask, "heads": _heads, "beam": _beam}


def thumb(name: str) -> str:
    """One drawing, as SVG."""
    return (
        f'<svg class="thumb" viewBox="0 0 {SIZE} {SIZE}" fill="none" stroke="currentColor" stroke-width="1.3" '
        f'stroke-linecap="round" aria-hidden="true">{THUMBS[name]()}</svg>'
    )


class ThumbRole(SphinxRole):
    """{thumb}`mask`: a small drawing."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The drawing, or a complaint."""
        if self.text not in THUMBS:
            message = self.inliner.reporter.error(f"there is no drawing {self.text!r}: {', '.join(THUMBS)}")
            return [], [message]
        return [raw(thumb(self.text))], []


def setup(app: Sphinx) -> None:
    """Register the role."""
    app.add_role("thumb", ThumbRole())
