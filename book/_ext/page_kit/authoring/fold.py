"""The directive `fold`: what only some readers need, behind one line that says what it is.

    :::{fold} The whole function
    ```{library-source} annotated.training.update.update
    ```
    :::

Code cells cannot stand in it; a cell has the tag `hide-input`.
"""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.raw_html import raw


class Fold(SphinxDirective):
    """Prose, tables or listings that open when their line is chosen; on paper they are open."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The line and what it hides, or an error if that is nothing."""
        if not any(line.strip() for line in self.content):
            return [self.state.document.reporter.error("a fold needs something to hide", line=self.lineno)]
        body = nodes.container("", *self.parse_content_to_nodes(), classes=["fold-body"])
        opening = f'<details class="fold"><summary>{html.escape(self.arguments[0].strip())}</summary>'
        return [raw(opening), body, raw("</details>")]


def setup(app: Sphinx) -> None:
    """Register the directive; its style is the kit's."""
    app.add_directive("fold", Fold)
