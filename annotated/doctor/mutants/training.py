"""Wrong training: the rate of an update, how its gradient is gathered, and what is averaged in the end.

Paper: sections 5.1, 5.3, 6.1
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from annotated.data.batch import Batch
from annotated.doctor.mutants.patching import Bank, Patches
from annotated.runs import loop
from annotated.training.averaging import average_checkpoints
from annotated.training.loss import batch_loss
from annotated.training.schedule import learning_rate, set_learning_rate

BANK = Bank()


# Rates and updates


def _while_training(patches: Patches, prepare: Any) -> None:
    """Apply `prepare(patches, run)` inside each training run."""

    def make(original: Any) -> Any:
        def updates(run: Any, *rest: Any) -> Any:
            with Patches() as inner:
                prepare(inner, run)
                return original(run, *rest)

        return updates

    patches.function(loop._make_updates, make)


@BANK.mutant(
    "Warm-up counts micro-batches, so that with accumulation it is over too soon.",
    "warmup-unit",
    claim="A2",
    source="harvardnlp/annotated-transformer",
)
def warmup_in_micro_batches(patches: Patches) -> None:
    def prepare(inner: Patches, run: Any) -> None:
        inner.function(
            learning_rate,
            lambda original: lambda k, *shape: original((k - 1) * run.micro_batches + 1, *shape),
        )

    _while_training(patches, prepare)


@BANK.mutant(
    "The rate lags: updates 1 and 2 both use the rate of update 1, and each later one that of the one before.",
    "warmup-unit",
    source="harvardnlp/annotated-transformer",
)
def rate_one_update_late(patches: Patches) -> None:
    _while_training(
        patches,
        lambda inner, run: inner.function(
            learning_rate, lambda original: lambda k, *shape: original(max(1, k - 1), *shape)
        ),
    )


@BANK.mutant(
    "The rate is set after the update, so the first one is made with whatever the optimiser was given.",
    "warmup-unit",
    source="joeynmt/joeynmt, where the first update runs at the full rate of the configuration",
)
def rate_set_after_update(patches: Patches) -> None:
    def prepare(inner: Patches, run: Any) -> None:
        pending = [1e-3]

        def make(original: Any) -> Any:
            def late(optimizer: Any, rate: float) -> None:
                original(optimizer, pending.pop())
                pending.append(rate)

            return late

        inner.function(set_learning_rate, make)

    _while_training(patches, prepare)


@BANK.mutant("The rate never decays: it stays at its peak once warm-up is over.", "schedule")
def rate_does_not_decay(patches: Patches) -> None:
    patches.function(
        learning_rate,
        lambda original: lambda k, d_model, warmup, *scale: original(min(k, warmup), d_model, warmup, *scale),
    )


def _mean_of_each(patches: Patches, count: float) -> None:
    """Let a micro-batch's loss be its mean, and let it count as `count` of the tokens that the sum is divided by."""

    def make(original: Any) -> Any:
        def loss(*args: Any) -> tuple[Tensor, int]:
            total, tokens = original(*args)
            return total / tokens, tokens

        return loss

    patches.function(batch_loss, make)
    patches.attribute(Batch, "target_tokens", property(lambda self: count))


@BANK.mutant("Each micro-batch's mean loss has the same say, however few tokens it has.", "accumulation")
def micro_batches_weigh_the_same(patches: Patches) -> None:
    _while_training(patches, lambda inner, run: _mean_of_each(inner, 1))


@BANK.mutant(
    "Accumulated gradients are added up and never divided by the number of micro-batches.",
    "accumulation",
    source="harvardnlp/annotated-transformer, where the line that divides is a comment",
)
def accumulation_not_divided(patches: Patches) -> None:
    _while_training(patches, lambda inner, run: _mean_of_each(inner, 1 / run.micro_batches))


@BANK.mutant(
    "The first update is made after one micro-batch, for 0 is divisible by any number.",
    "accumulation",
    source="harvardnlp/annotated-transformer",
)
def first_update_after_one_micro_batch(patches: Patches) -> None:
    def prepare(inner: Patches, run: Any) -> None:
        count, share = run.micro_batches, run.share

        def first_alone() -> Any:
            shared = share()
            run.micro_batches = count
            return shared

        inner.attribute(run, "micro_batches", 1)
        inner.attribute(run, "share", first_alone)

    _while_training(patches, prepare)


@BANK.mutant(
    "Gradients are not cleared after an update, and reach into all that follow.",
    "gradient-cleared",
    source="harvardnlp/annotated-transformer, where they leak from one epoch into the next",
)
def gradient_not_cleared(patches: Patches) -> None:
    _while_training(
        patches, lambda inner, run: inner.attribute(run.optimizer, "zero_grad", lambda set_to_none=True: None)
    )


# Averaging


@BANK.mutant("The average of the checkpoints is the last of them.", "averaging")
def average_is_last(patches: Patches) -> None:
    patches.function(average_checkpoints, lambda original: lambda folders: original(folders[-1:]))
