"""Drawing of one encoder layer in post-norm and in pre-norm: the residual stream, what reads it and what is added."""

from __future__ import annotations

import html
from pathlib import Path

WIDTH, HEIGHT = 300, 392
_STREAM, _SIDE = 84, 212  # where the stream and the boxes beside it stand
_BOX = (128, 32)
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_CHOICES = {
    "all": (
        "everything",
        "A thick line is the residual stream, the vector of one word. Each sub-layer reads it and adds to it.",
    ),
    "sides": (
        "what the sub-layers read and add",
        "In post-norm a sub-layer reads the stream as it is, and the sum is normalised. In pre-norm a sub-layer "
        "normalises what it reads, and its output is added to a stream that no layer normalises.",
    ),
    "bare": (
        "a path that nothing normalises",
        "In pre-norm the stream is such a path, from the embedding to the sum of the last layer. In post-norm there is "
        "none: two LayerNorms stand on the stream in each encoder layer.",
    ),
}


class PlacementDrawing:
    """Both orders side by side, as HTML; a sentence in a terminal."""

    text = (
        "One encoder layer in two orders. Post-norm: attention reads the stream, its output is added, the sum is "
        "normalised on the stream; the same for the feed-forward network. Pre-norm: each sub-layer normalises what it "
        "reads, its output is added, and nothing stands on the stream but one LayerNorm after the last layer."
    )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        choices = "".join(_choice(value, label) for value, (label, _) in _CHOICES.items())
        told = "".join(f'<p class="told told-{value}">{text}</p>' for value, (_, text) in _CHOICES.items())
        panels = _panel("post", "Post-norm (the paper)", _post()) + _panel("pre", "Pre-norm", _pre())
        return (
            f'<div class="norm-places"><style>{_STYLE}</style><fieldset><legend>Light</legend>{choices}</fieldset>'
            f'<div class="panels">{panels}</div><div role="status">{told}</div></div>'
        )


def placement_drawing() -> PlacementDrawing:
    """One encoder layer with the normalisation after the sum, and with it at the sub-layer's input."""
    return PlacementDrawing()


def _choice(value: str, label: str) -> str:
    checked = " checked" if value == "all" else ""
    return f'<label><input type="radio" name="norm-places" value="{value}"{checked}>{label}</label>'


def _panel(kind: str, name: str, parts: str) -> str:
    marker = (
        f'<marker id="places-{kind}" viewBox="0 0 7 7" refX="6" refY="3.5" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L7 3.5L0 7z"/></marker>'
    )
    ends = (
        f'<text x="{_STREAM}" y="{HEIGHT - 4}">x, from below</text>'
        f'<text class="name" x="{WIDTH / 2}" y="16">{name}</text>'
    )
    label = html.escape(f"{name}. {PlacementDrawing.text}", quote=True)
    return (
        f'<svg class="{kind}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}"><defs>{marker}</defs>'
        f"{parts.replace('HEAD', f'places-{kind}')}{ends}</svg>"
    )


def _post() -> str:
    """Twice: the sub-layer beside the stream, the sum, and the LayerNorm on the stream."""
    parts = _stream()
    for bottom, name in ((350, "attention"), (196, "feed-forward")):
        parts += _beside(bottom, bottom - 66, _box(_SIDE, bottom - 34, name)) + _plus(bottom - 66)
        parts += _box(_STREAM, bottom - 104, "LayerNorm", "norm")
    return parts


def _pre() -> str:
    """Twice: LayerNorm and sub-layer beside the stream, then the sum; one LayerNorm at the top of the stack."""
    parts = _stream()
    for bottom, name in ((356, "attention"), (226, "feed-forward")):
        boxes = _box(_SIDE, bottom - 26, "LayerNorm", "norm") + _box(_SIDE, bottom - 70, name)
        parts += _beside(bottom, bottom - 106, boxes) + _plus(bottom - 106)
    last = _box(_STREAM, 68, "LayerNorm", "norm last")
    words = "".join(
        f'<text class="aside" x="158" y="{y}">{text}</text>'
        for y, text in ((64, "once, after"), (80, "the last layer"))
    )
    return parts + last + words


def _stream() -> str:
    line = f'<path class="stream" d="M{_STREAM} {HEIGHT - 20}V34"/>'
    return f'{line}<path class="side" d="M{_STREAM} 36V26" marker-end="url(#HEAD)"/>'


def _beside(bottom: float, top: float, boxes: str) -> str:
    """What leaves the stream at the bottom, goes through the boxes, and comes back at the top."""
    line = f'<path class="side" d="M{_STREAM} {bottom}H{_SIDE}V{top}H{_STREAM + 12}" marker-end="url(#HEAD)"/>'
    return f'<g class="beside">{line}{boxes}</g>'


def _box(x: float, y: float, name: str, kind: str = "sublayer") -> str:
    w, h = _BOX
    place = f'x="{x - w / 2}" y="{y - h / 2}" width="{w}" height="{h}" rx="5"'
    return (
        f'<g class="{kind}"><rect class="ground" {place}/><rect {place}/><text x="{x}" y="{y + 4.5}">{name}</text></g>'
    )


def _plus(y: float) -> str:
    cross = f'<path class="side" d="M{_STREAM - 6} {y}h12M{_STREAM} {y - 6}v12"/>'
    return f'<g class="plus"><circle cx="{_STREAM}" cy="{y}" r="10"/>{cross}</g>'
