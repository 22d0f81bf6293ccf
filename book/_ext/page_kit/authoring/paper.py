"""The role `paper`: {paper}`3.2.1`, {paper}`equation 1`, {paper}`Table 3` link to the paper, with a hover title."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
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


def setup(app: Sphinx) -> None:
    """Register the role."""
    app.add_role("paper", PaperRole())
