"""Figure 1 in the margin of every chapter that names parts of it in its front matter.

    chapter:
      figure: [encoder.self_attention, memory]

lights these parts; `figure: []` shows the whole machine as an outline. Each box is a link to its chapter. With scripts
a click opens what leaves the box for the reader's sentence (`book/annotated_book/viz/figure_one/`).

`:::{figure-one}` places the whole drawing, with the shapes of one sentence: what a reader without scripts sees of
chapter 1's machine.

`:::{figure-one-beside}` places the small one beside the words of the front page. What the option `lit` names is lit,
and so is what a switch of the panel below acts on while the reader points at it.
"""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import annotated_book.viz.figure_one
from annotated.analysis.tracing import trace
from annotated.loading import load
from annotated.paper_links import resolve
from annotated_book.intro.frame import SWITCHED
from annotated_book.start.one_sentence.widget import architecture_twin
from annotated_book.viz.figure_one import BOXES, Box, code_of, small_drawing
from annotated_book.viz.figure_one.about import about_machine
from annotated_book.viz.figure_one.boxes import page_of
from annotated_book.viz.figure_one.small import lit_labels
from annotated_book.viz.javascript import esm
from page_kit.authoring.source import SOURCES
from page_kit.chapter.front_matter import chapter
from page_kit.kept import kept
from page_kit.places import Place
from page_kit.raw_html import raw

SENTENCE = ("The grandmother opened the green school bag.", "Die Großmutter hat die grüne Schultasche aufgemacht.")
"""What stands under the two inputs until a reader has typed something else; the model's own translation."""

_FOLDER = Path(annotated_book.viz.figure_one.__file__).parent
_log = logging.getLogger(__name__)


def write_files(app: Sphinx, config: Any) -> None:
    """Put scripts and styles among the files of the live panels, whose model the dialog loads."""
    place = Path(app.outdir).parent / ".machine" / "live"
    place.mkdir(parents=True, exist_ok=True)
    for name in ("small.css", "machine.css"):
        shutil.copy(_FOLDER / name, place)
    for name in ("small.js", "dialog.js"):
        script = f'(() => {{\n"use strict";\n{esm(_FOLDER / name).replace("export ", "")}}})();\n'
        (place / name).write_text(script, encoding="utf-8")
    config.html_static_path += [str(place.parent)]


def _module(file: str) -> str:
    """The book's page of a module of the library."""
    return f"source/{file.removesuffix('.py')}"


def note_code(app: Sphinx, env: Any) -> list[str]:
    """Ask for the pages of the modules that the boxes link to."""
    files = {part["file"] for box in BOXES for part in code_of(box)}
    kept(env, SOURCES)["figure 1"] = {(_module(file), file) for file in files}
    return []


def write_about(app: Sphinx, error: Exception | None) -> None:
    """Write what the dialogs say of the boxes, with links, once all titles are known."""
    if error is not None or app.builder.format != "html":
        return
    about = about_machine(load("classroom").model.config)
    for box, entry in zip(BOXES, about["boxes"], strict=True):
        page = page_of(box)
        if page in app.env.found_docs:
            entry["page"] = {"url": f"{page}.html", "title": app.env.titles[page].astext()}
        entry["paperUrl"] = resolve(box.paper)[2]
        for part in entry["code"]:
            part["url"] = f"{_module(part['file'])}.html#line-{part['lines'][0][0]}"
    place = Path(app.outdir, "_static", "live", "figure_1.js")
    place.write_text(f"globalThis.annotatedFigure1 = {json.dumps(about)};\n", encoding="utf-8")


def in_margin(app: Sphinx, docname: str, lit: list[str]) -> str:
    """The figure, as HTML: a fold on a phone, which a wide page shows open.

    Raises
    ------
    ValueError
        If the drawing has no such part.
    """
    words = html.escape("; ".join(lit_labels(lit)) or "the whole machine")
    english, german = (html.escape(text) for text in SENTENCE)
    return (
        f'<figure class="machine-margin" aria-label="This chapter in figure 1"><details class="machine-fold">'
        f"<summary>This chapter in figure 1: {words}</summary>{drawn(app, docname, lit)}"
        f'<div class="machine-sentence"><p class="english" lang="en">{english}</p>'
        f'<p class="german" lang="de">{german}</p></div></details></figure>{_script(docname)}'
    )


def beside_words(app: Sphinx, docname: str, place: Place) -> nodes.raw:
    """The figure of the front page: open at every width, with the parts that the panel's switches act on."""
    switches = html.escape(json.dumps(list(SWITCHED.values())), quote=True)
    return raw(
        f'<figure class="machine-margin machine-beside" aria-label="The Transformer: figure 1 of the paper" '
        f'data-switches="{switches}">{drawn(app, docname, place["lit"])}</figure>{_script(docname)}'
    )


def _script(docname: str) -> str:
    return f'<script defer src="{"../" * docname.count("/")}_static/live/small.js"></script>'


def drawn(app: Sphinx, docname: str, lit: list[str]) -> str:
    """The drawing, whose boxes lead to their pages."""

    def link(box: Box) -> tuple[str, str]:
        page = page_of(box)
        if page not in app.env.found_docs:
            return "", ""
        return app.builder.get_relative_uri(docname, page), app.env.titles[page].astext()

    return small_drawing(lit, link)


def place_machine(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the figure under the title of a chapter."""
    lit = chapter(app.env, docname).get("figure")
    section = next(iter(doctree.findall(nodes.section)), None)
    if lit is None or section is None or app.builder.format != "html":
        return
    try:
        figure = in_margin(app, docname, [str(name) for name in lit])
    except ValueError as error:
        _log.warning("the front matter's `figure`: %s", error, location=docname)
        return
    title = section.index(next(section.findall(nodes.title)))
    section.insert(title + 1, raw(figure))


class FigureOne(SphinxDirective):
    """The whole drawing without a script."""

    def run(self) -> list[nodes.Node]:
        """The drawing, made from a trace of the sentence that stands in every margin."""
        translator = load("classroom")
        drawn = architecture_twin(trace(translator, SENTENCE[0]), translator.model.config)
        return [raw(drawn._repr_html_())]


class FigureOneBeside(SphinxDirective):
    """The small drawing beside the words of the front page."""

    option_spec: ClassVar = {"lit": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """A place for the drawing."""
        return [Place(fill=beside_words, lit=self.options.get("lit", "").split())]


def setup(app: Sphinx) -> None:
    """Register the directive and connect the rest; the figure goes above the facts, which are placed earlier."""
    app.add_directive("figure-one", FigureOne)
    app.add_directive("figure-one-beside", FigureOneBeside)
    app.setup_extension("page_kit.places")
    app.connect("config-inited", write_files)
    app.connect("doctree-resolved", place_machine, priority=600)
    app.connect("env-updated", note_code)
    app.connect("build-finished", write_about)
    app.add_css_file("live/small.css")
