"""The directive `prediction`: a question to commit to before reading on.

    ```{prediction}
    :answer: 2

    The question.

    - first option
    - second option

    What the reader learns after choosing.
    ```

Without JavaScript the options are a list and the explanation unfolds by hand.
"""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Prediction(SphinxDirective):
    """A question, its options, and an explanation that opens with the choice."""

    has_content = True
    option_spec = {"answer": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """The box; the script `predictions.js` makes its list a choice."""
        body = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, body)
        where = next((i for i, child in enumerate(body.children) if isinstance(child, nodes.bullet_list)), None)
        answer = self.options.get("answer", 0)
        if where is None or not 1 <= answer <= len(body[where]):
            message = "a prediction needs a list of options and an :answer: that counts them from 1"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        if where + 1 == len(body):
            message = "a prediction needs an explanation after its options"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        box = nodes.container(classes=["prediction"])
        box += nodes.paragraph("", "Commit to a prediction", classes=["prediction-title"])
        box += body.children[: where + 1]
        box += nodes.raw("", f'<details data-answer="{answer}"><summary>What happens</summary>', format="html")
        box += body.children[where + 1 :]
        box += nodes.raw("", "</details>", format="html")
        return [box]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("prediction", Prediction)
