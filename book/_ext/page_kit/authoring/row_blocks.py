"""Tables of words that a phone shows row by row: each cell gets the head of its column.

A table with the class `blocks` is an ordinary table on a wide page. On a narrow one `kit.css` sets every row as a
block, and the heads, which are not seen there, stand before the cells:

    :::{table} What happened, and what prevents it
    :class: blocks
    | what | on record |
    | --- | --- |
    | a host is gone | twice |
    :::

`annotated_book.viz.result_table` does the same with `blocks=True`.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CLASS = "blocks"


class LabelCells(SphinxTransform):
    """Put the head before every cell but the first, which is the title of its block."""

    default_priority = 700

    def apply(self) -> None:
        """Every table of the class."""
        for table in self.document.findall(nodes.table):
            if CLASS in table["classes"]:
                heads = [entry.astext() for entry in next(table.findall(nodes.thead)).findall(nodes.entry)]
                for row in next(table.findall(nodes.tbody)).findall(nodes.row):
                    for head, cell in zip(heads[1:], list(row.findall(nodes.entry))[1:], strict=True):
                        _label(cell, head)


def _label(cell: nodes.Element, head: str) -> None:
    if not cell.astext().strip():
        return  # nothing to be labelled
    label = nodes.inline("", head, classes=["cell-label"])
    first = cell.children[0]
    if isinstance(first, nodes.paragraph):
        first.insert(0, label)
    else:
        cell.insert(0, nodes.paragraph("", "", label))


def setup(app: Sphinx) -> None:
    """Register the transform; its style is the kit's."""
    app.add_transform(LabelCells)
