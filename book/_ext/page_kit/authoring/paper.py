"""The role `paper`: {paper}`3.2.1`, {paper}`equation 1`, {paper}`Table 3` link to the paper, with a hover title."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxRole

from annotated.paper_links import resolve


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


class CapitalOfSentence(SphinxTransform):
    """A link that begins a sentence begins with a capital: "Section 5.1 says", and in a sentence "section 5.1"."""

    default_priority = 400

    def apply(self, **kwargs: object) -> None:
        """Give it to the links of the document."""
        for link in self.document.findall(
            lambda node: isinstance(node, nodes.reference) and "paper" in node["classes"]
        ):
            paragraph = link.parent
            if not isinstance(paragraph, nodes.paragraph) or isinstance(paragraph.parent, nodes.entry):
                continue
            before = "".join(node.astext() for node in paragraph.children[: paragraph.index(link)])
            if not before or (before[-1].isspace() and before.rstrip().endswith((".", "?", "!"))):
                shown = link.astext()
                link.children = []
                link += nodes.Text(shown[0].upper() + shown[1:])


def setup(app: Sphinx) -> None:
    """Register the role, and the capital where it begins a sentence."""
    app.add_role("paper", PaperRole())
    app.add_transform(CapitalOfSentence)
