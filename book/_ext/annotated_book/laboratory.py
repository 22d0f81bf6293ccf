"""The directive `laboratory`: the classroom model at work in the page, with switches for each of its parts.

Its code stands in `annotated.chapters.laboratory`; here it is put among the book's files.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated.chapters.laboratory.script import FOLDER, laboratory_script, model_script
from annotated_book.execution import library_digest


def write_files(app: Sphinx, config: Any) -> None:
    """Write the laboratory into the book's files; the model's script once for each version of the library."""
    folder = Path(app.outdir).parent / ".laboratory"
    place, stamp = folder / "laboratory", folder / "digest"
    place.mkdir(parents=True, exist_ok=True)
    (place / "laboratory.js").write_text(laboratory_script(), encoding="utf-8")
    shutil.copy(FOLDER / "laboratory.css", place)
    if not (place / "model.js").is_file() or not stamp.is_file() or stamp.read_text() != library_digest():
        (place / "model.js").write_text(model_script(), encoding="utf-8")
        stamp.write_text(library_digest())
    config.html_static_path += [str(folder)]


class Laboratory(SphinxDirective):
    """Place the laboratory. The body is what a reader without scripts gets in its stead."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A box with the fallback in it; `laboratory.js` fills it."""
        base = "../" * self.env.docname.count("/") + "_static/laboratory/"
        box = nodes.container(classes=["laboratory"])
        self.state.nested_parse(self.content, self.content_offset, box)
        script = f'<script defer src="{base}laboratory.js"></script>'
        style = f'<link rel="stylesheet" href="{base}laboratory.css">'
        return [nodes.raw("", style, format="html"), box, nodes.raw("", script, format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("laboratory", Laboratory)
    app.connect("config-inited", write_files)
