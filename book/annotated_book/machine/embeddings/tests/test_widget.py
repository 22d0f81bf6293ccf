"""The explorer of neighbours: the nearest rows by cosine, and how what a reader types is understood."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from annotated_book.machine.embeddings.widget import neighbour_explorer
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

SCRIPT = page_folder("embeddings") / "widget.js"
TABLE = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0], [-3.0, 0.0]])
TOKENS = ["▁a", "b", "▁c", "c"]


def test_the_nearest_rows_come_first_without_the_row_itself() -> None:
    widget = neighbour_explorer(TABLE, TOKENS, ["x", "y", "x", "y"], token="a")
    nearest = np.frombuffer(widget.nearest, dtype="<u2").reshape(4, 3)
    cosines = np.frombuffer(widget.cosines, dtype="u1").reshape(4, 3) / 255
    assert nearest[0].tolist() == [1, 2, 3] and nearest[2].tolist()[0] == 1
    assert cosines[0].tolist() == pytest.approx([0.6, 0, 0], abs=0.003), "no bar below zero"
    assert widget.groups == ["x", "y"] and list(widget.group_of) == [0, 1, 0, 1]


@pytest.mark.parametrize("options", [{"token": "z"}, {"groups": ["x"]}])
def test_what_does_not_fit_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no token|must be as many"):
        neighbour_explorer(TABLE, TOKENS, **{"groups": ["x"] * 4, "token": "a", **options})  # type: ignore[arg-type]


def test_a_word_is_found_before_a_part_of_one() -> None:
    code = """({ numberOf, suggestions }, tokens) =>
      [['c', 'b', 'q'].map(t => numberOf(tokens, t)), suggestions(tokens, 'C')]"""
    assert evaluate(SCRIPT, code, TOKENS) == [[2, 1, -1], ["▁c", "c"]]


def test_the_title_counts_the_groups() -> None:
    code = "({ titleOf }) => titleOf('▁a', ['x', 'y', 'y'])"
    assert evaluate(SCRIPT, code) == "Of the 3 nearest rows to “▁a”: 2 y, 1 x"
