"""Drawing of the recurrent encoder-decoder, step by step, with attention and without."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
WIDTH, HEIGHT = 362, 312
HALF = 70
"""Numbers in the state of each reader; both together are the decoder's width."""
_LETTERS = "cats"
_COLUMNS = (112, 180, 248, 316)
_ROWS = {"output": 16, "writer": 52, "context": 118, "forward": 190, "backward": 234, "source": 290}
_BOX = (46, 24)
_STEPS = {"forward": (1, 2, 3, 4), "backward": (4, 3, 2, 1), "writer": (5, 6, 7, 8)}
"""The earliest step at which each state can be computed, if a step of each network takes equally long."""
LAST_STEP = max(max(steps) for steps in _STEPS.values())
_TITLES = {
    "plain": "Without attention: one context vector",
    "attention": "With attention: a context vector per step",
}


class EncoderDecoderDrawing(anywidget.AnyWidget):
    """Both models side by side; `step`, from 1, may be set from Python.

    `pictures` holds SVG, `said` a sentence for each step.
    """

    _esm = esm(_HERE / "drawing.js")
    _css = _HERE / "drawing.css"
    pictures = traitlets.Dict().tag(sync=True)
    titles = traitlets.Dict().tag(sync=True)
    said = traitlets.Dict().tag(sync=True)
    last = traitlets.Int(LAST_STEP).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)


def encoder_decoder_drawing() -> EncoderDecoderDrawing:
    """The two models that chapter 3 trains, with the four letters of a word."""
    parts = {"plain": _one_context(), "attention": _attention()}
    pictures = {kind: _figure(kind, [*_readers(), *own, *_writer()]) for kind, own in parts.items()}
    said = {kind: [_saying(kind, step) for step in range(1, LAST_STEP + 1)] for kind in parts}
    return EncoderDecoderDrawing(pictures=pictures, titles=_TITLES, said=said)


def _saying(kind: str, step: int) -> str:
    """What happens in a step."""
    if step <= len(_LETTERS):
        there, back = (_LETTERS[_STEPS[row].index(step)] for row in ("forward", "backward"))
        if step == 1:
            return f"One reader begins with {there}, the other with {back}, both at the same time."
        return f"One reader reads {there}, the other {back}. Each needs its own last state, so neither can go faster."
    at = _STEPS["writer"].index(step)
    if kind == "plain":
        again = "gets the same vector again and" if at else "starts with this vector and"
        begin = "" if at else "The last states of both readers make the one context vector. "
        return f"{begin}The decoder {again} writes {_LETTERS[at]}."
    asks = "The decoder’s last state (dashed)" if at else "A state made from the last states of both readers"
    return (
        f"{asks} is compared with the states at all positions, which gives the weights (thick for much). Their "
        f"weighted mean is the context vector of this step, and the decoder writes {_LETTERS[at]}."
    )


def _figure(kind: str, parts: Sequence[str]) -> str:
    head = '<path class="head" d="M0 0L7 3.5L0 7z"/>'
    marker = (
        f'<marker id="head-{kind}" viewBox="0 0 7 7" refX="6.5" refY="3.5" markerWidth="7" markerHeight="7" '
        f'markerUnits="userSpaceOnUse" orient="auto">{head}</marker>'
    )
    body = "".join(parts).replace("HEAD", f"head-{kind}")
    label = html.escape(
        f"{_TITLES[kind]}. The number in a box is the earliest step at which it can be computed.", quote=True
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}"><defs>{marker}</defs>{body}</svg>'


def _from(step: int, *parts: str, only: bool = False) -> str:
    """Parts that are drawn from a step on, or in this step alone."""
    alone = ' data-only=""' * only
    return f'<g data-step="{step}"{alone}>{"".join(parts)}</g>'


def _arrow(path: str, kind: str = "", width: float = 0) -> str:
    style = f' style="stroke-width:{width}"' if width else ""
    return f'<path class="{kind}" d="{path}"{style} marker-end="url(#HEAD)"/>'


def _state(row: str, column: int) -> str:
    x, y = _COLUMNS[column], _ROWS[row]
    w, h = _BOX
    box = f'<rect class="{row}" x="{x - w / 2}" y="{y - h / 2}" width="{w}" height="{h}" rx="4"/>'
    return f'{box}<text x="{x}" y="{y + 4}">{_STEPS[row][column]}</text>'


def _name(row: str, *lines: str) -> str:
    y = _ROWS[row] + 4 - 6.5 * (len(lines) - 1)
    return "".join(f'<text class="name" x="0" y="{y + 13 * i}">{line}</text>' for i, line in enumerate(lines))


