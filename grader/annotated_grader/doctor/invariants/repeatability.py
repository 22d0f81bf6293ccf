"""Repeatability, and numbers that are of the vocabulary: all other invariants compare calls, and rest on both."""

from __future__ import annotations

import torch

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, require
from annotated_grader.doctor.probe import CLOSE, SAME, Probe, of_size, relative_difference

STILL_TRAINING = Mistake(
    "The model may be in training mode still: call its eval(), or let the adapter offer modules. If it is in "
    "evaluation mode, dropout acts there too, or something else is random.",
    21,
)


@invariant(
    "dropout-off",
    Mistake("Dropout acts in evaluation too: F.dropout without training=self.training.", 21),
    Mistake("Something else is random: noise, or a tensor that is drawn anew at each call.", 22),
    paper="section 5.4",
)
def dropout_off(probe: Probe) -> str:
    """In evaluation mode, two calls agree."""
    source, target = probe.sources(6, 6), probe.targets_in(6, 6)
    torch.manual_seed(1)
    first = probe.logits(source, target)
    torch.manual_seed(2)
    difference = relative_difference(probe.logits(source, target), first)
    said = f"In evaluation mode the logits of two calls differ by {of_size(difference)}."
    if difference > SAME and not probe.subject.offers("modules"):
        said = (
            f"The logits of two calls differ by {of_size(difference)}. The adapter offers no modules, so the doctor "
            "could not switch training mode off."
        )
        raise InvariantViolated(said, STILL_TRAINING)
    require(difference <= SAME, said)
    return "Two calls in evaluation mode give the same logits."


OVER_BATCH = Mistake(
    "The softmax runs over the batch: its dim is missing or 0, where the vocabulary is the last one.",
    19,
    mutant="softmax_over_batch",
)
OVER_POSITIONS = Mistake("The softmax runs over the target's positions: its dim is 1, where it must be -1.", 19)


@invariant("softmax-axis", OVER_BATCH, OVER_POSITIONS, paper="section 3.4")
def softmax_axis(probe: Probe) -> str:
    """If probabilities come out, or their logarithms, those of the vocabulary sum to one, and no others do."""
    numbers = probe.logits(probe.sources(5, 5, 5), probe.targets_in(4, 4, 4))
    for what, axis, mistake in (("a batch's sentences", 0, OVER_BATCH), ("a target's positions", 1, OVER_POSITIONS)):
        sums = numbers.logsumexp(dim=axis).abs(), (numbers.sum(dim=axis) - 1).abs()
        said = f"What comes out is normalised over {what}: it sums to one there."
        require(min(float(off.max()) for off in sums) > CLOSE, said, mistake)
    return "Neither over the sentences of a batch nor over positions do the numbers sum to one."
