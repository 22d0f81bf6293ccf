"""Our own drawing of figure 1 as SVG: encoder left, decoder right, upwards as in the paper."""

from __future__ import annotations

import html
from collections.abc import Mapping

from annotated_book.viz.figure_one.boxes import BOXES, Box

WIDTH, HEIGHT = 378, 566
_E, _D = 94, 276  # the middle of both columns
_STYLE = """
.architecture { max-width: 100%; margin: 0; }
.architecture [hidden], .architecture[hidden] { display: none; }
.architecture svg.figure-1 { display: block; width: 100%; max-width: 30rem; height: auto; margin: 0 auto; }
.figure-1 text { fill: currentColor; font: 11.5px system-ui, sans-serif; }
.figure-1 .shape, .figure-1 .words { font-size: 10px; }
.figure-1 .shape { opacity: .8; text-anchor: middle; }
.figure-1 .note { font-size: 10px; }
.figure-1 .next { font-size: 17px; font-weight: 600; }
.figure-1 .frame { fill: currentColor; fill-opacity: .035; stroke: currentColor; stroke-opacity: .3; }
.figure-1 .flow { fill: none; stroke: currentColor; stroke-opacity: .65; stroke-width: 1.3; }
.figure-1 .residual { fill: none; stroke: currentColor; stroke-opacity: .4; stroke-width: 1.1; }
.figure-1 .loop { fill: none; stroke: #d9731a; stroke-width: 1.4; stroke-dasharray: 4 3; }
.figure-1 .box rect.body { fill: var(--kind); fill-opacity: .13; stroke: var(--kind); stroke-width: 1.2; }
.figure-1 .box rect.edge { fill: var(--kind); }
.figure-1 .text { --kind: #8a8f98; } .figure-1 .embedding { --kind: #b45fc4; }
.figure-1 .attention { --kind: #d9731a; } .figure-1 .norm { --kind: #8a8f98; }
.figure-1 .feed-forward { --kind: #3b83d6; } .figure-1 .memory, .figure-1 .output { --kind: #2f9e6e; }
html[data-theme="dark"] .bd-content div.cell_output .output.text_html:has(.architecture) {
  background: none; color: inherit; padding: 0; }
"""


def box_svg(box: Box, shape: str) -> str:
    """One box: a group with a frame, a label, and a slot that holds the shape until a script draws the tensor."""
    x, y, w, h = box.place
    return (
        f'<g class="box {box.kind}" data-box="{box.name}">'
        f'<rect class="body" x="{x}" y="{y}" width="{w}" height="{h}" rx="5"/>'
        f'<rect class="edge" x="{x}" y="{y}" width="4" height="{h}" rx="2"/>'
        f'<text class="label" x="{x + 9}" y="{y + 13}">{html.escape(box.label)}</text> '
        f'<g class="slot"><text class="shape" x="{x + w / 2}" y="{y + h - 9}">{html.escape(shape)}</text></g></g>'
    )


def drawing(shapes: Mapping[str, str], layers: int, words: tuple[str, str] = ("", "")) -> str:
    """Figure 1 as an SVG element, readable without any script.

    Parameters
    ----------
    shapes
        What to print in each box, by its name: the shape of the tensor that leaves it.
    layers
        L, written beside both stacks.
    words
        What has been written so far, and the next token.
    """
    read, following = (html.escape(word) for word in words)
    title = "The Transformer, drawn after figure 1 of the paper"
    description = (
        "Encoder on the left, decoder on the right, both read from the bottom to the top. Tokens become vectors, "
        "positions are added, and a stack of layers follows. The output of the last encoder layer, the memory, enters "
        "the cross-attention of every decoder layer. A linear map and a softmax give the next token, which is appended "
        "to the decoder's input."
    )
    return (
        f'<svg class="figure-1" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        f'role="img" aria-label="{title}. {description}"><style>{_STYLE}</style>'
        f'<g aria-hidden="true">{_stacks(layers)}{_wires()}{_next(read, following)}</g>'
        + "".join(box_svg(box, shapes.get(box.name, box.shape)) for box in BOXES)
        + "</svg>"
    )


def _arrow(path: str, kind: str = "flow") -> str:
    """A line that ends in an arrow head at its last point, upwards or sideways."""
    return f'<path class="{kind}" d="{path}" marker-end="url(#figure-1-{kind})"/>'


def _stacks(layers: int) -> str:
    frame = '<rect class="frame" x="{}" y="{}" width="170" height="{}" rx="9"/>'
    return (
        frame.format(9, 208, 200)
        + frame.format(199, 114, 294)
        + '<text class="note" x="12" y="203">Encoder</text><text class="note" x="203" y="109">Decoder</text>'
        + f'<text class="note which" x="176" y="203" text-anchor="end">{layers} layers</text>'
        + f'<text class="note which" x="366" y="109" text-anchor="end">{layers} layers</text>'
    )


def _wires() -> str:
    """The way up through both columns, the residual connections, the memory's way across, and the loop."""
    heads = "".join(
        f'<marker id="figure-1-{kind}" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" '
        f'orient="auto"><path d="M0 0L6 3L0 6z" fill="{colour}"/></marker>'
        for kind, colour in (("flow", "#8a8f98"), ("residual", "#8a8f98"), ("loop", "#d9731a"))
    )
    parts = [f"<defs>{heads}</defs>"]
    through = ((422, 395), (356, 351), (312, 301), (262, 257))
    ups = {_E: (*through, (218, 187)), _D: (*through, (218, 207), (168, 163), (124, 97), (58, 47))}
    for middle, steps in ups.items():
        parts += [_arrow(f"M{middle} {start}V{end}") for start, end in steps]
        # Tokens into their table, and both vectors into the sum.
        parts += [
            _arrow(f"M{middle - 33} 522V511"),
            _arrow(f"M{middle - 33} 472V461"),
            _arrow(f"M{middle + 42} 472V461"),
        ]
    for start, end in ((403, 331), (306, 237)):
        parts.append(_arrow(f"M{_E} {start}H14V{end}H21", "residual"))
    for start, end in ((403, 331), (306, 237), (212, 143)):
        parts.append(_arrow(f"M{_D} {start}H361V{end}H349", "residual"))
    parts.append(_arrow("M166 167H186V281H203"))
    parts.append(_arrow("M204 27H181"))
    parts.append(_arrow("M348 27H372V540H349", "loop"))
    return "".join(parts)


def _next(read: str, following: str) -> str:
    """The card in the corner: what has been written, and the piece that comes next."""
    return (
        '<rect class="frame" x="9" y="10" width="170" height="112" rx="9"/>'
        '<text class="note" x="20" y="29">the next token</text>'
        f'<text class="next" x="20" y="52">{following}</text>'
        '<text class="note chance" x="20" y="70"></text>'
        '<text class="note" x="20" y="94">written so far</text>'
        f'<text class="note so-far" x="20" y="110">{read}</text>'
    )
