"""Wrong masks: what hides a key, which keys are hidden, and where."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from annotated.config import EOS, PAD
from annotated.model.attention import Masked, Recorded
from annotated.model.embeddings import TokenEmbedding
from annotated.model.layers import Decoder, Encoder
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.model.transformer import Transformer
from annotated.speed.layouts.packed import Packed, RaggedRows
from annotated_grader.doctor.mutants.patching import CACHE, COMPANY, LEAKS, ROWS, SEARCH, Bank, Patches
from annotated_grader.doctor.mutants.written_out import Weights, attention_from, right_weights

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
    "far-past",
    "far-source",
    "source-end-is-read",
    "target-order",
)
def mask_inverted(patches: Patches) -> None:
    attention_from(patches, weights=lambda scores, mask: right_weights(scores, None if mask is None else ~mask))


def _future_hidden_by(patches: Patches, mask: Callable[[int, Any], Tensor]) -> None:
    """Let this function stand for `causal_mask`, also where the fused kernel is told to be causal."""

    def make(original: Any) -> Any:
        def attend_to(self: RaggedRows, keys: RaggedRows, causal: bool = False, dropout: float = 0.0) -> Packed:
            if not causal:
                return original(self, keys, causal, dropout)
            order = mask(self.width, self.positions.device)
            return Packed(self, keys, order if keys.mask is None else order & keys.mask, False, dropout)

        return attend_to

    patches.function(causal_mask, lambda _: lambda length, device=None: mask(length, device))
    patches.method(RaggedRows, "attend_to", make)


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


@BANK.mutant(
    "The causal mask is a buffer of eight by eight: what lies beyond it is hidden from nobody.", "far-leak", claim="C12"
)
def causal_mask_of_fixed_size(patches: Patches) -> None:
    def mask(length: int, device: Any) -> Tensor:
        seen = _ones(length, device)
        seen[..., :BUFFER, :BUFFER] = seen[..., :BUFFER, :BUFFER].tril()
        return seen

    _future_hidden_by(patches, mask)


BUFFER = 8


@BANK.mutant("The decoder looks back 16 tokens and no further, and claims nothing of the kind.", "far-past")
def past_of_16_tokens(patches: Patches) -> None:
    _future_hidden_by(patches, lambda length, device: _ones(length, device).tril().triu(-15))


def _only_padding(attend: Any) -> Any:
    """Attention to the target without the causal half of its mask."""
    if isinstance(attend, Packed):
        return dataclasses.replace(attend, mask=attend.keys.mask, causal=False)
    if isinstance(attend, Masked) and attend.mask is not None:
        return dataclasses.replace(attend, mask=attend.mask[:, :, -1:])  # the last row sees every real key
    return attend  # a cache holds no future


@BANK.mutant(
    "Only the first decoder layer gets the causal mask.",
    *LEAKS,
    "leak-canary",
    "attention-hidden",
    "cache-equals-forward",
    *SEARCH,
)
def causal_mask_in_first_layer_only(patches: Patches) -> None:
    def forward(self: Decoder, x: Tensor, memory: Tensor | None, attend: Any, attend_memory: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, memory, attend, attend_memory)
            attend = _only_padding(attend)
        return self.final_norm(x)

    patches.attribute(Decoder, "forward", forward)


@BANK.mutant(
    "The encoder is causal too: a source token never sees what follows it.",
    "encoder-sees-both-sides",
    "attention-hidden",
    "attention-scale",
    claim="C12",
)
def encoder_is_causal(patches: Patches) -> None:
    def change(attend: Any) -> Any:
        if isinstance(attend, Packed):
            return dataclasses.replace(attend, mask=None, causal=True)
        return dataclasses.replace(attend, mask=attend.mask & causal_mask(attend.mask.size(-1), attend.mask.device))

    _encoder_attends(patches, change)


def _encoder_attends(patches: Patches, change: Callable[[Any], Any]) -> None:
    """Let `change` have the encoder's attend object, in every layout."""

    def make(original: Any) -> Any:
        return lambda self, x, attend: original(self, x, change(attend))

    patches.method(Encoder, "forward", make)


