"""Six models learn sixteen pairs by heart, five of them with a fault; and three are trained, of which two have one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data import Batch, TokenBatches, Tokenizer, TokenStore, collate_ids, evaluation_batches
from annotated.model import Transformer
from annotated.speed.steps import FastStep, packed_loss
from annotated.training.schedule import learning_rate
from annotated.training.update import fit
from annotated.translator import Translator
from annotated_book.training.first_run.experiment import LEAKY_PAIRS, LEAKY_WORDS, short_pairs, small_model

Ids = tuple[list[int], list[int]]
"""Source and target of one sentence pair, as token ids."""
FAULTS = ("none", "shifted", "shuffled", "encoder_frozen", "encoder_cut", "decoder_frozen")
TRAINED = ("none", "shifted", "encoder_cut")
"""Those that are trained on all pairs, too."""
ROWS, UPDATES, RATE, SEED = 16, 150, 1e-3, 1
WHOLE = TrainingConfig(updates=800, batch_tokens=1000, warmup=200, device="cpu")
"""The recipe of the chapter's own loop."""
TRANSLATED = 200


def mispaired(pairs: Sequence[Ids], fault: str) -> list[Ids]:
    """The same sources and the same targets; but for two of the faults each target stays with its own source."""
    sources = [source for source, _ in pairs]
    if fault == "shifted":
        sources = [*sources[1:], sources[0]]
    elif fault == "shuffled":
        order = torch.randperm(len(sources), generator=torch.Generator().manual_seed(0))
        sources = [sources[i] for i in order.tolist()]
    return [(source, target) for source, (_, target) in zip(sources, pairs, strict=True)]


def broken(model: Transformer, fault: str) -> Transformer:
    """The model itself, with the layers of a part frozen, or with an encoder that no gradient reaches."""
    if fault.endswith("_frozen"):
        getattr(model, fault.removesuffix("_frozen")).requires_grad_(False)
    elif fault == "encoder_cut":
        model.encoder.register_forward_hook(_detached)
    return model


def _detached(module: torch.nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
    return output.detach()


def without_gradient(model: Transformer, batch: Batch) -> list[str]:
    """The names of the parameters with no gradient from the loss of this batch, or one that is zero everywhere."""
    model.zero_grad()
    loss, _ = packed_loss(model, batch, 0.0)
    loss.backward()
    return [name for name, one in model.named_parameters()
            if one.grad is None or not one.grad.any()]  # fmt: skip


@torch.no_grad()
def plain_loss(model: Transformer, batches: Iterable[Batch]) -> float:
    """The mean loss over all target tokens of these batches, in nats per token, without label smoothing."""
    sums = [packed_loss(model, batch, 0.0) for batch in batches]
    return sum(float(loss) for loss, _ in sums) / sum(count for _, count in sums)


def learned(model: Transformer, batch: Batch, updates: int = UPDATES) -> float:
    """The loss on one batch after so many updates on it, in nats per token."""
    adam = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(updates):
        total, count = packed_loss(model, batch, 0.0)
        adam.zero_grad()
        (total / count).backward()
        adam.step()
    return float(total.detach()) / count


def _trained(
    fault: str, tokenizer: Tokenizer, pairs: Sequence[Ids], valid: Sequence[tuple[str, str]]
) -> dict[str, float]:
    """Train on all pairs; losses on them as they were given and on validation pairs, and what is translated right.

    'exchanged_loss' is of the validation targets with the sources of others: a model that uses its source has a higher
    loss there.
    """
    torch.manual_seed(WHOLE.seed)
    model = broken(Transformer(small_model().replace(vocab_size=tokenizer.vocab_size)), fault)
    given = mispaired(pairs, fault)
    batches = TokenBatches(TokenStore.from_ids(given), WHOLE.batch_tokens, seed=WHOLE.seed, pool_pairs=262_144)
    width = model.config.d_model
    fit(FastStep(model, WHOLE), batches, WHOLE.updates, lambda update: learning_rate(update, width, WHOLE.warmup))
    model.eval()
    wrote = Translator(model, tokenizer).translate([source for source, _ in valid[:TRANSLATED]], beam_size=1)
    exact = sum(one == right for one, (_, right) in zip(wrote, valid, strict=False)) / TRANSLATED
    held_out = [_ids(tokenizer, pair) for pair in valid]
    exchanged = mispaired(held_out, "shifted")
    losses = {"train_loss": given[: len(valid)], "valid_loss": held_out, "exchanged_loss": exchanged}
    return {**{name: round(_loss(model, some), 4) for name, some in losses.items()}, "exact": exact}


def _loss(model: Transformer, pairs: Sequence[Ids]) -> float:
    return plain_loss(model, evaluation_batches(TokenStore.from_ids(pairs), 1000, "packed"))


def _ids(tokenizer: Tokenizer, pair: tuple[str, str]) -> Ids:
    return tokenizer.encode(pair[0]), tokenizer.encode(pair[1])


def run() -> dict[str, Any]:
    """Each fault: the loss on sixteen pairs, and parameters without a gradient; and three in a whole training."""
    text = short_pairs("train", LEAKY_PAIRS, LEAKY_WORDS)
    tokenizer = Tokenizer.train(list(itertools.chain(*text)), 800)
    pairs = [_ids(tokenizer, pair) for pair in text]
    results: dict[str, Any] = {}
    for fault in FAULTS:
        torch.manual_seed(SEED)
        model = broken(Transformer(small_model().replace(vocab_size=tokenizer.vocab_size)), fault)
        batch = collate_ids(mispaired(pairs[:ROWS], fault))
        names = without_gradient(model, batch)
        numbers = dict(model.named_parameters())
        results[fault] = {
            "without_gradient": len(names),
            "numbers": sum(numbers[name].numel() for name in names),
            "loss": round(learned(model, batch), 4),
        }
    valid = short_pairs("valid", 300, LEAKY_WORDS)
    trained = {fault: _trained(fault, tokenizer, pairs, valid) for fault in TRAINED}
    return {"rows": ROWS, "updates": UPDATES, "rate": RATE, "faults": results,
            "whole_updates": WHOLE.updates, "translated": TRANSLATED, "trained": trained}  # fmt: skip
