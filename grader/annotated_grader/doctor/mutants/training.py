"""Wrong training: the rate of an update, how its gradient is gathered, and what is averaged in the end.

All but two of these mistakes are made around `annotated.training.update.update`, through which every training run goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from torch.optim import Optimizer

from annotated.data.batch import Batch
from annotated.training.averaging import average_checkpoints
from annotated.training.schedule import learning_rate
from annotated.training.update import update
from annotated_grader.doctor.mutants.patching import Bank, Patches

BANK = Bank()


# Rates


@BANK.mutant(
    "Warm-up counts micro-batches, so that with accumulation it is over too soon.",
    "warmup-unit",
    claim="A2",
    source="harvardnlp/annotated-transformer",
)
def warmup_in_micro_batches(patches: Patches) -> None:
    asked: list[Any] = []

    def noting(original: Any) -> Any:
        def rate(*arguments: Any) -> float:
            asked[:] = arguments
            return original(*arguments)

        return rate

    def make(original: Any) -> Any:
        def wrong(step: Any, micro_batches: Sequence[Batch], tokens: int, rate: float, *rest: Any) -> Any:
            if asked:  # else the rate does not come from equation 3
                number, *shape = asked
                asked.clear()
                rate = learning_rate((number - 1) * len(micro_batches) + 1, *shape)
            return original(step, micro_batches, tokens, rate, *rest)

        return wrong

    patches.function(learning_rate, noting)
    patches.function(update, make)


def _rate_of_the_update_before(patches: Patches, first: Callable[[float], float]) -> None:
    """Make each update with the rate of the one before, and the first one with `first(its own rate)`."""
    before: WeakKeyDictionary[Optimizer, float] = WeakKeyDictionary()

    def make(original: Any) -> Any:
        def late(step: Any, micro_batches: Any, tokens: int, rate: float, *rest: Any) -> Any:
            used, before[step.optimizer] = before.get(step.optimizer, first(rate)), rate
            return original(step, micro_batches, tokens, used, *rest)

        return late

    patches.function(update, make)


@BANK.mutant(
    "The rate lags: updates 1 and 2 both use the rate of update 1, and each later one that of the one before.",
    "warmup-unit",
    source="harvardnlp/annotated-transformer",
)
def rate_one_update_late(patches: Patches) -> None:
    _rate_of_the_update_before(patches, lambda rate: rate)


@BANK.mutant(
    "The rate is set after the update, so the first one is made with whatever the optimiser was given.",
    "warmup-unit",
    source="joeynmt/joeynmt, where the first update runs at the full rate of the configuration",
)
def rate_set_after_update(patches: Patches) -> None:
    _rate_of_the_update_before(patches, lambda rate: 1e-3)


@BANK.mutant("The rate never decays: it stays at its peak once warm-up is over.", "schedule")
def rate_does_not_decay(patches: Patches) -> None:
    patches.function(
        learning_rate,
        lambda original: lambda k, d_model, warmup, *scale: original(min(k, warmup), d_model, warmup, *scale),
    )


# Gradients


def _mean_of_each(patches: Patches, weight: Callable[[int], float]) -> None:
    """Let every micro-batch's gradient be that of its own mean loss, times `weight(number of micro-batches)`."""

    def make(original: Any) -> Any:
        def wrong(step: Any, micro_batches: Sequence[Batch], *rest: Any) -> Any:
            micro_step, factor = step.micro_step, weight(len(micro_batches))

            def of_mean(batch: Batch, tokens: float) -> Any:
                return micro_step(batch, batch.target_tokens / factor)

            with Patches() as inner:
                inner.attribute(step, "micro_step", of_mean)
                return original(step, micro_batches, *rest)

        return wrong

    patches.function(update, make)


@BANK.mutant("Each micro-batch's mean loss has the same say, however few tokens it has.", "accumulation")
def micro_batches_weigh_the_same(patches: Patches) -> None:
    _mean_of_each(patches, lambda count: 1 / count)


@BANK.mutant(
    "Accumulated gradients are added up and never divided by the number of micro-batches.",
    "accumulation",
    source="harvardnlp/annotated-transformer, where the line that divides is a comment",
)
def accumulation_not_divided(patches: Patches) -> None:
    _mean_of_each(patches, lambda count: 1.0)


@BANK.mutant(
    "The first update is made after one micro-batch, for 0 is divisible by any number.",
    "accumulation",
    source="harvardnlp/annotated-transformer",
)
def first_update_after_one_micro_batch(patches: Patches) -> None:
    left: WeakKeyDictionary[Optimizer, list[Batch]] = WeakKeyDictionary()

    def make(original: Any) -> Any:
        def wrong(step: Any, micro_batches: Sequence[Batch], tokens: int, *rest: Any) -> Any:
            count = len(micro_batches) if step.optimizer in left else 1
            waiting = [*left.get(step.optimizer, ()), *micro_batches]
            taken, left[step.optimizer] = waiting[:count], waiting[count:]
            return original(step, taken, sum(batch.target_tokens for batch in taken), *rest)

        return wrong

    patches.function(update, make)


@BANK.mutant(
    "Gradients are not cleared after an update, and reach into all that follow.",
    "gradient-cleared",
    source="harvardnlp/annotated-transformer, where they leak from one epoch into the next",
)
def gradient_not_cleared(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def wrong(step: Any, *rest: Any) -> Any:
            with Patches() as inner:
                inner.attribute(step.optimizer, "zero_grad", lambda set_to_none=True: None)
                return original(step, *rest)

        return wrong

    patches.function(update, make)


# Averaging


@BANK.mutant("The average of the checkpoints is the last of them.", "averaging")
def average_is_last(patches: Patches) -> None:
    patches.function(average_checkpoints, lambda original: lambda folders: original(folders[-1:]))
