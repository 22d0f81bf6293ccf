"""The four runs beside each other: one picture for each, on one scale, with what it writes at the slider's update."""

from __future__ import annotations

import json

from annotated_book import recorded
from annotated_book.training.first_run.small_multiples import TOP, runs_beside_chart


def test_each_run_has_a_picture_of_its_own_before_the_others() -> None:
    results = recorded("first_run").results
    runs = {"C": results["honest"]["log"], "B": results["cheating"]["log"]}
    spec = json.loads(runs_beside_chart(runs, title="Which run is sound?").to_json())
    assert len(spec["concat"]) == 2 and spec["usermeta"]["columns"] == 2
    moment = next(one for one in spec["params"] if one["name"] == "moment")
    assert moment["value"] == moment["bind"]["max"] == 500
    for name, picture in zip(runs, spec["concat"], strict=True):
        others, own = ({row["run"] for row in layer["data"]["values"]} for layer in picture["layer"][:2])
        assert own == {name} and others == set(runs) - {name}
        rows = [row for layer in picture["layer"][:2] for row in layer["data"]["values"]]
        assert {row["kind"] for row in rows} == {"training", "validation"}
        assert max(row["v"] for row in rows) < TOP - 2, "the words stand above the curves"
    assert "run B, training 1.11, validation 0.30" in spec["description"]
    hidden = next(one for one in spec["params"] if one["name"] == "writes")
    assert hidden["value"] is False and "(nothing)" not in spec["description"], "the reader decides first"
