"""Formulas are MathML, made at build time: the browser sets them with a shipped font, and no script is loaded.

MathJax would add 280 KiB to a page, and move its text when it starts.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from page_kit.formulas.tex import mathml

_log = logging.getLogger(__name__)
_OPENING, _CLOSING = '([“‘"-', '.,;:!?)]”’"-'


def _made(node: nodes.Element, block: bool) -> str:
    try:
        return mathml(node.astext(), block)
    except ValueError as error:
        _log.warning(str(error), location=node)
        return f"<code>{node.astext()}</code>"


class HeldMark(nodes.Text):
    """Punctuation that its formula writes; it remains in the text of the page, for the search."""


def skip(self: Any, node: HeldMark) -> None:
    """Write nothing."""
    raise nodes.SkipNode


def hold_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each formula in a line the punctuation at its sides: a browser would break the line between the two."""
    if app.builder.format != "html":
        return
    for formula in list(doctree.findall(nodes.math)):
        before, after = (_text_beside(formula, step) for step in (-1, 1))
        kept, rest = before.rstrip(_OPENING), after.lstrip(_CLOSING)
        formula["held"] = before[len(kept) :], after[: len(after) - len(rest)]
        for step, marks, left in ((-1, formula["held"][0], kept), (1, formula["held"][1], rest)):
            if marks:
                siblings = formula.parent.children
                parts = [nodes.Text(left), HeldMark(marks)][::-step]
                formula.parent.replace(siblings[siblings.index(formula) + step], parts)


def _text_beside(node: nodes.Node, step: int) -> str:
    """The text right before (-1) or behind (1) a formula in its paragraph."""
    siblings = node.parent.children
    place = siblings.index(node) + step
    found = siblings[place] if 0 <= place < len(siblings) else None
    return found.astext() if isinstance(found, nodes.Text) else ""


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line; the punctuation at its sides stays with it."""
    before, after = node.get("held", ("", ""))
    opening, closing = ('<span class="held">', "</span>") if before or after else ("", "")
    self.body.append(opening + before + self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{_made(node, False)}</span>{after}{closing}")
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append(f"{_made(node, True)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer that `html_math_renderer` names."""
    app.connect("doctree-resolved", hold_marks)
    app.add_node(HeldMark, html=(skip, None))
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
