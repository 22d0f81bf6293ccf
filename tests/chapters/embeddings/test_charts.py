"""Charts of embeddings compute what they claim to."""

from __future__ import annotations

import numpy as np
import pytest

from annotated.chapters.embeddings.charts import balance_chart, direction_chart, neighbour_chart, tying_chart
from tests.drawing import texts


@pytest.mark.parametrize(("exponent", "d", "share"), [(0.5, 64, 2 / 3), (0, 64, 1 / 33), (1, 64, 4096 / 4128)])
def test_the_balance_is_the_share_of_squared_lengths(exponent: float, d: int, share: float) -> None:
    shown = texts(balance_chart((d, 512), exponent=exponent).to_dict())
    said = next(text for text in shown if text.startswith("word: "))
    assert f"word: {100 * share:.1f}% at width {d}" in said


def test_the_three_uses_are_named() -> None:
    shown = " ".join(texts(tying_chart().to_dict()))
    for use in ("source embedding", "target embedding", "logits", "V × d_model"):
        assert use in shown


def test_neighbours_are_those_of_the_chosen_piece() -> None:
    given = {"a": [("b", 0.5, "English"), ("c", 0.25, "German")], "z": [("y", 0.75, "German")]}
    shown = texts(neighbour_chart(given, piece="z").to_dict())
    assert "y   (German)" in shown and "nearest to z" in shown
    assert not any(text.startswith(("b ", "c ")) for text in shown)
    with pytest.raises(ValueError, match="'q'"):
        neighbour_chart(given, piece="q")
    with pytest.raises(ValueError):
        neighbour_chart({})


def test_histograms_count_shares_and_refuse_what_is_no_cosine() -> None:
    spec = direction_chart({"one": [0.01, 0.02, 0.03, 0.9], "two": [-0.1]}, "up", step=0.5).to_dict()
    rows = next(iter(spec.get("datasets", {"": spec["data"].get("values")}).values()))
    assert {(r["group"], r["from"]): r["share"] for r in rows} == {
        ("one", 0.0): 0.75,
        ("one", 0.5): 0.25,
        ("two", -0.5): 1.0,
    }
    assert "one 0.24; two -0.10" in spec["description"]
    with pytest.raises(ValueError, match="cosines"):
        direction_chart({"one": np.array([1.5])}, "up")
