"""The directive `prediction`: a question to commit to before reading on.

    ```{prediction}
    The question.

    - [ ] first option
    - [x] second option, which is right

    What the reader learns after choosing.
    ```

Without JavaScript the options are a list and the explanation unfolds by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated_grader.exercise.options import shuffled
from page_kit.raw_html import raw

_OPTION = re.compile(r"^- \[([ x])\] (?=\S)")


def options(lines: Sequence[str]) -> tuple[list[str], int]:
    """The lines with plain list items for options, shuffled, and the number of the right option, from 1.

    Raises
    ------
    ValueError
        If there are fewer than two options, or not exactly one is right.

    Examples
    --------
    >>> options(["How many?", "", "- [ ] one", "- [x] two", "", "Two."])
    (['How many?', '', '- one', '- two', '', 'Two.'], 2)
    """
    starts = [i for i, line in enumerate(lines) if _OPTION.match(line)]
    if len(starts) < 2:
        raise ValueError("a prediction needs two options or more: `- [ ] wrong` and `- [x] right`")
    if (right := sum(lines[i].startswith("- [x]") for i in starts)) != 1:
        raise ValueError(f"exactly one option of a prediction is right, `- [x]`; here are {right}")
    end = next((i for i in range(starts[-1] + 1, len(lines)) if not lines[i].startswith("  ")), len(lines))
    items = [list(lines[i:j]) for i, j in zip(starts, [*starts[1:], end], strict=True)]
    items = shuffled("\n".join(lines[: starts[0]]), items, "\n".join)
    answer = next(i for i, item in enumerate(items, 1) if item[0].startswith("- [x]"))
    plain = [_OPTION.sub("- ", line) for item in items for line in item]
    return [*lines[: starts[0]], *plain, *lines[end:]], answer


class Prediction(SphinxDirective):
    """A question, its options, and an explanation that opens with the choice."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The box; the script `predictions.js` makes its list a choice."""
        try:
            lines, answer = options(list(self.content))
        except ValueError as error:
            return [self._error(str(error))]
        body = self.parse_text_to_nodes("\n".join(lines))
        where = next((i for i, child in enumerate(body) if isinstance(child, nodes.bullet_list)), None)
        if where is None or len(body[where]) != sum(bool(_OPTION.match(line)) for line in self.content):
            return [self._error("the options of a prediction are one list, each marked `- [ ]` or `- [x]`")]
        if where + 1 == len(body):
            return [self._error("a prediction needs an explanation after its options")]
        box = nodes.container(classes=["prediction"])
        box += nodes.paragraph("", "Commit to a prediction", classes=["prediction-title"])
        box += body[: where + 1]
        box += raw(f'<details data-answer="{answer}"><summary>What happens</summary>')
        box += body[where + 1 :]
        box += raw("</details>")
        return [box]

    def _error(self, message: str) -> nodes.system_message:
        return self.state.document.reporter.error(message, line=self.lineno)


def setup(app: Sphinx) -> None:
    """Register the directive and its scripts."""
    app.add_directive("prediction", Prediction)
    app.add_js_file("book/choice.js", defer="defer", priority=450)  # after the store, before those that use it
    app.add_js_file("book/predictions.js", defer="defer")
