"""Charts of recurrent models show the numbers that they were given."""

from __future__ import annotations

import re

import pytest

from annotated_book.why.before_2017.charts import alignment_chart, length_chart, timeline_chart
from annotated_book.why.before_2017.timeline import TIMELINE
from book.tests.drawing import draw, moved

GUESSES = {"letters": [0.1, 0.1], "whole": [0.01, 0.0001]}
TITLES = {"letters": "Of letters", "whole": "Of sequences"}
CURVES = {"letters": {"a": [[1.0, 0.5], [0.8, 0.1]]}, "whole": {"a": [[0.4, 0.0], [0.2, 0.0]]}}


def test_points_are_means_over_seeds_of_the_chosen_measure() -> None:
    spec = length_chart([2, 4], CURVES, 3, GUESSES, TITLES).to_dict()
    for measure, expected in (("letters", {90.0, 30.0}), ("whole", {30.0, 0.0})):
        assert {
            float(x) for x in re.findall(r"share right: ([\d.]+)%; model: a", draw(moved(spec, measure=measure)))
        } == expected
    with pytest.raises(ValueError, match="one for each length"):
        length_chart([2, 4, 6], CURVES, 3, GUESSES, TITLES)


def test_guessing_and_the_title_belong_to_the_chosen_measure() -> None:
    spec = length_chart([2, 4], CURVES, 3, GUESSES, TITLES).to_dict()
    levels = {}
    for measure in CURVES:
        svg = draw(moved(spec, measure=measure))
        assert TITLES[measure] in svg and sum(title in svg for title in TITLES.values()) == 1
        path = re.search(r'stroke-dasharray="2,3"[^>]*', svg) or re.search(
            r'd="([^"]*)"[^>]*stroke-dasharray="2,3"', svg
        )
        assert path
        levels[measure] = re.findall(r'd="M[\d.]+,([\d.]+)L[\d.]+,([\d.]+)"[^>]*stroke-dasharray="2,3"', svg)[0]
    flat, falling = ([float(y) for y in levels[m]] for m in ("letters", "whole"))
    assert flat[0] == flat[1] and falling[0] < falling[1], "y grows downwards"
    assert falling[0] > flat[0]


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
    assert "copying 1 letters" in draw(moved(chart, example=0))
    with pytest.raises(ValueError, match="do not fit"):
        alignment_chart([{"source": ["A"], "written": ["A"], "weights": [1, 2]}])


def test_the_timeline_names_every_work() -> None:
    picture = draw(timeline_chart(TIMELINE))
    for work in TIMELINE:
        assert work.who in picture and work.what in picture
