"""Tensors on the way through the model, with their shapes in letters, and what each costs by formula.

One list for the page and for its script. `traced` beside this file has the same shapes from the library at work,
and a test holds them equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from annotated.model.attention import Masked, MultiHeadAttention, scaled_dot_product_attention
from annotated.model.embeddings import TokenEmbedding
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.layers import SublayerConnection
from annotated.model.masks import padding_mask, target_mask
from annotated.model.positional_encoding import SinusoidalPositions
from annotated.model.transformer import Transformer

Line = tuple[Callable[..., Any], str]
"""A function of the library, and a fragment of the one line of it that makes the tensor."""


class TracedStep(NamedTuple):
    """A tensor: shape and formulas in the letters of the page, factors joined by '·' and terms by ' + '."""

    key: str
    name: str
    shape: tuple[str, ...]
    line: Line | None = None
    parameters: str = ""
    products: str = ""
    """Multiply-adds of matrix products, of this tensor in one layer."""
    kind: str = "float32"
    """The type of its numbers."""


class TracedStage(NamedTuple):
    """Steps that belong together; `repeated` if every layer has them."""

    title: str
    repeated: bool
    steps: tuple[TracedStep, ...]


def _entering(side: str, ids: str, n: str) -> tuple[TracedStep, ...]:
    mask = (padding_mask, "(ids != pad_id)") if side == "encoder" else (target_mask, "return")
    table = "V·D" if side == "encoder" else ""
    return (
        TracedStep(f"{side}.ids", f"token ids, `{ids}`", ("B", n), kind="int64"),
        TracedStep(f"{side}.mask", "mask", ("B", "1", "1" if side == "encoder" else n, n), mask, kind="bool"),
        TracedStep(f"{side}.vectors", "token vectors", ("B", n, "D"), (TokenEmbedding.forward, "F.embedding"), table),
        TracedStep(f"{side}.positions", "positions", (n, "D"), (SinusoidalPositions.forward, "return")),
        TracedStep(f"{side}.sum", "vectors plus positions", ("B", n, "D"), (Transformer.embed, "+ positions")),
    )


def _projected(at: str, queries: str, keys: str) -> tuple[TracedStep, ...]:
    project, width = MultiHeadAttention.project, "H·K"
    if queries == keys and not at.startswith("cross"):
        line = (project, "q, k, v = linear(query")
        return (
            TracedStep(
                f"{at}.projected",
                "queries, keys and values, each",
                ("B", keys, width),
                line,
                "3·D·H·K",
                f"3·B·{keys}·D·H·K",
            ),
        )
    q, kv = (project, "q = None if query is None"), (project, "k, v = linear(key")
    return (
        TracedStep(f"{at}.queries", "queries", ("B", queries, width), q, "D·H·K", f"B·{queries}·D·H·K"),
        TracedStep(f"{at}.keys", "keys and values, each", ("B", keys, width), kv, "2·D·H·K", f"2·B·{keys}·D·H·K"),
    )


def _attention(at: str, queries: str, keys: str) -> tuple[TracedStep, ...]:
    equation, front = scaled_dot_product_attention, (Masked.__call__, "for x in (q, k, v)")
    split, join = (MultiHeadAttention._split_heads, "return"), (MultiHeadAttention._join_heads, "return")
    back = (Masked.__call__, "return self.mix")
    out = (MultiHeadAttention.forward, "return self.out_projection")
    each = f"B·H·{queries}·{keys}·K"
    both = "queries, keys and values" if queries == keys else "queries"
    others = (
        ()
        if queries == keys
        else (TracedStep(f"{at}.front_keys", "keys and values, heads in front", ("B", "H", keys, "K"), front),)
    )
    split_others = (
        ()
        if queries == keys
        else (TracedStep(f"{at}.split_keys", "keys and values, in heads", ("B", keys, "H", "K"), split),)
    )
    return (
        *_projected(at, queries, keys),
        TracedStep(f"{at}.split", f"{both}, in heads", ("B", queries, "H", "K"), split),
        *split_others,
        TracedStep(f"{at}.front", f"{both}, heads in front", ("B", "H", queries, "K"), front),
        *others,
        TracedStep(f"{at}.scores", "scores", ("B", "H", queries, keys), (equation, "scores = q @ k"), "", each),
        TracedStep(f"{at}.weights", "attention weights", ("B", "H", queries, keys), (equation, "~(mask | empty)")),
        TracedStep(f"{at}.mixed", "weighted values", ("B", "H", queries, "K"), (equation, "@ v, weights"), "", each),
        TracedStep(f"{at}.back", "heads behind positions", ("B", queries, "H", "K"), back),
        TracedStep(f"{at}.joined", "heads side by side", ("B", queries, "H·K"), join),
        TracedStep(f"{at}.output", "output of the attention", ("B", queries, "D"), out, "H·K·D", f"B·{queries}·H·K·D"),
        _normed(at, queries),
    )  # fmt: skip


def _normed(at: str, n: str) -> TracedStep:
    line = (SublayerConnection.after, "return total if self.pre")
    return TracedStep(f"{at}.normed", "residual sum, normalised", ("B", n, "D"), line, "2·D")


def _feed_forward(at: str, n: str) -> tuple[TracedStep, ...]:
    forward = PositionwiseFeedForward.forward
    return (
        TracedStep(
            f"{at}.inner", "inner layer", ("B", n, "F"), (forward, "hidden = linear_relu"), "D·F + F", f"B·{n}·D·F"
        ),
        TracedStep(
            f"{at}.outer",
            "output of the network",
            ("B", n, "D"),
            (forward, "return self.outer"),
            "F·D + D",
            f"B·{n}·F·D",
        ),
        _normed(at, n),
    )


STAGES = (
    TracedStage("Into the encoder", False, _entering("encoder", "source", "S")),
    TracedStage("Encoder: self-attention", True, _attention("self", "S", "S")),
    TracedStage("Encoder: feed-forward network", True, _feed_forward("encoder_network", "S")),
    TracedStage("Into the decoder", False, _entering("decoder", "target_in", "T")),
    TracedStage("Decoder: masked self-attention", True, _attention("masked", "T", "T")),
    TracedStage("Decoder: attention to the encoder's output", True, _attention("cross", "T", "S")),
    TracedStage("Decoder: feed-forward network", True, _feed_forward("decoder_network", "T")),
    TracedStage("Out of the decoder", False, (
        TracedStep("logits", "logits", ("B", "T", "V"), (TokenEmbedding.project, "return"), "", "B·T·D·V"),
    )),
)  # fmt: skip
