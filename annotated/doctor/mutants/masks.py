"""Wrong masks: what hides a key, which keys are hidden, and where.

Paper: sections 3.1, 3.2.3
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from annotated.doctor.mutants.patching import CACHE, COMPANY, LEAKS, ROWS, SEARCH, Bank, Patches
from annotated.doctor.mutants.written_out import Weights, attention_from, right_weights
from annotated.model.attention import MultiHeadAttention, fused_attention
from annotated.model.layers import Decoder, Encoder
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.model.packing import PackedRows, Packing

BANK = Bank()


def _filled(fill: float) -> Weights:
    """Hidden scores overwritten with a number, as masks are often written; nothing is done about empty rows."""
    return lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, fill)).softmax(dim=-1)


@BANK.mutant(
    "Hidden scores are filled with -1e-12, which is zero to a softmax.",
    *LEAKS,
    "leak-canary",
    *COMPANY,
    "target-padding",
    "attention-hidden",
    *SEARCH,
    "beam-exhaustive",
    claim="C01",
    source="hyunwoongko/transformer before its issue 10; copies of that version live on",
)
def mask_fill_tiny(patches: Patches) -> None:
    attention_from(patches, weights=_filled(-1e-12))


@BANK.mutant(
    "Hidden scores are filled with -1e9, which float16 cannot hold.",
    "half-precision",
    source="harvardnlp/annotated-transformer and jadore801120/attention-is-all-you-need-pytorch, made for float32",
)
def mask_fill_overflows_half(patches: Patches) -> None:
    attention_from(patches, weights=_filled(-1e9))


@BANK.mutant(
    "Hidden scores are minus infinity also where nothing is left, so a query that may see nothing gets NaN.",
    "hidden-row",
)
def mask_empty_row_nan(patches: Patches) -> None:
    attention_from(patches, weights=_filled(-math.inf))


@BANK.mutant(
    "The mask multiplies the weights after the softmax, so rows no longer sum to one.",
    *LEAKS,
    *COMPANY,
    "target-padding",
    *ROWS,
    *SEARCH,
)
def mask_after_softmax(patches: Patches) -> None:
    def weights(scores: Tensor, mask: Tensor | None) -> Tensor:
        shares = scores.softmax(dim=-1)
        return shares if mask is None else shares * mask

    attention_from(patches, weights=weights)


@BANK.mutant(
    "The mask is read the wrong way round: it hides what it should show.",
    *LEAKS,
    "target-past-is-seen",
    "source-is-reached",
    "encoder-sees-both-sides",
    "leak-canary",
    *COMPANY,
    "target-padding",
    "source-order",
    *ROWS,
    "attention-hidden",
    "attention-scale",
    "dropout-on",
    *SEARCH,
    "beam-exhaustive",
)
def mask_inverted(patches: Patches) -> None:
    attention_from(patches, weights=lambda scores, mask: right_weights(scores, None if mask is None else ~mask))


def _future_hidden_by(patches: Patches, mask: Callable[[int, Any], Tensor]) -> None:
    """Let this function stand for `causal_mask`, also where the fused kernel is told to be causal."""

    def fused(original: Any) -> Any:
        def attention(
            q: Tensor, k: Tensor, v: Tensor, keys: Tensor | None = None, causal: bool = False, dropout: float = 0.0
        ) -> Tensor:
            if causal:
                lookup = mask(q.size(-2), q.device)
                keys = lookup if keys is None else lookup & keys
            return original(q, k, v, keys, dropout=dropout)

        return attention

    patches.function(causal_mask, lambda _: lambda length, device=None: mask(length, device))
    patches.function(fused_attention, fused)
    patches.attribute(Packing, "mask", property(lambda self: self.keys.mask))


def _ones(length: int, device: Any) -> Tensor:
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)


@BANK.mutant(
    "The causal mask is one place too wide: each position sees the token that it has to predict.",
    *LEAKS,
    "leak-canary",
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    "attention-hidden",
    claim="C15",
)
def causal_mask_too_wide(patches: Patches) -> None:
    _future_hidden_by(patches, lambda length, device: _ones(length, device).tril(1))


@BANK.mutant(
    "The causal mask is one place too narrow: a position does not see itself.",
    *ROWS,
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    "attention-hidden",
    claim="C15",
)
def causal_mask_too_narrow(patches: Patches) -> None:
    _future_hidden_by(patches, lambda length, device: _ones(length, device).tril(-1))


@BANK.mutant(
    "The decoder has no causal mask.",
    *LEAKS,
    "leak-canary",
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    "attention-hidden",
    claim="C12",
)
def causal_mask_missing(patches: Patches) -> None:
    _future_hidden_by(patches, _ones)


def _only_padding(mask: Any) -> Any:
    """A target mask without its causal half: the last row, which sees every real key."""
    return dataclasses.replace(mask, causal=False) if isinstance(mask, Packing) else mask[:, :, -1:]


@BANK.mutant(
    "Only the first decoder layer gets the causal mask.",
    *LEAKS,
    "leak-canary",
    "attention-hidden",
    "cache-equals-forward",
    *SEARCH,
)
def causal_mask_in_first_layer_only(patches: Patches) -> None:
    def forward(self: Decoder, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any, return_weights: bool = False):
        own_maps, cross_maps = [], []
        for layer in self.layers:
            x, own, cross = layer(x, memory, mask, memory_mask, return_weights)
            own_maps.append(own)
            cross_maps.append(cross)
            mask = _only_padding(mask)
        return self.final_norm(x), own_maps if return_weights else [], cross_maps if return_weights else []

    patches.attribute(Decoder, "forward", forward)


@BANK.mutant(
    "The encoder is causal too: a source token never sees what follows it.",
    "encoder-sees-both-sides",
    "attention-hidden",
    "attention-scale",
    claim="C12",
)
def encoder_is_causal(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Encoder, x: Tensor, mask: Any, return_weights: bool = False) -> Any:
            packed = isinstance(mask, Packing)
            mask = dataclasses.replace(mask, causal=True) if packed else mask & causal_mask(x.size(1), x.device)
            return original(self, x, mask, return_weights)

        return forward

    patches.method(Encoder, "forward", make)


def _keys_that_exist(packing: Packing) -> Tensor | None:
    assert isinstance(packing.keys, PackedRows)  # static rows have no padding to be seen
    return packing.keys.mask


@BANK.mutant(
    "Padding in the source is not hidden from the encoder.",
    *COMPANY,
    "attention-hidden",
    "greedy-follows-model",
    claim="C12",
)
def padding_seen_by_encoder(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Encoder, x: Tensor, mask: Any, return_weights: bool = False) -> Any:
            return original(self, x, mask if isinstance(mask, Packing) else None, return_weights)

        return forward

    def packed_mask(self: Packing) -> Tensor | None:
        return None if self.causal or self.queries is self.keys else _keys_that_exist(self)

    patches.method(Encoder, "forward", make)
    patches.attribute(Packing, "mask", property(packed_mask))


@BANK.mutant(
    "Padding in the source is not hidden from the decoder's attention to it.",
    *COMPANY,
    "attention-hidden",
    "greedy-follows-model",
    claim="C12",
)
def padding_seen_by_cross_attention(patches: Patches) -> None:
    def make_forward(original: Any) -> Any:
        def forward(self: Decoder, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any, *rest: Any) -> Any:
            return original(self, x, memory, mask, memory_mask if isinstance(memory_mask, Packing) else None, *rest)

        return forward

    def make_step(original: Any) -> Any:
        return lambda self, x, states, source_mask: original(self, x, states, None)

    def packed_mask(self: Packing) -> Tensor | None:
        return _keys_that_exist(self) if self.queries is self.keys and not self.causal else None

    patches.method(Decoder, "forward", make_forward)
    patches.method(Decoder, "step", make_step)
    patches.attribute(Packing, "mask", property(packed_mask))


@BANK.mutant(
    "The padding mask blanks queries that are padding, in place of keys.",
    *COMPANY,
    "attention-rows",
    "attention-hidden",
    claim="A2",
    source="hyunwoongko/transformer, in the target, where padding on the right makes it harmless",
)
def padding_masked_on_query_rows(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Encoder, x: Tensor, mask: Any, return_weights: bool = False) -> Any:
            return original(self, x, mask if isinstance(mask, Packing) else mask.transpose(-2, -1), return_weights)

        return forward

    patches.method(Encoder, "forward", make)


@BANK.mutant(
    "The padding id in the masks is written down as 1, and the data pads with 0.",
    *COMPANY,
    *ROWS,
    "attention-hidden",
    *SEARCH,
    "beam-exhaustive",
    source="hyunwoongko/transformer, which is right as long as its vocabulary puts padding there",
)
def padding_id_hard_coded(patches: Patches) -> None:
    patches.function(padding_mask, lambda original: lambda ids, pad_id=1: original(ids, 1))
    patches.function(
        target_mask,
        lambda _: lambda ids, pad_id=1: padding_mask(ids, 1) & causal_mask(ids.size(1), ids.device),
    )


@BANK.mutant(
    "The pass that returns attention maps forgets the masks.",
    "attention-hidden",
    source="phlippe/uvadlc_notebooks, tutorial 6, from the second layer on",
)
def maps_without_mask(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any = None, **options: Any) -> Any:
            return original(self, query, key, value, None if options.get("return_weights") else mask, **options)

        return forward

    patches.method(MultiHeadAttention, "forward", make)
