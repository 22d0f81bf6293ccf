"""Networks silenced in every combination: the table agrees with the library's loss, and the chart shows all of it."""

from __future__ import annotations

import json

import pytest

import annotated
from annotated.analysis.feed_forward import pair_loss, silenced
from annotated.classroom import classroom_pairs
from annotated_book.machine.feed_forward.subsets import MEASURES, rises_without, subsets_chart


def test_all_seven_sets_are_measured_and_drawn() -> None:
    loaded = annotated.load("classroom")
    pairs = [(p.source, p.target) for p in classroom_pairs("test", 12)]
    table = rises_without(loaded.model, loaded.tokenizer, pairs)
    assert table["off"].tolist() == ["1", "2", "3", "1, 2", "1, 3", "2, 3", "1, 2, 3"]
    whole = pair_loss(loaded.model, loaded.tokenizer, pairs)
    with silenced(loaded.model.encoder.layers[1].feed_forward):
        rise = pair_loss(loaded.model, loaded.tokenizer, pairs) - whole
    assert table["rise"][1] == pytest.approx(rise, abs=1e-4)
    single = table[table["count"] == 1]
    assert (single["rise"] == single["rise, sum"]).all() and (single["lead lost"] == single["lead lost, sum"]).all()
    assert table["lead lost, sum"].iloc[-1] == pytest.approx(single["lead lost"].sum())
    drawn = json.dumps(subsets_chart(table).to_dict())
    assert drawn.count('"off": "1, 2, 3"') == len(MEASURES)
