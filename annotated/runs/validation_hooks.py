"""Validation hooks of the training loop: loss, BLEU, translations and attention weights on the validation set."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from annotated.data.batching import evaluation_batches
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.runs.attention_snapshots import SentenceHeads, write_heads
from annotated.runs.log import TrainingLog
from annotated.runs.setup import Run
from annotated.training.validation import validation_loss

BleuFunction = Callable[[Transformer, Tokenizer, list[tuple[str, str]]], float]
"""From a model, its tokenizer and pairs (source, reference) to BLEU, in percent."""
SamplesFunction = Callable[[Transformer, Tokenizer], Sequence[tuple[str, str]]]
"""From a model and its tokenizer to pairs (source, translation) for the log; it leaves random numbers alone."""
HeadsFunction = Callable[[Transformer, Tokenizer], Sequence[SentenceHeads]]
"""From a model and its tokenizer to where the heads look in a few sentences; it leaves random numbers alone."""


class ValidationCallbacks(NamedTuple):
    """Functions that are called with the model at each validation; none of them changes the training."""

    bleu: BleuFunction | None = None
    samples: SamplesFunction | None = None
    heads: HeadsFunction | None = None


def validate(
    run: Run, log: TrainingLog, callbacks: ValidationCallbacks, averaged: bool = False
) -> tuple[float, float | None]:
    """Loss and BLEU on the validation set, and the translations of the samples, into the log."""
    training, processes = run.training, run.processes
    pieces = training.micro_batches(processes.world_size) * processes.world_size
    budget = max(training.batch_tokens // pieces, run.data.valid.info.max_length)
    batches = evaluation_batches(run.data.valid, budget, run.step.layout)
    loss = validation_loss(run.step, batches, processes)
    score = None
    if callbacks.bleu is not None and training.validate_bleu and processes.is_main:
        with _evaluating(run.model):
            score = callbacks.bleu(run.model, run.data.tokenizer, run.data.valid_pairs(training.validate_bleu))
    if not averaged:
        run.state.valid_loss = loss
    log.write(
        "valid",
        update=run.state.update,
        epoch=run.epoch,
        tokens_seen=run.state.tokens_seen,
        valid_loss=loss,
        perplexity=math.exp(min(loss, 700.0)),
        bleu=score,
        averaged=averaged,
        elapsed=run.elapsed,
    )
    if callbacks.samples is not None and processes.is_main:
        with _evaluating(run.model):
            pairs = callbacks.samples(run.model, run.data.tokenizer)
        shown = [{"source": source, "translation": translation} for source, translation in pairs]
        log.write("samples", update=run.state.update, samples=shown, averaged=averaged)
    if callbacks.heads is not None and processes.is_main and not averaged:
        _keep_heads(run, log, callbacks.heads)
    return loss, score


def _keep_heads(run: Run, log: TrainingLog, heads: HeadsFunction) -> None:
    with _evaluating(run.model):
        sentences = heads(run.model, run.data.tokenizer)
    try:
        path = write_heads(run.folder, run.state.update, sentences)
    except OSError as error:  # nothing that only watches may end a run
        log.say(f"where the heads look after update {run.state.update} could not be kept: {error}")
        return
    log.write("heads", update=run.state.update, path=str(path.relative_to(run.folder)), sentences=len(sentences))


@contextlib.contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    model.eval()
    yield
    model.train()
