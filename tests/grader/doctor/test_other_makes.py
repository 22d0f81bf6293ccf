"""Models of other makes, with logits alone: right ones of every kind are cleared, wrong ones found and named truly.

The same with every capability, which takes a minute, is `test_every_kind.py`.
"""

from __future__ import annotations

import dataclasses
import itertools

import pytest
import torch
from torch import Tensor, nn

from annotated_grader.doctor import Claims, Subject, examine
from tests.grader.doctor.functional import Functional
from tests.grader.doctor.modular import Kind, Modular

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "buckets")
FLAGS = (False, True)
PLAIN = Kind(positions="rotary", rms=True, gated=True)


@pytest.mark.parametrize(
    ("positions", "log", "claimed"),
    [
        ("sinusoidal", False, True), ("learned", True, False), ("rotary", False, False), ("alibi", True, True),
        ("buckets", False, False),
        *[pytest.param(*kind, marks=pytest.mark.nightly) for kind in itertools.product(POSITIONS, FLAGS, FLAGS)],
    ],
)  # fmt: skip
def test_right_models_are_cleared(positions: str, log: bool, claimed: bool) -> None:
    kind = Kind(positions, gated=not log, log_probabilities=log, claims_positions=claimed)
    report = examine(Functional(kind))
    assert report.healthy, str(report)
    relative = positions in ("rotary", "alibi", "buckets")
    assert (report["target-positions"].outcome == "not applicable") == relative
    assert report["target-order"].outcome == report["far-positions"].outcome == "passed"


@pytest.mark.parametrize(
    ("wrong", "cause", "named"),
    [
        ("mask_of_eight", "far-leak", ["causal_mask_of_fixed_size"]),
        ("source_cut", "far-source", ["source_cut"]),
        ("end_hidden", "source-end-is-read", ["source_end_hidden"]),
        ("log_keys", "source-padding", ["scale_counts_keys"]),
        ("dropout_stays", "dropout-off", []),  # without modules it may be in training mode still
    ],
)
@pytest.mark.parametrize("positions", ["rotary", pytest.param("learned", marks=pytest.mark.nightly)])
def test_wrong_models_are_found_and_named_truly(wrong: str, cause: str, named: list[str], positions: str) -> None:
    report = examine(Functional(dataclasses.replace(PLAIN, positions=positions, wrong=wrong)))
    assert next(iter(report.causes)) == cause, str(report)
    assert [one.id for one in report.similar_mutants] == named


def test_a_cut_source_is_told_by_the_token_from_which_on_nothing_is_read() -> None:
    report = examine(Functional(dataclasses.replace(PLAIN, wrong="source_cut")), ["far-source"])
    assert "a source of 40 tokens, other tokens from position 16 on change nothing" in report["far-source"].measured


def test_the_longest_length_claimed_is_examined() -> None:
    """A mask of eight is right for a model that reads no more than eight tokens."""
    subject = Functional(dataclasses.replace(PLAIN, wrong="mask_of_eight"))
    subject.claims = Claims(positions="relative", longest=8)
    assert examine(subject, ["far-leak", "far-past", "far-source"]).counts["passed"] == 3
    subject.claims = Claims(positions="relative", longest=64)
    assert "In a target of 64 tokens" in examine(subject, ["far-leak"])["far-leak"].measured


class DecoderWithoutPositions(Functional):
    """The encoder adds vectors, the decoder does not; nothing is claimed."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        self.places = iter((True, False))  # the source is embedded first
        return super().logits(source, target_in)

    def vectors(self, ids: Tensor) -> Tensor:
        return super().vectors(ids) if next(self.places) else self.weights["words"][ids]


def test_positions_on_one_side_only_are_found_though_nothing_is_claimed() -> None:
    report = examine(DecoderWithoutPositions(Kind("learned", claims_positions=False)), ["target-positions"])
    assert report["target-positions"].outcome == "failed"


def test_positions_that_are_neither_claimed_nor_known_are_refused() -> None:
    with pytest.raises(ValueError, match="rotary positions, ALiBi and a bias for each distance are 'relative'"):
        Claims(positions="rotary")  # type: ignore[arg-type]


# One capability at a time, of the modular make


def outcome(kind: Kind, id: str) -> tuple[str, str]:
    torch.manual_seed(0)
    (finding,) = examine(Modular(kind), [id]).findings
    return finding.outcome, finding.measured


def test_constants_of_float32_are_no_failure_of_float16() -> None:
    said, measured = outcome(Kind(float32_inside=True), "half-precision")
    assert said == "not applicable" and "other types inside" in measured


def test_a_beam_that_searches_better_than_greedy_search_is_right() -> None:
    said, measured = outcome(Kind(closes_each_step=True), "beam-one-is-greedy")
    assert said == "passed" and "score higher" in measured


@pytest.mark.parametrize("id", ["cache-equals-forward", "cache-follows-beam", "pad-vector-unread"])
def test_log_probabilities_and_logits_are_compared_normalised(id: str) -> None:
    assert outcome(Kind(log_probabilities=True), id)[0] == "passed"


@pytest.mark.parametrize("positions", ["alibi", "buckets", "rotary"])
def test_relative_positions_may_add_to_scores(positions: str) -> None:
    assert outcome(Kind(positions, claims_positions=False), "attention-scale")[0] == "passed"
    assert outcome(Kind(positions, wrong="log_keys"), "attention-scale")[0] == "failed"


def test_16_bit_weights_are_told_from_wrong_rows() -> None:
    assert "every weight is a number of bfloat16" in outcome(Kind(wrong="softmax_bfloat16"), "attention-rows")[1]


def test_rows_in_the_wrong_order_are_told_from_a_cache_that_is_not_reordered() -> None:
    assert outcome(Kind(wrong="rows_tiled"), "start-rows")[0] == "failed"
    assert outcome(Kind(wrong="rows_tiled"), "cache-follows-beam")[0] == "not applicable"
    assert outcome(Kind(wrong="reordered_in_place"), "start-rows")[0] == "passed"
    assert outcome(Kind(wrong="reordered_in_place"), "cache-follows-beam")[0] == "failed"


class LogitsAndModules(Subject):
    """Logits and modules, and no tables."""

    vocab_size = 12

    def __init__(self, wrong: str) -> None:
        torch.manual_seed(0)
        self.whole = Modular(Kind(wrong=wrong))

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.whole.logits(source, target_in)

    def modules(self) -> list[nn.Module]:
        return self.whole.modules()


def test_padding_told_by_its_vector_is_found_without_tables() -> None:
    assert examine(LogitsAndModules(""), ["pad-vector-unread"]).healthy
    report = examine(LogitsAndModules("mask_of_zero_vectors"), ["source-padding", "pad-vector-unread"])
    assert report["source-padding"].outcome == "passed"
    assert [one.id for one in report.similar_mutants] == ["mask_of_zero_vectors"]


class Leaking(LogitsAndModules):
    """Padding's vector is zero, and the future is seen, padding behind it too."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        vectors = self.whole.model.embed(target_in)
        return (
            self.whole.logits(source, target_in) + vectors.mean(dim=1, keepdim=True) @ self.whole.model.table.weight.T
        )


def test_a_zero_vector_is_not_blamed_for_a_leak() -> None:
    report = examine(Leaking(""), ["leak-by-change", "target-padding", "pad-vector-unread"])
    assert report.causes == {"leak-by-change": ["target-padding", "pad-vector-unread"]}
    assert "mask_of_zero_vectors" not in [one.id for one in report.similar_mutants]
