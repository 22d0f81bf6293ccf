"""The search: lists of contents stay out of its index.

A node of the class `no-search` is on its page but not in the index: a table of contents names every chapter, and would
be found for every word.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LEFT_OUT = "no-search"


def without_lists(doctree: nodes.document) -> nodes.document:
    """The page without what is marked `no-search`; the page itself if nothing is."""

    def marked(tree: nodes.document) -> list[nodes.Element]:
        return [node for node in tree.findall(nodes.Element) if LEFT_OUT in node.get("classes", ())]

    if not marked(doctree):
        return doctree
    copy: nodes.document = doctree.deepcopy()
    for node in marked(copy):
        if node.parent is not None:
            node.parent.remove(node)
    return copy


def index_without_lists(app: Sphinx) -> None:
    """Let every page pass through `without_lists` on its way into the index."""
    if app.builder.format != "html" or not hasattr(app.builder, "index_page"):
        return
    index_page = app.builder.index_page

    def index(pagename: str, doctree: nodes.document, title: str) -> Any:
        return index_page(pagename, without_lists(doctree), title)

    app.builder.index_page = index


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("builder-inited", index_without_lists, priority=900)
