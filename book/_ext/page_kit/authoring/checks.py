"""Checks: a cell with the tag `check` only verifies, and is one line in the page, "6 checks passed", that opens.

The book is not built unless every check holds. How many there are is read off the cell's code: its `assert` statements,
and its calls of functions named `assert_...`, as in `torch.testing.assert_close`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from page_kit.raw_html import raw

TAG = "tag_check"
_log = logging.getLogger(__name__)


def count_checks(code: str) -> int:
    """How many checks a cell's code has, each counted once wherever it stands.

    Examples
    --------
    >>> count_checks("assert x == 1\\nfor y in z:\\n    torch.testing.assert_close(y, x)")
    2
    """
    return sum(map(_is_check, ast.walk(ast.parse(code))))


def _is_check(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return str(name).startswith("assert_")
    return isinstance(node, ast.Assert)


def in_words(count: int) -> str:
    """'1 check passed', '6 checks passed'."""
    return f"{count} check{'' if count == 1 else 's'} passed"


def cells(doctree: nodes.Node) -> Iterator[nodes.container]:
    """The cells of a page that are checks."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and TAG in cell["classes"]:
            yield cell


def fold_checks(app: Sphinx, doctree: nodes.document) -> None:
    """Fold each check, warn of one that checks nothing, and note how many the page has."""
    counts = app.env.metadata[app.env.docname]["checks"] = []
    for cell in cells(doctree):
        code = next(iter(cell.findall(nodes.literal_block)), None)
        count = count_checks(code.astext()) if code else 0
        if not count:
            _log.warning("a cell tagged `check` has no assert", location=cell)
        counts.append(count)
        opening = f'<details class="checks"><summary>{in_words(count)}</summary>'
        cell.insert(0, raw(opening))
        cell += raw("</details>")


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("doctree-read", fold_checks)
