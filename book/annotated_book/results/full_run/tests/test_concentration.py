"""Entropy of the recorded heads: even, single and halved rows by hand; the chart has each head at each validation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from annotated.runs.validation_callbacks import SentenceHeads
from annotated_book.results.full_run.concentration import concentration_chart, spread, spreads


def test_the_entropy_is_one_for_even_rows_and_zero_for_one_key() -> None:
    even, single, half = np.full((1, 4), 20), np.array([[0, 200, 0, 0]]), np.array([[50, 50, 0, 0]])
    found = spread(np.stack([even, single, half, np.zeros((1, 4))])[None])
    assert found.shape == (1, 4)
    assert found[0] == pytest.approx([1, 0, math.log(2) / math.log(4), 0])
    both = spread(np.stack([even[0], single[0]])[None, None])
    assert both[0, 0] == pytest.approx(0.5), "the mean of the rows"


def test_each_head_of_each_update_is_in_the_chart() -> None:
    def sentence(cross: np.ndarray) -> SentenceHeads:
        square = np.zeros((2, 3, 4, 4), np.uint8)
        return SentenceHeads(["a", "b", "c", "</s>"], ["x", "</s>", "y", "z"], square, square, cross)

    even, single = np.full((2, 3, 4, 4), 63, np.uint8), np.zeros((2, 3, 4, 4), np.uint8)
    single[..., 0] = 255
    table = spreads({10: [sentence(even), sentence(even)], 20: [sentence(even), sentence(single)]})
    assert len(table) == 2 * 2 * 3 and set(table["head"]) == {1, 2, 3}
    assert table.groupby("update")["spread"].mean().to_dict() == pytest.approx({10: 1.0, 20: 0.5})
    spec = concentration_chart(table, {10: 1.0, 20: 30.0}, title="What to see").to_dict()
    assert "At update 20: layer 1 0.50, layer 2 0.50" in spec["description"]
    assert '"bind": "legend"' in json.dumps(spec) and len(spec["vconcat"]) == 2
