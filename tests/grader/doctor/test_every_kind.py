"""A model of another make with every capability: each right kind is cleared, each mistake found and named truly."""

from __future__ import annotations

import pytest
import torch

from annotated_grader.doctor import examine
from tests.grader.doctor.modular import Kind, Modular

pytestmark = [pytest.mark.slow, pytest.mark.spread]

RIGHT = [
    Kind("learned", rms=True, gated=True),
    Kind("rotary", claims_positions=False, closes_each_step=True),
    Kind("alibi", gated=True, claims_positions=False),
    Kind("buckets", float32_inside=True),
    Kind("buckets", rms=True, gated=True, log_probabilities=True, claims_positions=False),
]
MORE = [Kind(), Kind("rotary", rms=True, log_probabilities=True), Kind(closes_each_step=True, log_probabilities=True)]
"""Further mixtures of what the others have."""
WRONG: dict[str, tuple[str, set[str]]] = {
    "mask_of_eight": ("far-leak", {"causal_mask_of_fixed_size"}),
    "source_cut": ("far-source", {"source_cut"}),
    "end_hidden": ("source-end-is-read", {"source_end_hidden"}),
    "rows_tiled": ("start-rows", {"start_rows_tiled"}),
    "reordered_in_place": ("cache-follows-beam", set()),
    "penalty_sign": ("beam-penalty", {"penalty_multiplied"}),
    "softmax_bfloat16": ("attention-rows", {"softmax_in_16_bits"}),
    "log_keys": ("source-padding", {"scale_counts_keys"}),
    "mask_of_zero_vectors": ("pad-vector-unread", {"mask_of_zero_vectors"}),
    "dropout_stays": ("dropout-off", {"dropout_in_evaluation", "attention_dropout_in_evaluation"}),
}
"""For each mistake what must be said first, and what may be named."""


@pytest.mark.parametrize("kind", [*RIGHT, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in MORE)], ids=str)
def test_a_right_model_is_cleared(kind: Kind) -> None:
    torch.manual_seed(0)
    report = examine(Modular(kind))
    assert report.healthy, str(report)
    assert report.counts["passed"] >= 55


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_model_is_found_and_named_truly(wrong: str) -> None:
    torch.manual_seed(0)
    report = examine(Modular(Kind(wrong=wrong)))
    cause, named = WRONG[wrong]
    assert next(iter(report.causes)) == cause, str(report)
    assert {one.id for one in report.similar_mutants} <= named
    assert not report.of("error")
