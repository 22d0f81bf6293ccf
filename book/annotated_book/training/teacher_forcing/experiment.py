"""Decoders with and without a mask, with a shift of 0, 1 and 2: their training loss, and what they then write."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS, PAD, TrainingConfig, tiny
from annotated.data import Batch, TokenBatches, TokenStore, collate, evaluation_batches
from annotated.loading import load
from annotated.model import Masked, Transformer
from annotated.model.masks import padding_mask
from annotated.training.update import Step, fit

CELLS = tuple((masked, shift) for masked in (True, False) for shift in (1, 0, 2))
"""Mask or none, and by how many places the decoder's input lags behind its output; the paper's is the first."""
UPDATES, PAIRS, BATCH_TOKENS, RATE, LONGEST, BLOCK = 1200, 20000, 600, 5e-3, 8, 20
SHAPE = {"d_model": 64, "d_k": 16, "d_v": 16, "d_ff": 128, "num_encoder_layers": 2, "num_decoder_layers": 2}
SHOWN = (
    "This big garden has ten trees.",
    "The baker has 21 brown goats.",
    "The grandfather rarely closed these boxes.",
    "The king tries to listen to her.",
    "The grandmother opened the green school bag.",
)
"""Sentences of the stepper, all from the test set."""
PREFIXES = ("right words", "its own second choice", "a random token")
DISTANCES = 5


@cache
def pairs(split: str, count: int) -> list[tuple[str, str]]:
    """The first `count` classroom pairs with at most `LONGEST` English words."""
    drawn = classroom_pairs(split, 3 * count)  # type: ignore[arg-type]
    return [(p.source, p.target) for p in drawn if len(p.source_words) <= LONGEST][:count]


@cache
def store(split: str, count: int) -> TokenStore:
    """These pairs, encoded with the shipped tokenizer."""
    encode = load("classroom").tokenizer.encode
    return TokenStore.from_ids([(encode(a), encode(b)) for a, b in pairs(split, count)], 2000)


def decoder_input(target_out: Tensor, shift: int) -> Tensor:
    """What a decoder reads that has to write `target_out` `[B, T]`: the same, `shift` places to the right."""
    start = target_out.new_full((len(target_out), shift), BOS)
    shifted = torch.cat([start, target_out], dim=1)[:, : target_out.size(1)]
    return shifted.masked_fill(target_out == PAD, PAD)


def logits_of(model: Transformer, source: Tensor, target_in: Tensor, masked: bool) -> Tensor:
    """Logits `[B, T, V]` with the causal mask, or with padding alone hidden."""
    if masked:
        return model(source, target_in)
    x = model.embedding(target_in) + model.positions(target_in.size(1))
    own, cross = Masked(padding_mask(target_in)), Masked(padding_mask(source))
    hidden = model.decoder(x, model.encode(source), own, cross)
    return model.project(hidden)


class DecoderStep(Step):
    """A step with the mean loss of a decoder that has a mask or none, and any shift."""

    def __init__(self, model: Transformer, masked: bool, shift: int) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=TrainingConfig.adam_betas)
        super().__init__(model, TrainingConfig(), optimizer)
        self.masked, self.shift = masked, shift

    def micro_step(self, batch: Batch, tokens: float) -> Tensor:
        """Add the gradient of the mean loss; return the loss sum."""
        logits = logits_of(self.model, batch.source, decoder_input(batch.target_out, self.shift), self.masked)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD)
        loss.backward()
        return loss.detach().double() * tokens


def train_decoder(
    masked: bool = True, shift: int = 1, *, updates: int = UPDATES, count: int = PAIRS, seed: int = 0
) -> tuple[Transformer, list[float]]:
    """Train a small translator on `count` classroom sentences; the mask and the shift are yours.

    Returns
    -------
    model, losses
        In evaluation mode; the training loss of each block of `BLOCK` updates, in nats per token.
    """
    torch.manual_seed(seed)
    model = Transformer(tiny(vocab_size=2000, dropout=0.0, norm="pre", **SHAPE))
    step = DecoderStep(model, masked, shift)
    schedule = torch.optim.lr_scheduler.OneCycleLR(step.optimizer, RATE, total_steps=updates)
    batches = TokenBatches(store("train", count), BATCH_TOKENS, seed=seed, pool_pairs=count)
    losses = fit(step, batches, updates, lambda _: float(schedule.get_last_lr()[0]), lambda *_: schedule.step())
    blocks = [losses[i : i + BLOCK] for i in range(0, updates, BLOCK)]
    return model.eval(), [round(sum(block) / len(block), 4) for block in blocks]


@torch.no_grad()
def write(model: Transformer, source: Tensor, masked: bool = True, shift: int = 1, cap: int = 20) -> list[list[int]]:
    """What a decoder writes with no answers at hand: the most probable token, again and again.

    It reads its own words as it read the right ones in training. With a shift of 0 that cannot be: the word to read is
    the word to write. It then reads the one before, as every decoder has to.

    Parameters
    ----------
    source
        Token ids `[B, S]`, each sentence ending in eos.

    Returns
    -------
    list
        For each sentence the ids before eos.
    """
    rows = torch.full((len(source), max(shift, 1)), BOS)
    first = rows.size(1)
    for step in range(cap):
        logits = logits_of(model, source, rows[:, : step + 1], masked)[:, -1]
        logits[:, [PAD, BOS]] = -math.inf
        rows = torch.cat([rows, logits.argmax(-1, keepdim=True)], dim=1)
    return [ids[: ids.index(EOS)] if EOS in ids else ids for ids in rows[:, first:].tolist()]


@torch.no_grad()
def judge(model: Transformer, masked: bool, shift: int, count: int = 300) -> dict[str, float]:
    """The numbers that a training log shows, and the share of sentences that are right when it counts.

    Returns
    -------
    dict
        With the right words in the decoder's input: 'loss' in nats per token, 'accuracy' of tokens, and 'all_right',
        the share of sentences whose tokens are all right. Writing alone: 'sentences', the share equal to the reference.
    """
    loss, right, tokens, all_right, sentences = 0.0, 0, 0, 0, 0
    for batch in evaluation_batches(store("test", count), 2000):
        gold, real = batch.target_out, batch.target_out != PAD
        logits = logits_of(model, batch.source, decoder_input(gold, shift), masked)
        loss += float(F.cross_entropy(logits.flatten(0, 1), gold.flatten(), ignore_index=PAD, reduction="sum"))
        hits = logits.argmax(-1) == gold
        right, tokens = right + int(hits[real].sum()), tokens + batch.target_tokens
        all_right += int((hits | ~real).all(1).sum())
        written = write(model, batch.source, masked, shift, cap=gold.size(1) + 1)
        sentences += sum([*ids, EOS] == row[: len(ids) + 1] for ids, row in zip(written, gold.tolist(), strict=True))
    return {
        "loss": round(loss / tokens, 4),
        "accuracy": round(right / tokens, 4),
        "all_right": round(all_right / count, 4),
        "sentences": round(sentences / count, 4),
    }


@torch.no_grad()
def slots(model: Transformer, source: str, target: str, masked: bool, shift: int, top: int = 4) -> list[list[Any]]:
    """For each slot of one sentence: the probability of the right token, and the `top` most probable ones."""
    tokenizer = load("classroom").tokenizer
    batch = collate(TokenStore.from_ids([(tokenizer.encode(source), tokenizer.encode(target))], 2000), [0])
    logits = logits_of(model, batch.source, decoder_input(batch.target_out, shift), masked)[0]
    found = []
    for row, gold in zip(logits.softmax(-1), batch.target_out[0].tolist(), strict=True):
        best = row.topk(top)
        names = tokenizer.tokens(best.indices.tolist())
        shares = [round(p, 4) for p in best.values.tolist()]
        found.append([round(float(row[gold]), 4), dict(zip(names, shares, strict=True))])
    return found


@torch.no_grad()
def after_a_wrong_word(
    model: Transformer, prefix: str, data: TokenStore | None = None, distances: int = DISTANCES, seed: int = 0
) -> list[float]:
    """The loss of the right word 1, 2, 3 ... places after one word of the prefix was exchanged.

    Parameters
    ----------
    prefix
        One of `PREFIXES`: nothing exchanged; the word that the model finds second best there, or best if that is not
        the right one; or a token drawn evenly from the vocabulary.
    data
        Sentence pairs; None for 300 short ones of the test set. In each, one place is drawn at random.

    Returns
    -------
    list
        Means in nats, over all sentences that reach as far.
    """
    if prefix not in PREFIXES:
        raise ValueError(f"the prefix holds {', or '.join(PREFIXES)}; not {prefix!r}")
    generator = torch.Generator().manual_seed(seed)
    sums, counts = [0.0] * distances, [0] * distances
    for batch in evaluation_batches(store("test", 300) if data is None else data, 2000):
        gold, rows = batch.target_out, torch.arange(len(batch))
        lengths = torch.tensor(batch.target_lengths)
        place = (torch.rand(len(batch), generator=generator) * (lengths - 1)).long()  # of the exchanged word, not eos
        noise = torch.randint(4, model.config.vocab_size, (len(batch),), generator=generator)
        target_in = batch.target_in.clone()
        if prefix == PREFIXES[1]:
            logits = model(batch.source, target_in)[rows, place].scatter(1, gold[rows, place, None], -math.inf)
            target_in[rows, place + 1] = logits.argmax(-1)
        elif prefix == PREFIXES[2]:
            target_in[rows, place + 1] = noise
        nats = F.cross_entropy(model(batch.source, target_in).transpose(1, 2), gold, reduction="none")
        for d in range(distances):
            reach = place + 1 + d < lengths
            sums[d] += float(nats[rows[reach], place[reach] + 1 + d].sum())
            counts[d] += int(reach.sum())
    return [round(total / n, 4) for total, n in zip(sums, counts, strict=True)]


def run() -> dict[str, Any]:
    """Six decoders on the same sentences in the same order: curves, scores, and what they write."""
    tokenizer = load("classroom").tokenizer
    translations = dict(pairs("test", 300))
    shown = [{"source": text, "target": [], "cells": {}} for text in SHOWN]
    cells: dict[str, Any] = {}
    wrong: dict[str, list[float]] = {}
    for masked, shift in CELLS:
        name = f"{'mask' if masked else 'no mask'}, shift {shift}"
        model, curve = train_decoder(masked, shift)
        cells[name] = {**judge(model, masked, shift), "curve": curve}
        for one in shown:
            text, german = str(one["source"]), translations[str(one["source"])]
            source = torch.tensor([[*tokenizer.encode(text), EOS]])
            one["target"] = tokenizer.tokens([*tokenizer.encode(german), EOS])
            written = write(model, source, masked, shift)[0]
            found = {"slots": slots(model, text, german, masked, shift), "writes": tokenizer.decode(written)}
            one["cells"][name] = found  # type: ignore[index]
        if masked and shift == 1:
            wrong = {prefix: after_a_wrong_word(model, prefix) for prefix in PREFIXES}
    return {"updates": UPDATES, "block": BLOCK, "cells": cells, "shown": shown, "wrong_word": wrong}
