"""One training on a CPU, in the packed layout: the readable path, and the one for machines without a GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from annotated.chapters.experiments.catalogue import ChapterTraining
from annotated.chapters.experiments.text import ShortSentences
from annotated.model import Transformer
from annotated.runs.random_states import seed_everything
from annotated.speed.steps import FastStep
from annotated.training.update import update
from annotated.training.validation import validation_loss


@dataclass
class Trained:
    """A model after its training, and what was seen on the way."""

    model: Transformer
    curve: list[dict[str, Any]]
    valid_loss: float
    """Unrounded, nats a target token."""

    @property
    def diverged(self) -> bool:
        """True if the last validation loss is not finite."""
        return not math.isfinite(self.valid_loss)


def train_alone(one: ChapterTraining, text: ShortSentences) -> Trained:
    """Make all updates of a training, and a validation after some of them."""
    seed_everything(one.seed)
    model, training = one.model(), one.training.replace(device="cpu")
    step, batches = FastStep(model.train(), training, optimizer=one.optimizer(model)), text.batches(training)
    curve: list[dict[str, Any]] = []
    seen, since, valid = 0, [0.0, 0], math.nan
    for number in range(1, training.updates + 1):
        batch = next(batches)
        tokens = batch.target_tokens
        made = update(step, [batch], tokens, one.rate(number))
        seen, since = seen + tokens, [since[0] + float(made.loss_sum), since[1] + tokens]
        if number % training.validate_every == 0:
            valid = validation_loss(step, text.valid_batches(training))
            numbers = {"loss": round(since[0] / since[1], 4), "validation_loss": round(valid, 4)}
            curve.append({"update": number, "tokens_seen": seen, **numbers})
            since = [0.0, 0]
    return Trained(model, curve, valid)
