"""A page of the book in small, with a note beside each of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class PicturePart(NamedTuple):
    """What stands on a page, and what it means."""

    kind: str
    """The class that draws it; its line is as on real pages."""
    shown: str
    """HTML."""
    note: str
    """HTML."""


_LAYERS = ", ".join(f'<span class="layer">{name}</span>' for name in ("read", "play", "run", "prove"))
PARTS = (
    PicturePart(
        "head",
        '<small>Chapter 7 · Attention</small><b class="name">Masks</b><i>What may position 3 see?</i>'
        "<small><b>Time</b> about 14 min &nbsp; <b>Needs</b> chapter 5, 6 &nbsp; <b>Paper</b> 3.1, 3.2.3</small>",
        "<b>Head.</b> The question of the chapter, its time, and the chapters to read before it.",
    ),
    PicturePart(
        "guess",
        "<b>What do you expect?</b><span>○ It stays the same.</span><span>● It changes.</span>",
        "<b>Prediction.</b> Choose before you read on; the page answers.",
    ),
    PicturePart(
        "paper",
        "<small>The paper</small><span>“masking out (setting to −∞) all values …”</span>",
        "<b>Ochre line.</b> The words of the paper.",
    ),
    PicturePart(
        "heading",
        '<b>Paint a mask <span class="layer">play</span></b>',
        f"<b>Grey word after a heading.</b> What follows it: {_LAYERS}.",
    ),
    PicturePart(
        "margin",
        "<small><b>Shape</b> Mask <code>[B, 1, 1, S]</code></small>",
        "<b>Margin note.</b> A definition, a shape, or a comparison. On a phone it stands in the text.",
    ),
    PicturePart(
        "code",
        "<code>scores.masked_fill(~mask, -inf)</code>",
        "<b>Blue line.</b> Code of the library, taken from it by name.",
    ),
    PicturePart(
        "ours",
        "<code>0.00 &nbsp; 0.31 &nbsp; 0.69</code>",
        "<b>Green line.</b> What a cell printed when the page was made.",
    ),
    PicturePart(
        "plain",
        "<span><b>Result 1.</b> No output depends on a later token.</span><small>▸ 6 checks</small>",
        "<b>Result and checks.</b> The page measures or proves the statement. If a check fails, the book is not built.",
    ),
    PicturePart(
        "claim",
        "<small>Often said: no</small><span>Masked scores may be filled with <code>-1e-12</code>.</span>",
        "<b>Often said.</b> A common belief, its verdict and the reason. <i>Readers ask</i> looks the same.",
    ),
    PicturePart(
        "try",
        '<b>Try it</b><span>Keys that token 3 sees: <span class="box">3</span> ✓</span>',
        "<b>Try it.</b> Type the answer; the page checks it and names a known error.",
    ),
)
_STYLE = Path(__file__).with_suffix(".css")


class PagePicture:
    """The picture, as HTML; a list in a terminal."""

    def __repr__(self) -> str:
        return f"A page in small, with notes on its {len(PARTS)} parts."

    def _repr_html_(self) -> str:
        style, rows = _STYLE.read_text(encoding="utf-8"), ""
        for i, part in enumerate(PARTS):
            place = " first" if i == 0 else " last" if i == len(PARTS) - 1 else ""
            rows += f'<div class="shown of-{part.kind}{place}"><div class="inner">{part.shown}</div></div>'
            rows += f'<div class="note of-{part.kind}">{part.note}</div>'
        return f'<style>{style}</style><div class="page-picture" role="group" aria-label="A page in small">{rows}</div>'


def page_picture() -> PagePicture:
    """What stands on a page and what it means."""
    return PagePicture()
