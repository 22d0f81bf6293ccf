"""Effect sizes: what the chapters' cells record with `effect_size`, and where, for the page of claims.

MyST-NB takes what `effect_size` displays out of the page and writes it to a file beside the notebook's output. Here it
is read from there, kept with the environment, and the cell that recorded it becomes an anchor, `effect-c08`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ext import NbMetadataCollector
from sphinx.application import Sphinx

from page_kit.kept import keep, kept
from page_kit.raw_html import raw

FUNCTION = "effect_size"
EFFECTS, ANCHORS = "claim_effects", "page_anchors"
"""What the environment keeps of each page: the effects that its cells recorded, and its anchors."""


@dataclass(frozen=True)
class Effect:
    """A number that a cell computed in this build."""

    claims: tuple[str, ...]
    value: float
    unit: str
    what: str
    page: str
    anchor: str

    @property
    def sentence(self) -> str:
        """The size and what it is of: '16 powers of ten smaller'; without a unit, 'Largest difference: 1.1 · 10⁻⁷'."""
        return f"{self.size} {self.words}" if self.unit else f"{self.words} {self.size}"

    @property
    def words(self) -> str:
        """What stands behind the size, or before it where it has no unit."""
        return self.what if self.unit else f"{self.what[:1].upper()}{self.what[1:]}:"

    @property
    def size(self) -> str:
        """The number with its unit: '16 powers of ten', '40 %', '1.1 · 10⁻⁷'."""
        text = number(100 * self.value) if self.unit == "%" else number(self.value)
        return f"{text} {self.unit}".strip()


def number(value: float) -> str:
    """Three significant digits as a reader writes them.

    Examples
    --------
    >>> number(512), number(41004), number(0.0345), number(1.19e-7), number(0)
    ('512', '41,004', '0.0345', '1.2 · 10⁻⁷', '0')
    """
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    if abs(value) < 1e-3 or abs(value) >= 1e9:
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits} · 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return f"{round(value):,}" if abs(value) >= 1000 else f"{float(f'{value:.3g}'):g}"


def anchor_for(claims: str) -> str:
    """The anchor of a cell that records an effect of these claims: 'effect-c08-p3-2-1-7'."""
    return "-".join(["effect", *claims.lower().replace(".", "-").split()])


def calls(code: str) -> Iterator[str]:
    """The claims that each call of `effect_size` in a cell names.

    Examples
    --------
    >>> list(calls('x = 1\\neffect_size("C08 P3.2.1-7", x, "nats", "more")'))
    ['C08 P3.2.1-7']
    """
    if FUNCTION not in code:
        return
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == FUNCTION and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def effects_of(env: Any, claim: str) -> list[Effect]:
    """The effects of one claim, in the order of the pages' names."""
    known = kept(env, EFFECTS)
    return [one for page in sorted(known) for one in known[page] if claim in one.claims]


def glued(app: Sphinx, docname: str) -> list[dict[str, Any]]:
    """What the cells of a page recorded, as MyST-NB keeps it."""
    keys = NbMetadataCollector.get_doc_data(app.env).get(docname, {}).get("glue", ())
    if not keys:
        return []
    path = Path(app.env.mystnb_config.output_folder, f"{docname}.glue.json")  # type: ignore[attr-defined]
    outputs = json.loads(path.read_text(encoding="utf-8"))
    texts = (outputs[key]["data"]["text/plain"] for key in keys if key.startswith("effect ") and key in outputs)
    return [json.loads(text) for text in texts]


def mark_cells(doctree: nodes.document) -> dict[str, str]:
    """Make cells that record an effect into anchors; which claims are recorded where."""
    found: dict[str, str] = {}
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") != "cell_code":
            continue
        block = next(iter(cell.findall(nodes.literal_block)), None)
        for claims in calls(block.astext()) if block else ():
            if claims not in found:
                found[claims] = anchor_for(claims)
                inside = 1 if isinstance(cell[0], nodes.raw) else 0  # a browser opens the fold that holds a target
                cell.insert(inside, raw(f'<span id="{found[claims]}"></span>'))
    return found


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the effects of a page that was read, and its anchors."""
    docname, places = app.env.docname, mark_cells(doctree)
    kept(app.env, EFFECTS)[docname] = [
        Effect(tuple(one["claims"]), one["value"], one["unit"], one["what"], docname, places[" ".join(one["claims"])])
        for one in glued(app, docname)
        if " ".join(one["claims"]) in places
    ]
    named = (id for node in doctree.findall(nodes.Element) for id in node.get("ids", ()))
    kept(app.env, ANCHORS)[docname] = {*named, *places.values()}


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("doctree-read", collect, priority=800)  # after checks are folded and boxes are made
    keep(app, EFFECTS, ANCHORS)
