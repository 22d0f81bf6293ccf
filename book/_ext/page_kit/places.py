"""Places that are filled once every page has been read: a directive leaves one, with the function that fills it."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


class Place(nodes.General, nodes.Element):
    """Where `place["fill"](app, docname, place)` goes, a node or several; a function of a module, for it is pickled."""


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Fill all places of a page."""
    for place in list(doctree.findall(Place)):
        place.replace_self(place["fill"](app, docname, place))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it; each part that leaves places asks for it, as for an extension, which is set up once."""
    app.add_node(Place)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
