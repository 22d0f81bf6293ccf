"""The record of lengths: how waste is counted, and that what is recorded can be read back."""

from __future__ import annotations

import numpy as np
import pytest

from annotated_book import recorded
from annotated_book.training.batches.experiment import fixed_width, packed, pooled_order, unpacked, waste


def test_a_fixed_width_pads_the_short_and_cuts_the_long() -> None:
    found = fixed_width(np.array([2, 9]), np.array([4, 10]), 8)
    # 2 + 8 + 4 + 8 tokens are kept of 25, in 32 cells; one pair of two is cut.
    assert found == pytest.approx({"fill": 22 / 32, "pairs_cut": 0.5, "tokens_cut": 3 / 25})


def test_pools_are_permutations_sorted_inside() -> None:
    source = np.random.default_rng(3).integers(1, 50, 25)
    order = pooled_order(source, source, 10)
    assert sorted(order) == list(range(25))
    for start in (0, 10, 20):
        assert (np.diff(source[order[start : start + 10]]) >= 0).all()


def test_waste_of_two_lengths_by_hand() -> None:
    source = target = np.array([1, 4, 1, 4])
    found = {row["way"]: row for row in waste(source, target, 8)}
    assert found["as they come"]["padding"] == pytest.approx(6 / 16)  # (1, 4), (1, 4): 10 of 16 cells a side
    assert found["all sorted"]["padding"] == 0 and found["all sorted"]["batches"] == 2


def test_the_record_holds_lengths_and_nothing_else() -> None:
    found = recorded("batches").results
    source, target = (unpacked(found["sample"][side]) for side in ("source", "target"))
    assert len(source) == len(target) == 4000 and source.min() >= 1 and max(source.max(), target.max()) <= 100
    assert unpacked(found["histogram"]["target"]).sum() == found["pairs"] - found["too_long"]
    assert packed(unpacked("3 1 2")) == "3 1 2"
