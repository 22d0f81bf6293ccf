"""The records of chapter 3 beside the main one: one training per point, and five offsets."""

from __future__ import annotations

import torch

from annotated_book import recorded
from annotated_book.why.before_2017.experiment import LONGEST, build
from annotated_book.why.before_2017.learning_curve import PLAN
from annotated_book.why.before_2017.neighbours import OFFSETS, weight_by_offset


def test_the_points_are_those_of_the_plan() -> None:
    points = recorded("before_2017/learning_curve").results["points"]
    assert [(point["updates"], point["seed"]) for point in points] == PLAN
    assert all(len(point["by_place"]) == LONGEST for point in points)


def test_weights_are_means_over_positions() -> None:
    torch.manual_seed(0)
    found = weight_by_offset(build("attention").eval(), length=6, count=4)  # type: ignore[arg-type]
    assert list(found) == list(OFFSETS) and 0 < sum(found.values()) <= 1


def test_the_record_has_every_offset() -> None:
    rows = recorded("before_2017/neighbours").results["rows"]
    assert [row["offset"] for row in rows] == list(OFFSETS)
