"""Wrong decoding: what is cached, what follows a hypothesis, how it is scored, and when it stops."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from annotated.config import EOS, PAD
from annotated.decoding import beam, greedy, pools
from annotated.decoding.beam import BeamSearch, Candidates
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.pools import Alive
from annotated.decoding.search import decoding_mode, max_lengths
from annotated.model.transformer import Transformer
from annotated.speed.kernels.fused import fused_attention
from annotated.speed.layouts.cache import AttentionCache, CachedMemory, DecoderState
from annotated_grader.doctor.mutants.patching import CACHE, SEARCH, Bank, Patches

BANK = Bank()


# What is remembered from step to step


@BANK.mutant(
    "The cache is not reordered: after a beam step a hypothesis goes on with another's keys and values.",
    "cache-follows-beam",
    "beam-scores",
    claim="C20",
    source="lucidrains/x-transformers, in its beam search",
)
def cache_not_reordered(patches: Patches) -> None:
    patches.attribute(DecoderState, "reorder", lambda self, parents: None)


@BANK.mutant("Only the first layer's cache is reordered.", "cache-follows-beam", "beam-scores", claim="C20")
def cache_reordered_in_first_layer_only(patches: Patches) -> None:
    patches.attribute(DecoderState, "reorder", lambda self, parents: self.layers[0].own.take(parents))


@BANK.mutant(
    "Rows of a beam are repeated as a whole, sentence after sentence and again, where each sentence's rows must stand "
    "together.",
    "start-rows",
)
def start_rows_tiled(patches: Patches) -> None:
    def mix(self: CachedMemory, q: Tensor, *_: Any) -> Tensor:
        layer = next(self.layers)
        keys, values = layer.cross_keys, layer.cross_values
        q = q.view(-1, keys.size(0), *q.shape[1:]).permute(1, 2, 0, 3)  # [R, H, K] -> [B, H, R / B, K]
        return fused_attention(q, keys, values, self.mask).permute(2, 0, 1, 3).flatten(0, 1)

    patches.attribute(CachedMemory, "__call__", mix)


@BANK.mutant("Texts are not reordered with the cache: a hypothesis is written under another's name.", "beam-scores")
def texts_not_reordered(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def reorder(self: Alive, parents: Tensor) -> None:
            texts = self.tokens
            original(self, parents)
            self.tokens = texts

        return reorder

    patches.method(Alive, "reorder", make)


@BANK.mutant(
    "The cache keeps keys and forgets values: each step's value stands for all positions so far.",
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    claim="C20",
)
def cache_forgets_values(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def append(self: AttentionCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            keys, values = original(self, k, v)
            return keys, v.unsqueeze(2).expand_as(values)

        return append

    patches.method(AttentionCache, "append", make)


@BANK.mutant(
    "A cached step does not see itself: the new key and value join the cache only after it.",
    *CACHE,
    *SEARCH,
    claim="C20",
)
def cached_step_blind_to_itself(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def append(self: AttentionCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            keys, values = original(self, k, v)
            return (keys, values) if self.length == 1 else (keys[:, :, :-1], values[:, :, :-1])

        return append

    patches.method(AttentionCache, "append", make)


@BANK.mutant(
    "Padding in the source is seen while decoding, and hidden in training.", *CACHE, "greedy-follows-model", claim="C12"
)
def cached_step_sees_padding(patches: Patches) -> None:
    patches.method(
        DecoderState, "attend_memory", lambda original: lambda self: dataclasses.replace(original(self), mask=None)
    )


@BANK.mutant(
    "In decoding, logits are the root of d_model times as large as in training.",
    *CACHE,
    "beam-scores",
    "beam-exhaustive",
    source="jadore801120/attention-is-all-you-need-pytorch",
)
def decoding_logits_scaled(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def step(self: Transformer, token: Tensor, state: Any) -> tuple[Tensor, Any]:
            logits, state = original(self, token, state)
            return logits * math.sqrt(self.config.d_model), state

        return step

    patches.method(Transformer, "decode_step", make)


@BANK.mutant("Dropout stays on while decoding a model that is still in training mode.", "greedy-without-dropout")
def decoding_in_training_mode(patches: Patches) -> None:
    @contextlib.contextmanager
    def as_it_is(model: Any) -> Iterator[None]:
        with torch.inference_mode():
            yield

    patches.function(decoding_mode, lambda _: as_it_is)


@BANK.mutant(
    "Decoding starts from padding, which was never trained, and not from bos.",
    *SEARCH,
    "beam-exhaustive",
    source="the copy task of harvardnlp/annotated-transformer, issue 127",
)
def decoding_starts_from_padding(patches: Patches) -> None:
    for module in (greedy, pools):
        patches.attribute(module, "BOS", PAD)


# When to stop


@BANK.mutant(
    "Greedy search does not stop at eos, and goes on to the cap.",
    "greedy-follows-model",
    "beam-one-is-greedy",
    source="harvardnlp/annotated-transformer; DongjunLee/transformer-tensorflow, issue 5",
)
def greedy_ignores_eos(patches: Patches) -> None:
    patches.attribute(greedy, "EOS", -1)


@BANK.mutant(
    "Greedy search stops when the first sentence of the batch has ended, and cuts the others short.",
    "greedy-follows-model",
)
def greedy_stops_with_first(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def search(*arguments: Any) -> list[Hypothesis]:
            found = original(*arguments)
            steps = min((h.steps for h in found), default=0)
            return [Hypothesis(h.tokens[:steps], h.log_probability, h.score, h.steps <= steps) for h in found]

        return search

    patches.function(greedy._search, make)


@BANK.mutant("The token that ends a sentence is left in its text.", "greedy-follows-model", "beam-one-is-greedy")
def eos_left_in_text(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def hypothesis(tokens: list[int], log_probability: float, alpha: float) -> Hypothesis:
            found = original(tokens, log_probability, alpha)
            return Hypothesis([*found.tokens, EOS], log_probability, found.score) if found.finished else found

        return hypothesis

    patches.function(greedy._hypothesis, make)


@BANK.mutant("The cap counts one symbol more than was asked for.", "greedy-follows-model")
def cap_off_by_one(patches: Patches) -> None:
    patches.function(max_lengths, lambda original: lambda *args: [limit + 1 for limit in original(*args)])


# Beam search


@BANK.mutant(
    "Beam search has no finished pool: hypotheses grow on behind their eos, and collect what comes there.",
    "beam-scores",
    "beam-penalty",
    "beam-exhaustive",
    claim="C24",
    source="jadore801120/attention-is-all-you-need-pytorch",
)
def beam_without_finished_pool(patches: Patches) -> None:
    def step(self: BeamSearch, candidates: Candidates) -> tuple[Tensor, None]:
        log_probability, kept = candidates.log_probability.topk(self.alive.log_probability.size(1), dim=1)
        self.alive.advance(candidates.parents.gather(1, kept), candidates.tokens.gather(1, kept), log_probability)
        return kept, None

    def make(original: Any) -> Any:
        def results(self: BeamSearch, row: int, unfinished: bool) -> list[Hypothesis]:
            return [_cut(h) for h in original(self, row, unfinished)]

        return results

    patches.attribute(BeamSearch, "step", step)
    patches.method(BeamSearch, "results", make)


def _cut(hypothesis: Hypothesis) -> Hypothesis:
    """A text up to its first eos, with the log-probability of all that stood behind it."""
    tokens, p, score = hypothesis.tokens, hypothesis.log_probability, hypothesis.score
    return Hypothesis(tokens[: tokens.index(EOS)], p, score) if EOS in tokens else Hypothesis(tokens, p, score, False)


@BANK.mutant(
    "Beam search stops at the first hypothesis that ends, though others could still beat it.", "beam-exhaustive"
)
def beam_stops_at_first_end(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def is_done(self: BeamSearch) -> list[bool]:
            ended = (self.finished.scores[:, 0] > -math.inf).tolist()
            return [a or b for a, b in zip(ended, original(self), strict=True)]

        return is_done

    patches.method(BeamSearch, "is_done", make)


@BANK.mutant(
    "Beam search takes logits for log-probabilities: nothing normalises them.",
    "beam-scores",
    "beam-exhaustive",
    claim="C24",
)
def beam_adds_logits(patches: Patches) -> None:
    def top(logits: Tensor, count: int, forbidden: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = logits if mask is None else logits.masked_fill(~mask, -math.inf)
        best = scores.index_fill(1, forbidden, -math.inf).topk(count, dim=1)
        return best.values, best.indices

    patches.attribute(beam, "top_tokens", top)


# Scores


@BANK.mutant(
    "Raw log-probabilities are handed out as scores, whatever alpha is.",
    "beam-penalty",
    "beam-exhaustive",
    source="tensorflow/tensor2tensor, for hypotheses that are not finished",
)
def score_without_penalty(patches: Patches) -> None:
    patches.function(length_penalty, lambda original: lambda length, alpha: 1.0)


@BANK.mutant(
    "The length penalty is length ** alpha, not ((5 + length) / 6) ** alpha.",
    "beam-penalty",
    "beam-exhaustive",
    source="jadore801120/attention-is-all-you-need-pytorch",
)
def penalty_by_bare_length(patches: Patches) -> None:
    patches.function(length_penalty, lambda original: lambda length, alpha: float(length) ** alpha)


@BANK.mutant(
    "The length penalty counts bos.",
    "beam-penalty",
    "beam-exhaustive",
    source="jadore801120/attention-is-all-you-need-pytorch",
)
def penalty_counts_bos(patches: Patches) -> None:
    patches.function(length_penalty, lambda original: lambda length, alpha: original(length + 1, alpha))


@BANK.mutant("The length penalty does not count eos.", "beam-penalty", "beam-exhaustive")
def penalty_without_eos(patches: Patches) -> None:
    patches.function(length_penalty, lambda original: lambda length, alpha: original(length - 1, alpha))


@BANK.mutant(
    "Log-probabilities are multiplied by the length penalty, not divided by it.", "beam-penalty", "beam-exhaustive"
)
def penalty_multiplied(patches: Patches) -> None:
    patches.function(length_penalty, lambda original: lambda length, alpha: 1 / original(length, alpha))
