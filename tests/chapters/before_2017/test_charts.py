"""Charts of recurrent models show the numbers that they were given."""

from __future__ import annotations

import re

import pytest

from annotated.chapters.before_2017.charts import alignment_chart, length_chart, probe_chart, timeline_chart
from annotated.chapters.before_2017.timeline import TIMELINE
from tests.drawing import draw, moved

CURVES = {"letters": {"a": [[1.0, 0.5], [0.8, 0.1]]}, "whole": {"a": [[0.4, 0.0], [0.2, 0.0]]}}


def test_points_are_means_over_seeds_of_the_chosen_measure() -> None:
    spec = length_chart([2, 4], CURVES, 3, 0.1).to_dict()
    for measure, expected in (("letters", {90.0, 30.0}), ("whole", {30.0, 0.0})):
        assert {
            float(x) for x in re.findall(r"share right: ([\d.]+)%; model: a", draw(moved(spec, measure=measure)))
        } == expected
    with pytest.raises(ValueError, match="one for each length"):
        length_chart([2, 4, 6], CURVES, 3, 0.1)


def test_alignment_has_a_row_for_each_written_symbol() -> None:
    examples = [
        {"source": ["A", "."], "written": ["A"], "weights": [900, 100]},
        {"source": ["B", "C", "."], "written": ["C", "B"], "weights": [0, 1000, 0, 750, 0, 250]},
    ]
    chart = alignment_chart(examples, start=1).to_dict()
    found = re.findall(r"source: (\d); written: (\d); weight: ([\d.]+); symbol: (\w)", draw(chart))
    assert found == [
        ("0", "0", "0", "C"),
        ("1", "0", "1", "C"),
        ("2", "0", "0", "C"),
        ("0", "1", "0.75", "B"),
        ("1", "1", "0", "B"),
        ("2", "1", "0.25", "B"),
    ]
    assert "1 letters" in draw(moved(chart, example=0))
    with pytest.raises(ValueError, match="do not fit"):
        alignment_chart([{"source": ["A"], "written": ["A"], "weights": [1, 2]}])


def test_probe_shows_the_chosen_length() -> None:
    spec = probe_chart({"vector": {"2": [1, 0.5], "3": [1, 0.2, 0.9]}, "own": {"2": [1, 1], "3": [1, 1, 1]}}, 0.1)
    found = re.findall(r"place: (\w+); position: (\d); right: (\d+)%", draw(moved(spec.to_dict(), step=1)))
    assert sorted(found) == sorted(
        [("vector", "1", "100"), ("vector", "2", "20"), ("vector", "3", "90")]
        + [("own", str(j), "100") for j in (1, 2, 3)]
    )


def test_the_timeline_names_every_work() -> None:
    picture = draw(timeline_chart(TIMELINE))
    for work in TIMELINE:
        assert work.who in picture and work.what in picture
