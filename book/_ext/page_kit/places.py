"""Places that are filled once every page has been read: a directive leaves one, with the function that fills it.

They are filled before references are resolved, so that what fills a place may refer to other pages.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class Place(nodes.General, nodes.Element):
    """Where `place["fill"](app, docname, place)` goes, a node or several; a function of a module, for it is pickled."""


class FillPlaces(SphinxPostTransform):
    """Fill all places of a page."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace each place."""
        for place in list(self.document.findall(Place)):
            place.replace_self(place["fill"](self.app, self.env.docname, place))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it; each part that leaves places asks for it, as for an extension, which is set up once."""
    app.add_node(Place)
    app.add_post_transform(FillPlaces)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
