"""HTML among the nodes of a page, as it stands."""

from __future__ import annotations

from docutils import nodes


def raw(html: str) -> nodes.raw:
    """A node that only a page of HTML has."""
    return nodes.raw("", html, format="html")
