"""The chart of a translation as it is written."""

from __future__ import annotations

import pytest

pytest.importorskip("altair")

from annotated.chapters.intro.charts import writing_chart

WEIGHTS = [[0.9, 0.1, 0.0], [0.25, 0.0, 0.75]]
SOURCE, WRITTEN = ["the", "cat", "end"], ["die", "Katze"]


def test_lines_are_the_weights_that_can_be_seen() -> None:
    spec = writing_chart(WEIGHTS, SOURCE, WRITTEN, start=1).to_dict()
    lines = spec["layer"][0]["data"]["values"]
    found = {(line["read"], line["written"]): line["weight"] for line in lines}
    assert found == {("the", "die"): 0.9, ("cat", "die"): 0.1, ("the", "Katze"): 0.25, ("end", "Katze"): 0.75}
    assert {line["row"] for line in lines} == {1, 2}


def test_pieces_stand_on_their_rows_and_the_description_names_the_largest_weight() -> None:
    spec = writing_chart(WEIGHTS, SOURCE, WRITTEN, start=2).to_dict()
    read, wrote = (spec["layer"][i]["data"]["values"] for i in (1, 2))
    assert [row["text"] for row in read] == SOURCE and [row["text"] for row in wrote] == WRITTEN
    lines = spec["layer"][0]["data"]["values"]
    assert all(line["to"] == wrote[line["row"] - 1]["y"] for line in lines)
    assert [row["y"] for row in read] == sorted(row["y"] for row in read)
    assert "die from the; Katze from end" in spec["description"]
    (step,) = [p for p in spec["params"] if "bind" in p]
    assert step["value"] == 2 and step["bind"]["max"] == 2


@pytest.mark.parametrize("start", [0, 3])
def test_a_step_that_does_not_exist_is_refused(start: int) -> None:
    with pytest.raises(ValueError, match="cannot have been written"):
        writing_chart(WEIGHTS, SOURCE, WRITTEN, start=start)


def test_transposed_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="transposed"):
        writing_chart([[0.9, 0.1], [0.5, 0.5], [1, 0]], SOURCE, WRITTEN)
