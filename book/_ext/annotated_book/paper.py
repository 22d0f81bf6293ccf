"""The role `paper`: {paper}`3.2.1`, {paper}`equation 1`, {paper}`Table 3` link to the paper, with a hover title."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from annotated.paper import EQUATIONS, FIGURES, SECTIONS, entries

# Where the tables stand in version 7.
_SECTION_OF_TABLE = {"1": "4", "2": "6.1", "3": "6.2", "4": "6.3"}


def resolve(text: str) -> tuple[str, str, str]:
    """What to show, the title and the address for a reference to the paper.

    Raises
    ------
    KeyError
        If the paper has no such part.
    """
    key = f"section {text}" if text[0].isdigit() else text
    title = entries()[key]
    kind, _, number = key.partition(" ")
    sections = {section.number: section for section in SECTIONS}
    if kind == "equation":
        number = next(e.section for e in EQUATIONS if str(e.number) == number)
    elif kind == "figure":
        number = next(f.section for f in FIGURES if str(f.number) == number)
    elif kind == "Table":
        number = _SECTION_OF_TABLE[number]
    elif kind != "section":
        number = key
    return key, title, sections[number].url


def link_to(key: str) -> nodes.reference:
    """A link to the part of the paper that a key of `annotated.paper.entries` names."""
    shown, title, url = resolve(key.removeprefix("section "))
    return nodes.reference("", shown, refuri=url, reftitle=f"The paper, {shown}: {title}", classes=["paper"])


class PaperRole(SphinxRole):
    """Link to a part of the paper."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the link, or complain if the paper has no such part."""
        try:
            return [link_to(self.text)], []
        except KeyError as error:
            message = self.inliner.reporter.error(f"the paper has no {error.args[0]}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]


def setup(app: Sphinx) -> None:
    """Register the role."""
    app.add_role("paper", PaperRole())
