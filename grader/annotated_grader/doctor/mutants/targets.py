"""Wrong targets: what the decoder reads and writes, and what the loss makes of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import Tensor

from annotated.config import BOS, EOS, PAD
from annotated.data.batch import Batch, collate
from annotated.model.transformer import Transformer
from annotated.speed.steps.loss import packed_loss
from annotated.training.loss import batch_loss, label_smoothed_cross_entropy, smoothed_target
from annotated_grader.doctor.mutants.patching import Bank, Patches

BANK = Bank()


# What the decoder reads and writes


def _shifted_by(patches: Patches, change: Any) -> None:
    """Let `change(target_in, target_out)` have the two sides of every batch."""

    def make(original: Any) -> Any:
        def changed(*args: Any) -> Batch:
            batch = original(*args)
            target_in, target_out = change(batch.target_in, batch.target_out)
            shorter = batch.target_in.size(1) - target_in.size(1)
            lengths = [length - shorter for length in batch.target_lengths]
            return dataclasses.replace(batch, target_in=target_in, target_out=target_out, target_lengths=lengths)

        return changed

    patches.function(collate, make)


@BANK.mutant(
    "The decoder reads the very tokens that it has to write.",
    "leak-canary",
    "shift",
    "perplexity",
    claim="C22",
    source="a summary of the paper that feeds the decoder 'the output batch'",
)
def targets_not_shifted(patches: Patches) -> None:
    _shifted_by(patches, lambda read, write: (write, write))


@BANK.mutant("The decoder's input lags behind its output by two places.", "shift", "perplexity", claim="C14")
def targets_shifted_twice(patches: Patches) -> None:
    def twice(read: Tensor, write: Tensor) -> tuple[Tensor, Tensor]:
        later = torch.cat((read[:, :1], read[:, :-1]), dim=1)
        return later.masked_fill(read == PAD, PAD), write

    _shifted_by(patches, twice)


@BANK.mutant("In training the decoder's first input is padding, and in decoding it is bos.", "shift", "perplexity")
def bos_missing(patches: Patches) -> None:
    _shifted_by(patches, lambda read, write: (read.masked_fill(read == BOS, PAD), write))


@BANK.mutant(
    "The end of the sentence is not among what the decoder has to write, so it never learns to stop.",
    "shift",
    "perplexity",
)
def eos_missing(patches: Patches) -> None:
    _shifted_by(patches, lambda read, write: (read, write.masked_fill(write == EOS, PAD)))


@BANK.mutant(
    "The first token is never predicted: bos is left out, and the decoder starts from the sentence.",
    "shift",
    "perplexity",
)
def first_token_not_predicted(patches: Patches) -> None:
    def drop(read: Tensor, write: Tensor) -> tuple[Tensor, Tensor]:
        if read.size(1) == 1:
            return read, write
        return read[:, 1:], write[:, 1:]

    _shifted_by(patches, drop)


# The loss


def _losing(patches: Patches, make: Any) -> None:
    patches.function(label_smoothed_cross_entropy, make)


@BANK.mutant(
    "Padding counts in the loss, as a token to be learned.",
    "loss-ignores-padding",
    "loss-per-token",
    "accumulation",
    "perplexity",
)
def loss_counts_padding(patches: Patches) -> None:
    _losing(patches, lambda original: lambda logits, gold, smoothing, pad_id=PAD: original(logits, gold, smoothing, -1))


@BANK.mutant(
    "Padding costs nothing in the loss, and is counted in what the loss is divided by.",
    "loss-ignores-padding",
    "loss-per-token",
    "perplexity",
)
def loss_divided_by_padding(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def loss(logits: Tensor, gold: Tensor, smoothing: float, pad_id: int = PAD) -> tuple[Tensor, int]:
            return original(logits, gold, smoothing, pad_id)[0], gold.numel()

        return loss

    _losing(patches, make)


@BANK.mutant(
    "The loss is averaged in each sentence first, so tokens of short sentences count for more.",
    "loss-per-token",
    "accumulation",
    "perplexity",
)
def loss_averaged_by_sentence(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def loss(logits: Tensor, gold: Tensor, smoothing: float, pad_id: int = PAD) -> tuple[Tensor, int]:
            each = [original(*row, smoothing, pad_id) for row in zip(logits, gold, strict=True)]
            count = sum(n for _, n in each)
            real = [total / n for total, n in each if n]
            return torch.stack(real).mean() * count, count

        return loss

    _losing(patches, make)


@BANK.mutant(
    "Label smoothing gives the rest to the wrong tokens and leaves the right one its whole 1.",
    "loss-target",
    claim="C43",
)
def smoothing_adds_up_to_more(patches: Patches) -> None:
    patches.function(smoothed_target, lambda original: lambda e, size: (1.0, original(e, size)[1]))


@BANK.mutant("Label smoothing was claimed and is left out of the loss.", "loss-target", claim="C43")
def smoothing_missing(patches: Patches) -> None:
    patches.function(smoothed_target, lambda original: lambda e, size: original(0.0, size))


@BANK.mutant(
    "The log-softmax of the output has no dim, or 0: it runs over the batch.",
    "softmax-axis",
    source="PyTorch's implicit dim, which is 0 for three axes",
)
def softmax_over_batch(patches: Patches) -> None:
    def make(original: Any) -> Any:
        return lambda self, hidden: original(self, hidden).log_softmax(dim=0)

    patches.method(Transformer, "project", make)


@BANK.mutant("The loss takes softmax outputs for logits: the softmax is applied twice.", "loss-target", "perplexity")
def softmax_twice(patches: Patches) -> None:
    _losing(patches, lambda original: lambda logits, *rest: original(logits.softmax(dim=-1), *rest))


@BANK.mutant(
    "The perplexity that is reported is of the smoothed loss.",
    "perplexity",
    claim="C43",
    source="jadore801120/attention-is-all-you-need-pytorch, for its training set",
)
def perplexity_of_smoothed_loss(patches: Patches) -> None:
    def make(original: Any) -> Any:
        return lambda model, batch, smoothing, *rest: original(model, batch, smoothing or 0.1, *rest)

    for loss in (batch_loss, packed_loss):
        patches.function(loss, make)
