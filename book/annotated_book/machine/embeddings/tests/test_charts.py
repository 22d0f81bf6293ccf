"""Charts of embeddings compute what they claim to."""

from __future__ import annotations

import numpy as np
import pytest

from annotated_book.machine.embeddings.charts import balance_chart, direction_chart
from book.tests.drawing import draw, rows, texts


@pytest.mark.parametrize(("exponent", "d", "share"), [(0.5, 64, 2 / 3), (0, 64, 1 / 33), (1, 64, 4096 / 4128)])
def test_the_balance_is_the_share_of_squared_lengths(exponent: float, d: int, share: float) -> None:
    drawn = draw(balance_chart((d, 512), exponent=exponent).to_dict())
    assert f"word: {100 * share:.1f}% at width {d}" in drawn


def test_strips_count_shares() -> None:
    spec = direction_chart({"one": [0.01, 0.02, 0.03, 0.9], "two": [-0.1]}, "up", step=0.5).to_dict()
    counted = {(r["group"], r["from"]): r["share"] for r in rows(spec, "share")}
    assert counted == {("one", 0.0): 0.75, ("one", 0.5): 0.25, ("two", -0.5): 1.0}
    assert "one 0.24; two -0.10" in spec["description"]
    assert {"one: mean 0.24", "two: mean -0.10"} <= set(texts(spec))


def test_a_direction_needs_cosines() -> None:
    with pytest.raises(ValueError, match="cosines"):
        direction_chart({"one": np.array([1.5])}, "up")
