"""Odd right models are cleared; mistakes of public reports are found, named, and hidden by no other one."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import Tensor

from annotated_grader.doctor import Report, Subject, examine
from tests.grader.doctor import odd_makes, reported


@functools.cache
def examined(kind: type[Subject]) -> Report:
    with torch.no_grad():
        return examine(kind())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("kind", [*odd_makes.RIGHT, *reported.RIGHT])
def test_a_right_model_in_an_odd_style_is_cleared(kind: type[Subject]) -> None:
    report = examined(kind)
    assert report.healthy, str(report)
    assert report.counts["passed"] >= 16


AGAIN = (reported.MaskTakenForAnother, reported.NormOverSentence, reported.PaddingIsRead, reported.Unpacked)
"""Of these another one has the same cause and the same name."""


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.nightly) if kind in AGAIN else kind for kind in reported.REPORTED],
)
def test_a_reported_mistake_is_found_and_named(kind: type[odd_makes.Odd]) -> None:
    report, (cause, words) = examined(kind), reported.REPORTED[kind]
    assert cause in report.causes and not report.of("error"), str(report)
    (diagnosis,) = [one for one in report.diagnoses if report[cause] in one.findings]
    named = [guess.mistake.says for guess in diagnosis.guesses]
    assert any(words in says for says in named), named
    if kind in reported.FIRST:
        assert diagnosis == report.diagnoses[0] and words in named[0]


def test_a_recurrent_model_is_not_asked_for_positions_to_differ() -> None:
    """On one token again and again its state converges: 600 targets of it end alike, and no position repeats."""
    finding = examined(odd_makes.Recurrent)["far-positions"]
    assert finding.outcome == "not applicable" and "it is recurrent or a convolution" in finding.measured


def test_what_rests_on_the_softmax_is_not_blamed_before_it() -> None:
    report = examined(reported.SoftmaxOverBatch)
    assert [finding.id for finding in report.of("failed")] == ["softmax-axis"]
    assert "a failure of softmax-axis: correct that first" in report["source-is-reached"].measured


def test_a_far_fault_is_hidden_by_no_table_that_ends() -> None:
    """A window of 16 tokens and a table of 200 positions: below 200 the window is there, and it is shown for itself."""
    assert examined(reported.PastOf16).causes == {"far-past": [], "far-positions": []}


class ShortTable(reported.Plain):
    """A table of 30 positions, and nothing else is wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.places = self.places[:30]


def test_what_a_short_table_explains_is_only_named() -> None:
    assert examined(ShortTable).causes == {"far-positions": ["far-leak", "far-past", "far-source"]}


class NoMaskAndMixed(reported.NoMask):
    """Padding is attended to, and each sentence also reads a little of the one before it in the batch."""

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        logits = super().logits(source, target_in)
        return logits + 0.1 * logits.roll(1, 0)


def test_sentences_that_mix_are_not_hidden_by_padding_that_is_seen() -> None:
    report = examined(NoMaskAndMixed)
    assert {"source-padding", "batch-mates"} <= set(report.causes)
    assert examined(reported.NoMask).causes == {"source-padding": ["batch-mates"]}
