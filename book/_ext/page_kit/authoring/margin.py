"""The directive `margin`: a note beside the paragraph that follows it.

    :::{margin} Definition
    *Nat*: the unit of information that belongs to the natural logarithm; 1 nat is 1.44 bits.
    :::

The argument is the kind of note, one of `KINDS`. Where there is no margin, on a phone and on paper, the note is a box
in the text.
"""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.raw_html import raw

KINDS = {
    "Definition": "What a word means.",
    "Shape": "The axes of a tensor.",
    "Often said": "A belief, and whether it is true.",
    "Question": "What readers ask.",
    "Versions": "As written, as released, as today.",
    "Name": "What a thing is called elsewhere.",
    "Units": "What a number counts.",
}
"""The kinds of notes, and what each is for."""


class Margin(SphinxDirective):
    """A note of one kind, in an `aside` with the role of a note: ten landmarks a page would help nobody."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The note, or an error that lists the kinds."""
        kind = self.arguments[0].strip()
        if kind not in KINDS:
            message = f"a margin note is one of {', '.join(KINDS)}; {kind!r} is none of them"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        if not any(line.strip() for line in self.content):
            return [self.state.document.reporter.error("a margin note needs a text", line=self.lineno)]
        return note(kind, self.parse_content_to_nodes())


def note(kind: str, body: list[nodes.Node]) -> list[nodes.Node]:
    """A note of a kind around some nodes."""
    name, tone = html.escape(kind, quote=True), kind.lower().replace(" ", "-")
    opening = f'<aside class="margin-note note-{tone}" role="note" aria-label="{name}"><p class="note-kind">{name}</p>'
    return [raw(opening), *body, raw("</aside>")]


def take_the_name(app: Sphinx) -> None:
    """Register the directive once the theme is loaded, which has one of the same name."""
    app.add_directive("margin", Margin, override=True)


def setup(app: Sphinx) -> None:
    """Register the directive and the kit's style."""
    app.connect("builder-inited", take_the_name)
    app.add_css_file("book/kit.css", priority=600)  # after the book's own
