"""Charts of byte-pair encoding show the numbers that they are given."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book import recorded
from annotated_book.training.subwords.charts import BODY, growth_chart, pair_chart, vocabulary_chart


def test_pairs_are_shown_merge_by_merge() -> None:
    chart = pair_chart([[("e", "r", 9), ("e", "n", 7)], [("e", "n", 7), ("er", "n", 3)]]).to_dict()
    rows = next(iter(chart["datasets"].values())) if "datasets" in chart else _values(chart)
    assert [(r["m"], r["place"], r["pair"], r["count"]) for r in rows][:3] == [
        (1, 1, "e + r", 9), (1, 2, "e + n", 7), (2, 1, "e + n", 7)
    ]  # fmt: skip
    for wrong in ([[]], [[("a", "b", 1), ("c", "d", 2)]]):
        with pytest.raises(ValueError, match="most frequent first"):
            pair_chart(wrong)


def test_the_body_of_the_base_model_is_counted_right() -> None:
    attention, network, norm = 4 * 512 * 512, 2 * 512 * 2048 + 2048 + 512, 2 * 512
    assert 6 * (3 * attention + 2 * network + 5 * norm) == BODY


def test_the_record_has_what_the_charts_show() -> None:
    found = recorded("subwords").results
    chart = vocabulary_chart({"real text": found["real"], "classroom": found["classroom"]}).to_dict()
    assert "from 67 tokens to 18" in chart["description"] and "37,000" in chart["description"]
    assert "222,961" in growth_chart(found["growth"]).to_dict()["description"]
    with pytest.raises(ValueError, match="classroom"):
        vocabulary_chart({"real text": found["real"]})


def _values(part: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the first chart that carries any."""
    return part["data"]["values"] if "data" in part else _values(part["layer"][0])
