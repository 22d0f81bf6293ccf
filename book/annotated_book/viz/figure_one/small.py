"""Small drawing of figure 1 for a chapter's margin: the chapter's parts are lit, every box leads to its own page."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable

from annotated_book.viz.figure_one.boxes import BOXES, Box

WIDTH, HEIGHT = 236, 272
ARROWS = ("feedback", "next")
"""What may be lit besides boxes: the arrow that takes a written token back to the decoder, and the next token."""

_W, _ROW = 98, 18  # a column's and a box's size
_LEFT = {"source": 10, "target": 126}
_LABELS = {"decoder.*.self_attention": "Masked attention", "source.sum": "+", "target.sum": "+"}
_TOPS = {
    **{"softmax": 18, "linear": 40},
    **{f"decoder.*.{name}": top for name, top in (
        ("add_norm_3", 68), ("feed_forward", 87), ("add_norm_2", 110), ("cross_attention", 129), ("add_norm_1", 152),
        ("self_attention", 171))},
    **{f"encoder.*.{name}": top for name, top in (
        ("add_norm_2", 110), ("feed_forward", 129), ("add_norm_1", 152), ("self_attention", 171))},
    **{"memory": 72, "sum": 204, "embedding": 228, "positions": 228, "tokens": 252},
}  # fmt: skip


def part_names() -> set[str]:
    """Everything that `lit` may name: boxes without their layer, both stacks, and the arrows."""
    return {box.part for box in BOXES} | {"encoder", "decoder", *ARROWS}


def small_drawing(lit: Iterable[str], link: Callable[[Box], tuple[str, str]]) -> str:
    """Figure 1 as a small SVG element, of use without any script: each box is a link.

    Parameters
    ----------
    lit
        Parts that the chapter is about, as in `part_names`; a stack's name lights all its boxes.
    link
        For a box, the address of its page and the page's title; an empty address makes no link.

    Raises
    ------
    ValueError
        If there is no such part.
    """
    names = set(lit)
    if unknown := names - part_names():
        raise ValueError(f"figure 1 has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(part_names()))}")
    boxes = "".join(_box(box, _is_lit(box, names), *link(box)) for box in BOXES)
    return (
        f'<svg class="machine-small" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'xmlns="http://www.w3.org/2000/svg" role="group" aria-label="Figure 1 in small. {_in_words(names)}">'
        f'<g aria-hidden="true">{_frames()}{_wires(names)}{_words(names)}</g>{boxes}</svg>'
    )


def lit_labels(names: Iterable[str]) -> list[str]:
    """What is lit, in the words of the drawing, each word once for a stack: 'Encoder: Self-attention, Add & Norm'."""
    chosen, words = set(names), []
    for stack, side in (("Encoder", "source"), ("Decoder", "target")):
        lit = dict.fromkeys(box.label for box in BOXES if box.side == side and _is_lit(box, chosen))
        if lit:
            words.append(f"{stack}: {', '.join(lit)}")
    return words + [
        {"feedback": "The written token goes back", "next": "The next token"}[a] for a in ARROWS if a in chosen
    ]


def _is_lit(box: Box, names: set[str]) -> bool:
    return box.part in names or box.name.partition(".*")[0] in names & {"encoder", "decoder"}


def _in_words(names: set[str]) -> str:
    labels = lit_labels(names)
    return (
        f"Lit in this chapter: {html.escape('; '.join(labels))}."
        if labels
        else "This chapter is about the whole machine."
    )


def place(box: Box) -> tuple[int, int, int, int]:
    """x, y, width and height of a box in the small drawing."""
    kind = box.name.rpartition(".")[2]
    x, y = _LEFT[box.side], _TOPS.get(box.name) or _TOPS[kind]
    if kind == "embedding":
        return x, y, 64, _ROW
    if kind == "positions":
        return x + 68, y, _W - 68, _ROW
    return (x + 22, y, 20, 14) if kind == "sum" else (x, y, _W, _ROW)


def _box(box: Box, is_lit: bool, address: str, title: str) -> str:
    x, y, w, h = place(box)
    label = _LABELS.get(box.name, box.label)
    if box.name.endswith("positions"):
        shown = f'<path class="wave" d="M{x + 5} {y + h / 2}q5 -9 10 0t10 0"/>'
    elif box.name.endswith("tokens"):
        shown = f'<text x="{x + w / 2}" y="{y + 12}">{"English" if box.side == "source" else "written so far"}</text>'
    else:
        size = ' class="long"' if len(label) > 15 else ""
        shown = f'<text{size} x="{x + w / 2}" y="{y + h / 2 + 3.5}">{html.escape(label)}</text>'
    side = "encoder" if box.side == "source" else "decoder"
    leads = f"; leads to {title}" if address else ""
    seen = {"source.tokens": "English", "target.tokens": "written so far"}.get(box.name, label)
    said = box.label if seen.lower() in box.label.lower() else f"{seen}: {box.label}"  # the words seen are in the name
    name = html.escape(f"{said} ({side}){leads}", quote=True)
    target = f' href="{html.escape(address, quote=True)}"' if address else ""
    return (
        f'<a class="box {box.kind}{" lit" if is_lit else ""}" data-box="{box.name}" data-side="{box.side}" '
        f'aria-label="{name}"{target}>'
        f'<rect class="body" x="{x}" y="{y}" width="{w}" height="{h}" rx="3"/>{shown}</a>'
    )


def _frames() -> str:
    frame = '<rect class="frame" x="{}" y="{}" width="108" height="{}" rx="5"/>'
    return frame.format(5, 105, 89) + frame.format(121, 63, 131)


def _wires(names: set[str]) -> str:
    """The way up both columns, the memory's way across, and the arrow back; the residuals are in the large drawing."""
    both = ((252, 246), (228, 218), (204, 189), (152, 147))
    ups = {"source": (*both, (110, 90)), "target": (*both, (110, 105), (68, 58), (40, 36), (18, 14))}
    lines = ""
    for side, steps in ups.items():
        left = _LEFT[side]
        lines += "".join(f'<path class="flow" d="M{left + 32} {start}V{end}"/>' for start, end in steps)
        lines += f'<path class="flow" d="M{left + 83} 228V211H{left + 43}"/>'  # positions into the sum
    lines += f'<path class="flow" d="M{_LEFT["source"] + _W} 81H117V138H{_LEFT["target"]}"/>'
    lit = " lit" if "feedback" in names else ""
    return lines + f'<path class="loop{lit}" d="M{_LEFT["target"] + 66} 8H232V261H{_LEFT["target"] + _W + 2}"/>'


def _words(names: set[str]) -> str:
    notes = "".join(
        f'<text class="note" x="{_LEFT[side] + _W}" y="202" text-anchor="end">{name} × N</text>'
        for side, name in (("source", "encoder"), ("target", "decoder"))
    )
    lit = " lit" if "next" in names else ""
    return f'<text class="next{lit}" x="{_LEFT["target"] + 32}" y="11">next token</text>{notes}'
