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
_JOINER = "&#8288;"  # no line breaks between a formula and the comma behind it; Chromium heeds it only in `nowrap`
_OPENING, _CLOSING = '([“‘"-', '.,;:!?)]”’"-'


def _made(node: nodes.Element, block: bool) -> str:
    try:
        return mathml(node.astext(), block)
    except ValueError as error:
        _log.warning(str(error), location=node)
        return f"<code>{node.astext()}</code>"


def _text_beside(node: nodes.Node, step: int) -> str:
    """The text right before (-1) or behind (1) a formula in its paragraph."""
    siblings = node.parent.children
    place = siblings.index(node) + step
    found = siblings[place] if 0 <= place < len(siblings) else None
    return found.astext() if isinstance(found, nodes.Text) else ""


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line; the punctuation at its sides stays with it."""
    beside = [_text_beside(node, step) for step in (-1, 1)]
    before, after = (
        _JOINER if touches else ""
        for touches in (beside[0][-1:] in _OPENING and beside[0], beside[1][:1] in _CLOSING and beside[1])
    )
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{before}{_made(node, False)}{after}</span>")
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
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
