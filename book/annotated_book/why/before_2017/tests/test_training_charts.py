"""Charts of training: a line through the means of the seeds, and the shares of the chosen number of updates."""

from __future__ import annotations

import re

from annotated_book.why.before_2017.training_charts import learning_chart, place_chart
from book.tests.drawing import draw, moved


def test_the_description_tells_the_means_over_seeds() -> None:
    points = [
        {"model": "a", "updates": 1000, "seed": 0, "letters": 0.2},
        {"model": "a", "updates": 1000, "seed": 1, "letters": 0.4},
        {"model": "a", "updates": 3000, "seed": 0, "letters": 0.9},
    ]
    chart = learning_chart(points, 0.1).to_dict()
    assert "a 30% after 1,000 updates; a 90% after 3,000 updates" in chart["description"]
    found = re.findall(r"updates: (\d+); seed: (\d); letters: ([\d.]+)%", draw(chart))
    assert sorted(found) == [("1000", "0", "20.0"), ("1000", "1", "40.0"), ("3000", "0", "90.0")]


def test_places_follow_the_slider() -> None:
    spec = place_chart({"vector": {1000: [1, 0.5], 3000: [0.9, 0.2]}}, 0.1).to_dict()
    found = re.findall(r"measure: vector; position: (\d); right: (\d+)%", draw(moved(spec, at=1)))
    assert set(found) == {("1", "90"), ("2", "20")}