@BANK.mutant(
    "Padding in the source is not hidden from the encoder.",
    *COMPANY,
    "attention-hidden",
    "greedy-follows-model",
    claim="C12",
)
def padding_seen_by_encoder(patches: Patches) -> None:
    _encoder_attends(patches, lambda attend: dataclasses.replace(attend, mask=None))


@BANK.mutant(
    "Padding in the source is not hidden from the decoder's attention to it.",
    *COMPANY,
    "attention-hidden",
    "greedy-follows-model",
    claim="C12",
)
def padding_seen_by_cross_attention(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Decoder, x: Tensor, memory: Tensor | None, attend: Any, attend_memory: Any) -> Tensor:
            return original(self, x, memory, attend, dataclasses.replace(attend_memory, mask=None))

        return forward

    patches.method(Decoder, "forward", make)


@BANK.mutant(
    "The padding mask blanks queries that are padding, in place of keys.",
    *COMPANY,
    "attention-rows",
    "attention-hidden",
    claim="A2",
    source="hyunwoongko/transformer, in the target, where padding on the right makes it harmless",
)
def padding_masked_on_query_rows(patches: Patches) -> None:
    def change(attend: Any) -> Any:
        if isinstance(attend, Packed):
            return attend  # rows have no queries that are padding
        return dataclasses.replace(attend, mask=attend.mask.transpose(-2, -1))

    _encoder_attends(patches, change)


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


def _source_is(patches: Patches, change: Callable[[Tensor], Tensor]) -> None:
    """Let the model read `change` of every source."""

    def encode(original: Any) -> Any:
        return lambda self, source, *rest: original(self, change(source), *rest)

    def decode(original: Any) -> Any:
        return lambda self, target_in, memory, source, *rest: original(self, target_in, memory, change(source), *rest)

    def start(original: Any) -> Any:
        return lambda self, source, *rest, **options: original(self, change(source), *rest, **options)

    for name, make in (("encode", encode), ("decode", decode), ("start_state", start)):
        patches.method(Transformer, name, make)


@BANK.mutant("A source of more than 16 tokens is cut, and nobody is told.", "far-source")
def source_cut(patches: Patches) -> None:
    _source_is(patches, lambda source: source[:, :16])


@BANK.mutant(
    "The mask of the source hides the end of the sentence as well as padding.",
    "source-end-is-read",
    "attention-hidden",
    "attention-scale",
)
def source_end_hidden(patches: Patches) -> None:
    _source_is(patches, lambda source: source.masked_fill(source == EOS, PAD))


@BANK.mutant(
    "Padding is told by its vector, which is zero in a new model: another vector, and it is seen.", "pad-vector-unread"
)
def mask_of_zero_vectors(patches: Patches) -> None:
    hidden = True

    def init(original: Any) -> Any:
        def zeroed(self: TokenEmbedding, *sizes: int) -> None:
            original(self, *sizes)
            with torch.no_grad():
                self.weight[PAD] = 0.0

        return zeroed

    def forward(original: Any) -> Any:
        def look(self: Transformer, *inputs: Any, **options: Any) -> Any:
            nonlocal hidden
            hidden = not bool(self.embedding.weight[PAD].any())
            return original(self, *inputs, **options)

        return look

    patches.method(TokenEmbedding, "__init__", init)
    patches.method(Transformer, "forward", forward)
    patches.function(
        padding_mask, lambda original: lambda ids, pad_id=PAD: original(ids, pad_id) | torch.tensor(not hidden)
    )


@BANK.mutant(
    "The pass that returns attention maps forgets the masks.",
    "attention-hidden",
    source="phlippe/uvadlc_notebooks, tutorial 6, from the second layer on",
)
def maps_without_mask(patches: Patches) -> None:
    def make(original: Any) -> Any:
        return lambda self, q, k, v: original(dataclasses.replace(self, mask=None), q, k, v)

    patches.method(Recorded, "mix", make)
