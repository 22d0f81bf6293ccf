"""The directive `live`: a panel in which the classroom model works in the page.

`:::{live} NAME` places the panel NAME of the `live.js` in the page's folder, with the looks of `live.css` beside it, if
there is one. The body is for readers without scripts. `:sentence:` is the English sentence that the panel starts with;
`:wide:` gives it the margin too. If the page's folder has a module `frame` with a function of that name, its HTML is
the panel's first picture, which stands there until the script takes over.
"""

from __future__ import annotations

import re
import shutil
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated_book.pages import BOOK, page_folder
from annotated_book.viz.engine.script import FOLDER, MODELS, live_files, model_script
from annotated_book.viz.javascript import classic_script
from page_kit.raw_html import raw
from page_kit.reference.execution import library_digest


def write_files(app: Sphinx, config: Any) -> None:
    """Write the panels into the book's files; the models' scripts once for each version of the library."""
    folder = Path(app.outdir).parent / ".live"
    place, stamp = folder / "live", folder / "digest"
    place.mkdir(parents=True, exist_ok=True)
    for page, file in live_files().items():
        (place / f"{page}.js").write_text(classic_script(file), encoding="utf-8")
        if (looks := file.with_suffix(".css")).is_file():
            shutil.copy(looks, place / f"{page}.css")
    shutil.copy(FOLDER / "panel.css", place)
    fresh = stamp.is_file() and stamp.read_text() == library_digest()
    if not fresh or not all((place / file).is_file() for file, _ in MODELS.values()):
        for name, (file, _) in MODELS.items():
            (place / file).write_text(model_script(name), encoding="utf-8")
        stamp.write_text(library_digest())
    config.html_static_path += [str(folder)]


def first_frame(page: str, name: str, sentence: str | None) -> str:
    """The HTML of a panel's first picture; empty if it has none."""
    module = ".".join(["annotated_book", *page_folder(page).relative_to(BOOK).parts, "frame"])
    made = getattr(import_module(module), name, None) if find_spec(module) else None
    return made(sentence) if made else ""


class Live(SphinxDirective):
    """Place a live panel. The body is what a reader without scripts gets in its stead."""

    has_content = True
    required_arguments = 1
    option_spec = {"sentence": directives.unchanged_required, "wide": directives.flag}

    def run(self) -> list[nodes.Node]:
        """A box with the fallback in it, which the page's script fills."""
        name, page = self.arguments[0], self.env.docname.rpartition("/")[2]
        file = live_files().get(page)
        if file is None or not re.search(rf"\b{re.escape(name)}\b", file.read_text(encoding="utf-8")):
            message = f"there is no live panel {name!r}: live.js of the page {page} should mount it"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        if not self.content:
            message = f"the live panel {name!r} needs a body: what readers without scripts get"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        sentence = self.options.get("sentence")
        start = f' data-sentence="{escape(sentence)}"' if sentence else ""
        frame = first_frame(page, name, sentence)
        wide = " wide" if frame or "wide" in self.options else ""
        head = f'<div class="live{wide}" data-panel="{escape(name)}"{start}>{frame}<div class="live-fallback">'
        opened, closed = (raw(text) for text in (head, "</div></div>"))
        return [*self._files(page), opened, *self.parse_content_to_nodes(), closed]

    def _files(self, page: str) -> list[nodes.Node]:
        """Script and looks, once on each page."""
        if self.env.temp_data.get("live"):
            return []
        self.env.temp_data["live"] = True
        base = "../" * self.env.docname.count("/") + "_static/live/"
        sheets = ["panel"] + [page] * live_files()[page].with_suffix(".css").is_file()
        links = "".join(f'<link rel="stylesheet" href="{base}{sheet}.css">' for sheet in sheets)
        return [raw(f'{links}<script defer src="{base}{page}.js"></script>')]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("live", Live)
    app.connect("config-inited", write_files)
