"""Loss curves of variants: how they are named, and what is said of their distance."""

from __future__ import annotations

import pytest

from benchmarks.curves import compare, parse_variant


def test_a_variant_is_a_name_and_changes() -> None:
    assert parse_variant("plain") == parse_variant("plain:") == ("plain", {})
    changes = {"precision": "bf16", "seed": 1, "clip_norm": 0.5, "compile": True, "micro_batch_tokens": None}
    text = "all:precision=bf16,seed=1,clip_norm=0.5,compile=true,micro_batch_tokens=null"
    assert parse_variant(text) == ("all", changes)
    with pytest.raises(ValueError, match="'seed' is no change; write NAME:FIELD=VALUE"):
        parse_variant("one:seed")


def test_the_distance_of_two_curves_by_hand() -> None:
    first = {"loss": [4.0, 2.0], "last_loss": 2.0, "final_valid_loss": 1.0}
    other = {"loss": [4.4, 1.9], "last_loss": 1.9, "final_valid_loss": 1.02}
    (found,) = compare({"first": first, "other": other}).values()
    assert found == pytest.approx({"last_loss": -0.05, "final_valid_loss": 0.02, "largest": 0.1})