def _readers() -> list[str]:
    """The letters and the two readers: one to the right, one to the left."""
    half, parts = _BOX[0] / 2, []
    last = len(_COLUMNS) - 1
    for j, (x, letter) in enumerate(zip(_COLUMNS, _LETTERS, strict=True)):
        source, there, back = _ROWS["source"], _ROWS["forward"], _ROWS["backward"]
        parts.append(f'<text class="letter" x="{x}" y="{source + 5}">{letter}</text>')
        to_back = [_arrow(f"M{x - 8} {source - 8}V{back + 13}"), _state("backward", j)]
        to_there = [
            _arrow(f"M{x + 30} {source - 2}V{there + 18}L{x + 18} {there + 13}"),
            f'<path d="M{x + 8} {source - 2}H{x + 30}"/>',
            _state("forward", j),
        ]
        if j:
            to_there.append(_arrow(f"M{_COLUMNS[j - 1] + half} {there - 4}H{x - half - 1}"))
        if j < last:
            to_back.append(_arrow(f"M{_COLUMNS[j + 1] - half} {back + 4}H{x + half + 1}"))
        parts += [_from(_STEPS["backward"][j], *to_back), _from(_STEPS["forward"][j], *to_there)]
    names = _name("forward", "reads →", f"{HALF} numbers") + _name("backward", "reads ←", f"{HALF} numbers")
    return [*parts, names, _name("source", "source")]


def _writer() -> list[str]:
    """The decoder: each step waits for the step before."""
    half, parts = _BOX[0] / 2, []
    for j, (x, letter) in enumerate(zip(_COLUMNS, _LETTERS, strict=True)):
        own = [_state("writer", j), _arrow(f"M{x} {_ROWS['writer'] - 12}V{_ROWS['output'] + 6}")]
        own.append(f'<text class="letter" x="{x}" y="{_ROWS["output"] + 2}">{letter}</text>')
        if j:
            own.append(_arrow(f"M{_COLUMNS[j - 1] + half} {_ROWS['writer']}H{x - half - 1}"))
        parts.append(_from(_STEPS["writer"][j], *own))
    return [*parts, _name("writer", "decoder", f"{2 * HALF} numbers"), _name("output", "output")]


def _halves(x: float, width: float) -> str:
    """A context vector: the left half from the reader to the right, the right half from the other."""
    y, h = _ROWS["context"], _BOX[1]
    return (
        f'<rect class="forward" x="{x - width / 2}" y="{y - h / 2}" width="{width / 2}" height="{h}"/>'
        f'<rect class="backward" x="{x}" y="{y - h / 2}" width="{width / 2}" height="{h}"/>'
    )


def _one_context() -> list[str]:
    middle, top = (_COLUMNS[0] + _COLUMNS[-1]) / 2, _ROWS["context"] + 13
    there = _arrow(f"M{_COLUMNS[-1]} {_ROWS['forward'] - 12}V{top + 18}H{middle - 23}V{top}")
    back = _arrow(f"M{_COLUMNS[0] - 23} {_ROWS['backward']}H{_COLUMNS[0] - 31}V{top + 34}H{middle + 23}V{top}")
    given = [
        _from(step, _arrow(f"M{middle} {_ROWS['context'] - 12}L{x} {_ROWS['writer'] + 13}"))
        for x, step in zip(_COLUMNS, _STEPS["writer"], strict=True)
    ]
    name = _name("context", "one vector,", f"{2 * HALF} numbers")
    return [_from(_STEPS["writer"][0], _halves(middle, 92), there, back), *given, name]


def _attention() -> list[str]:
    """The four pairs of states, and for each step of the decoder what it gets of them."""
    pairs = (
        f'<rect class="pair" x="{x - 27}" y="{_ROWS["forward"] - 17}" width="54" height="78" rx="7"/>' for x in _COLUMNS
    )
    steps = (_from(step, *_context_of(j), only=True) for j, step in enumerate(_STEPS["writer"]))
    return [_from(_STEPS["writer"][0], *pairs), *steps, _name("context", "context", "of this step")]


def _context_of(j: int) -> list[str]:
    """The context of the decoder's step j, with the query that asks for it; the weights are an illustration."""
    x, top = _COLUMNS[j], _ROWS["context"] + 13
    near = {0: 0.75, 1: 0.12}
    looks = [
        _arrow(
            f"M{column} {_ROWS['forward'] - 18}L{x + (column - x) / 9} {top}",
            "weight",
            0.8 + 5 * near.get(abs(i - j), 0.03),
        )
        for i, column in enumerate(_COLUMNS)
    ]
    parts = [_halves(x, 64), *looks, _arrow(f"M{x} {_ROWS['context'] - 12}V{_ROWS['writer'] + 13}")]
    if j:
        before = _COLUMNS[j - 1]
        asks = f"M{before} {_ROWS['writer'] + 12}C{before} {top - 20} {x - 60} {top + 14} {x - 4} {top + 14}"
        parts.append(_arrow(asks, "asks"))
    return parts
