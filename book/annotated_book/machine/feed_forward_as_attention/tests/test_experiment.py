"""The run behind chapter 11: its record holds what the chapter reads, and a short run learns."""

from __future__ import annotations

from annotated_book import recorded
from annotated_book.machine.feed_forward_as_attention.experiment import VARIANTS, curve


def test_the_record_has_three_seeds_of_each_variant() -> None:
    runs = recorded("feed_forward_as_attention").results["runs"]
    assert sorted((r["variant"], r["seed"]) for r in runs) == sorted((v, s) for v in VARIANTS for s in range(3))


def test_a_short_run_learns() -> None:
    result = curve("attention 2", seed=1, updates=20)
    assert result["loss"][1] < result["loss"][0]
