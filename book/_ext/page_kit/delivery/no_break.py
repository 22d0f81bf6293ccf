"""No line breaks between a number and its percent sign: the space that the source has becomes one that keeps them."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

_SPACE = re.compile(r"(?<=\d) (?=%)")
_AS_WRITTEN = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)
"""What a reader may copy, or a program reads."""


def keep_together(text: str) -> str:
    """A text whose percent signs stay with their numbers."""
    return _SPACE.sub("\u00a0", text)


def change(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Every text of a page but code and formulas."""
    for text in list(doctree.findall(nodes.Text)):
        kept = keep_together(text)
        if kept != text and not _is_within(text, _AS_WRITTEN):
            text.parent.replace(text, nodes.Text(kept))


def _is_within(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while (parent := node.parent) is not None:
        if isinstance(parent, kinds):
            return True
        node = parent
    return False


def setup(app: Sphinx) -> None:
    """Register it."""
    app.connect("doctree-resolved", change)
