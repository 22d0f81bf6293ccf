"""Wrong attention: the scale, the softmax, the heads, and which sequence looks at which."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model.attention import MultiHeadAttention, Recorded
from annotated.model.layers import DecoderLayer, Encoder
from annotated_grader.doctor.mutants.patching import CACHE, COMPANY, LEAKS, PADDING, ROWS, SEARCH, Bank, Patches
from annotated_grader.doctor.mutants.written_out import attention_from, attention_is, right_scores, right_weights

BANK = Bank()


# One attention


@BANK.mutant("Scores are divided by d_k, not by its root.", "attention-scale", claim="C08")
def scale_by_d_k(patches: Patches) -> None:
    attention_from(patches, scores=lambda q, k: q @ k.transpose(-2, -1) / q.size(-1))


@BANK.mutant(
    "Scores are divided by the root of d_model, the width of all heads together.",
    "attention-scale",
    claim="C08",
    source="karpathy/ng-video-lecture, issue 6, and lucidrains/vit-pytorch, issue 65",
)
def scale_by_root_d_model(patches: Patches) -> None:
    attention_from(patches, scores=lambda q, k: q @ k.transpose(-2, -1) / math.sqrt(q.size(-3) * q.size(-1)))


@BANK.mutant(
    "Scores are not divided at all.", "attention-scale", claim="C10", source="a summary of the paper for students"
)
def scale_missing(patches: Patches) -> None:
    attention_from(patches, scores=lambda q, k: q @ k.transpose(-2, -1))


@BANK.mutant(
    "The softmax runs over the queries, so columns of weights sum to one and rows do not.",
    *LEAKS,
    "leak-canary",
    *PADDING,
    "accumulation",
    "cache-equals-forward",
    "start-rows",
    "perplexity",
    "target-padding",
    *ROWS,
    "attention-scale",
    *SEARCH,
    "beam-exhaustive",
    claim="C09",
)
def softmax_over_queries(patches: Patches) -> None:
    def weights(scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return scores.softmax(dim=-2)
        mask = mask.expand_as(scores)
        return right_weights(scores.transpose(-2, -1), mask.transpose(-2, -1)).transpose(-2, -1)

    attention_from(patches, weights=weights)


@BANK.mutant(
    "Scores are multiplied by the logarithm of the number of keys, and padding is counted among them.",
    "source-padding",
    "batch-mates",
    "target-padding",
    "attention-scale",
    "accumulation",
    *CACHE,
    "greedy-follows-model",
    "perplexity",
)
def scale_counts_keys(patches: Patches) -> None:
    attention_from(patches, scores=lambda q, k: right_scores(q, k) * math.log(1 + k.size(-2)))


@BANK.mutant("The softmax is computed in 16 bits, and its weights are rounded to them.", *ROWS, "attention-scale")
def softmax_in_16_bits(patches: Patches) -> None:
    def weights(scores: Tensor, mask: Tensor | None) -> Tensor:
        return right_weights(scores, mask).bfloat16().to(scores.dtype)

    attention_from(patches, weights=weights)


@BANK.mutant(
    "Queries are compared with the values, and the keys are averaged.",
    "attention-scale",
    "heads-are-concatenated",
    claim="C11",
    source="a translation of the paper, 'dot products with all values'",
)
def keys_and_values_swapped(patches: Patches) -> None:
    def explicit(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        weights = right_weights(right_scores(q, v), mask)
        return F.dropout(weights, dropout, training=dropout > 0) @ k, weights

    attention_is(patches, explicit)


@BANK.mutant(
    "The attention weights that are handed out have gone through dropout.",
    "attention-before-dropout",
    source="harvardnlp/annotated-transformer and jadore801120/attention-is-all-you-need-pytorch",
)
def maps_after_dropout(patches: Patches) -> None:
    def explicit(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        weights = F.dropout(right_weights(right_scores(q, k), mask), dropout, training=dropout > 0)
        return weights @ v, weights

    attention_is(patches, explicit)


# Many heads


def _before_output(patches: Patches, change: Callable[[Tensor], Tensor]) -> None:
    """Let W_O of every attention sub-layer built now read `change` of the heads' outputs `[..., H, d_v]`."""

    def make(original: Any) -> Any:
        def init(self: MultiHeadAttention, *args: Any, **options: Any) -> None:
            original(self, *args, **options)
            self.out_projection.register_forward_pre_hook(partial(hook, self.num_heads))

        return init

    def hook(num_heads: int, module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (change(inputs[0].unflatten(-1, (num_heads, -1))).flatten(-2),)

    patches.method(MultiHeadAttention, "__init__", make)


@BANK.mutant(
    "The heads' outputs are averaged, not concatenated.",
    "heads-are-concatenated",
    claim="C04",
    source="notes for students, in words",
)
def heads_averaged(patches: Patches) -> None:
    _before_output(patches, lambda heads: heads.mean(dim=-2, keepdim=True).expand_as(heads))


@BANK.mutant(
    "The concatenated heads are the result: the output projection is never applied.",
    "heads-are-concatenated",
    claim="C06",
    source="notes for students, in words",
)
def output_projection_missing(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def init(self: MultiHeadAttention, *args: Any, **options: Any) -> None:
            original(self, *args, **options)
            self.out_projection.register_forward_hook(lambda module, inputs, output: inputs[0])

        return init

    patches.method(MultiHeadAttention, "__init__", make)


def _projected_by(patches: Patches, change: Callable[[MultiHeadAttention, Tensor], Tensor]) -> None:
    """Let `change` have the matrix of W_Q, W_K and W_V `[2 H K + H d_v, D]` before anything is multiplied by it."""

    def project(self: MultiHeadAttention, *sequences: Tensor | None) -> list[Tensor | None]:
        matrices = change(self, self.in_projection).split(self.widths)
        biases = (None,) * 3 if self.in_bias is None else self.in_bias.split(self.widths)
        return [
            None if x is None else self._split_heads(F.linear(x, matrix, bias))
            for x, matrix, bias in zip(sequences, matrices, biases, strict=True)
        ]

    patches.attribute(MultiHeadAttention, "project", project)


@BANK.mutant(
    "Each head projects only its own slice of the input, like a grouped convolution.",
    "heads-read-whole-input",
    claim="C07",
    source="pbloem/former, issue 13, where all slices also shared one matrix",
)
def heads_read_slices(patches: Patches) -> None:
    def change(self: MultiHeadAttention, matrix: Tensor) -> Tensor:
        by_head = matrix.unflatten(1, (self.num_heads, -1)).unflatten(0, (3, self.num_heads, -1))
        own = torch.eye(self.num_heads, dtype=matrix.dtype)[None, :, None, :, None]  # [3, H, K, H, D / H]
        return (by_head * own).flatten(3).flatten(0, 2)

    _projected_by(patches, change)


@BANK.mutant(
    "All heads share the first head's three projections, so they are one head, copied.", "heads-differ", claim="C04"
)
def heads_share_projections(patches: Patches) -> None:
    def change(self: MultiHeadAttention, matrix: Tensor) -> Tensor:
        by_head = matrix.unflatten(0, (3, self.num_heads, -1))
        return by_head[:, :1].expand_as(by_head).flatten(0, 2)

    _projected_by(patches, change)


@BANK.mutant("Keys are made with W_Q, so that every score is symmetric in its two tokens.", "heads-differ", claim="C48")
def keys_made_with_w_q(patches: Patches) -> None:
    def change(self: MultiHeadAttention, matrix: Tensor) -> Tensor:
        queries, _, values = matrix.split(self.widths)
        return torch.cat((queries, queries, values))

    _projected_by(patches, change)


@BANK.mutant(
    "Heads are split off by a reshape alone, without a transpose, which mixes positions into heads.",
    "target-past-is-seen",
    "encoder-sees-both-sides",
    *COMPANY,
    "target-padding",
    "heads-read-whole-input",
    "heads-are-concatenated",
    *SEARCH,
    "beam-exhaustive",
    "far-past",
)
def heads_split_without_transpose(patches: Patches) -> None:
    def split(self: MultiHeadAttention, x: Tensor) -> Tensor:
        if x.dim() == 2:  # rows: there are no sentences to mix
            return x.unflatten(-1, (self.num_heads, -1))
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1).transpose(1, 2)

    patches.attribute(MultiHeadAttention, "_split_heads", split)
    patches.attribute(MultiHeadAttention, "_join_heads", _joined_by_reshape)


@BANK.mutant(
    "Heads are joined by a reshape alone, without the transpose back, which mixes positions.",
    *LEAKS,
    "leak-canary",
    *COMPANY,
    "target-padding",
    "heads-are-concatenated",
    *SEARCH,
    "beam-exhaustive",
)
def heads_joined_without_transpose(patches: Patches) -> None:
    patches.attribute(MultiHeadAttention, "_join_heads", _joined_by_reshape)


def _joined_by_reshape(self: MultiHeadAttention, x: Tensor) -> Tensor:
    """`[B, T, H, K]` to `[B, T, H * K]` as if the heads still stood in front; rows `[R, H, K]` are joined right."""
    return x.flatten(-2) if x.dim() == 3 else x.transpose(1, 2).reshape(x.size(0), x.size(1), -1)


# Who looks at whom


@BANK.mutant(
    "The decoder reads the embedded source: what the encoder's layers compute is dropped.",
    "encoder-sees-both-sides",
    claim="C19",
)
def encoder_skipped(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: Encoder, x: Tensor, attend: Any) -> Tensor:
            original(self, x, attend)  # its maps are kept
            return x

        return forward

    patches.method(Encoder, "forward", make)


@BANK.mutant(
    "In training the decoder's second attention reads the target again, with its mask, and never the source.",
    "source-is-reached",
    "source-order",
    "attention-shape",
    *CACHE,
    *SEARCH,
    "beam-exhaustive",
    "far-source",
    "source-end-is-read",
    claim="C19",
)
def cross_attention_reads_target(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def forward(self: DecoderLayer, x: Tensor, memory: Tensor | None, attend: Any, attend_memory: Any) -> Tensor:
            if memory is None:  # a cached step
                return original(self, x, memory, attend, attend_memory)
            kept = {"weights": attend_memory.weights} if isinstance(attend_memory, Recorded) else {}
            return original(self, x, x, attend, dataclasses.replace(attend, **kept))

        return forward

    patches.method(DecoderLayer, "forward", make)
