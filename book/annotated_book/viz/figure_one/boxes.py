"""Boxes of figure 1: what each does, the shape that leaves it, its chapter, the lines of the library that make it."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import annotated

_ROOT = Path(annotated.__file__).resolve().parents[1]
_MODEL = "annotated.model."
Code = tuple[str, tuple[str, ...]]
"""The dotted name of an object, and a piece of each line of it that is meant."""


@dataclass(frozen=True)
class Box:
    """One box of the drawing.

    `name` is the name of a box in a `Trace`, with * where the number of the layer goes; `side` says whose tokens
    its rows are.
    """

    name: str
    label: str
    kind: str
    side: str
    shape: str
    paper: str
    what: str
    code: tuple[Code, ...]
    place: tuple[int, int, int, int]
    """x, y, width and height in the drawing."""

    @property
    def part(self) -> str:
        """The name without the layer, as a chapter's front matter has it: `encoder.self_attention`."""
        return self.name.replace(".*", "")


_ATTENTION: Code = (
    _MODEL + "attention.MultiHeadAttention.forward",
    ("q, k, v = self.project(", "return self.out_projection(self._join_heads(attend("),
)
_EQUATION_1: Code = (_MODEL + "attention.Recorded.mix", ("output, weights = scaled_dot_product_attention(",))
_AFTER: Code = (_MODEL + "layers.SublayerConnection.after", ("total = ", "return total"))
_FEED_FORWARD: Code = (
    _MODEL + "feed_forward.PositionwiseFeedForward.forward",
    ("hidden = linear_relu(", "return self.outer("),
)
_EMBEDDING: Code = (_MODEL + "embeddings.TokenEmbedding.forward", ("return F.embedding(",))
_POSITIONS: Code = (
    _MODEL + "positional_encoding.sinusoidal_encoding",
    ("divisors = ", "angles = ", "return torch.stack("),
)
_SUM: Code = (_MODEL + "transformer.Transformer.embed", ("return self.dropout(",))
_ENCODER, _DECODER = _MODEL + "layers.EncoderLayer.forward", _MODEL + "layers.DecoderLayer.forward"

_E, _D, _W, _H = 22, 204, 144, 38  # left edges of the two columns; size of a box

BOXES = (
    Box("source.tokens", "Inputs", "text", "source", "[S]", "5.1",
        "The English sentence as tokens of a fixed vocabulary. Each token is one whole number. The last one is the end "
        "token, </s>.",
        (("annotated.translator.Translator._encode", ("sources = [[*ids, EOS]",)),), (_E, 522, _W, 36)),
    Box("source.embedding", "Embedding", "embedding", "source", "[S, D]", "3.4",
        "Each token becomes a trained vector, multiplied by the square root of D. The same token gets the same "
        "vector in every sentence.",
        (_EMBEDDING,), (_E, 472, 77, _H)),
    Box("source.positions", "Position", "embedding", "source", "[S, D]", "3.5",
        "A vector of sines and cosines for each position. It is not trained and does not depend on the token.",
        (_POSITIONS,), (_E + 83, 472, 61, _H)),
    Box("source.sum", "Sum", "embedding", "source", "[S, D]", "3.5",
        "Embedding plus position: the two vectors are added, number by number. The sum enters the first layer.",
        (_SUM,), (_E, 422, _W, _H)),
    Box("encoder.*.self_attention", "Self-attention", "attention", "source", "[S, D]", "3.2.3",
        "Every English token attends to all English tokens. Each head returns a weighted mean of their values.",
        ((_ENCODER, ("self.self_attention(y, y, y, attend",)), _ATTENTION, _EQUATION_1), (_E, 356, _W, _H)),
    Box("encoder.*.add_norm_1", "Add & Norm", "norm", "source", "[S, D]", "3.1",
        "The output of attention is added to its input. LayerNorm then brings every vector to a common scale.",
        ((_ENCODER, ("self.self_attention_residual.after",)), _AFTER), (_E, 312, _W, _H)),
    Box("encoder.*.feed_forward", "Feed-forward", "feed-forward", "source", "[S, D]", "3.3",
        "A network of two linear maps with a ReLU between them. It works on each token alone.",
        (_FEED_FORWARD,), (_E, 262, _W, _H)),
    Box("encoder.*.add_norm_2", "Add & Norm", "norm", "source", "[S, D]", "3.1",
        "The output of the feed-forward network is added to its input and normalised. This is the output of the "
        "layer and the input of the next one.",
        ((_ENCODER, ("return self.feed_forward_residual.after",)), _AFTER), (_E, 218, _W, _H)),
    Box("memory", "Memory", "memory", "source", "[S, D]", "3",
        "The output of the last encoder layer: one vector for each English token, computed once per sentence. Every "
        "decoder layer reads this same tensor.",
        ((_MODEL + "transformer.Transformer.encode", ("return self.encoder(",)),), (_E, 148, _W, _H)),
    Box("target.tokens", "Outputs, shifted right", "text", "target", "[T]", "3.1",
        "The tokens written so far, after the start token <s>. In each row the decoder has read one token and is "
        "about to write the next.",
        (("annotated.translator.Translator._read", ("target_in = ",)),), (_D, 522, _W, 36)),
    Box("target.embedding", "Embedding", "embedding", "target", "[T, D]", "3.4",
        "The same table of vectors as on the English side: one vocabulary serves both languages.",
        (_EMBEDDING,), (_D, 472, 77, _H)),
    Box("target.positions", "Position", "embedding", "target", "[T, D]", "3.5",
        "The same sines and cosines as on the English side, counted from the start token.",
        (_POSITIONS,), (_D + 83, 472, 61, _H)),
    Box("target.sum", "Sum", "embedding", "target", "[T, D]", "3.5",
        "Embedding plus position, for the German tokens written so far.",
        (_SUM,), (_D, 422, _W, _H)),
    Box("decoder.*.self_attention", "Masked self-attention", "attention", "target", "[T, D]", "3.2.3",
        "Every German token attends to itself and to the tokens before it. Later tokens are masked, so the upper "
        "right corner of each map is empty.",
        ((_DECODER, ("self.self_attention(y, y, y, attend",)), (_MODEL + "masks.target_mask", ("return padding_mask",)),
         _ATTENTION, _EQUATION_1), (_D, 356, _W, _H)),
    Box("decoder.*.add_norm_1", "Add & Norm", "norm", "target", "[T, D]", "3.1",
        "The output of masked attention is added to its input and normalised.",
        ((_DECODER, ("self.self_attention_residual.after",)), _AFTER), (_D, 312, _W, _H)),
    Box("decoder.*.cross_attention", "Cross-attention", "attention", "target", "[T, D]", "3.2.3",
        "The only connection from English to German. Queries come from the decoder, keys and values from the memory, "
        "so each map has T rows and S columns.",
        ((_DECODER, ("self.cross_attention(y, memory, memory",)), _ATTENTION, _EQUATION_1), (_D, 262, _W, _H)),
    Box("decoder.*.add_norm_2", "Add & Norm", "norm", "target", "[T, D]", "3.1",
        "The output of cross-attention is added to its input and normalised.",
        ((_DECODER, ("self.cross_attention_residual.after",)), _AFTER), (_D, 218, _W, _H)),
    Box("decoder.*.feed_forward", "Feed-forward", "feed-forward", "target", "[T, D]", "3.3",
        "The same kind of network as in the encoder, with weights of its own. It works on each token alone.",
        (_FEED_FORWARD,), (_D, 168, _W, _H)),
    Box("decoder.*.add_norm_3", "Add & Norm", "norm", "target", "[T, D]", "3.1",
        "The output of the decoder layer. The output of the last layer goes to the linear map.",
        ((_DECODER, ("return self.feed_forward_residual.after",)), _AFTER), (_D, 124, _W, _H)),
    Box("linear", "Linear", "output", "target", "[T, V]", "3.4",
        "A score (logit) for every token of the vocabulary: the dot product of the vector with each row of the "
        "embedding table, which is used a third time here.",
        ((_MODEL + "embeddings.TokenEmbedding.project", ("return linear",)),), (_D, 58, _W, _H)),
    Box("softmax", "Softmax", "output", "target", "[T, V]", "3.4",
        "The scores of one row become probabilities, which are positive and sum to 1 over the vocabulary.",
        (("annotated.translator.Translator.score", (".log_softmax(dim=-1)",)),), (_D, 8, _W, _H)),
)  # fmt: skip
"""All boxes, from the inputs to the softmax: the order in which a sentence passes them."""

PAGES = {
    "tokens": "training/subwords",
    "target.tokens": "training/teacher_forcing",
    "embedding": "machine/embeddings",
    "positions": "machine/positions",
    "sum": "machine/positions",
    "encoder.self_attention": "attention/scaled_dot_product",
    "decoder.self_attention": "attention/masks",
    "cross_attention": "attention/query_key_value",
    "add_norm": "machine/residuals",
    "feed_forward": "machine/feed_forward",
    "memory": "attention/query_key_value",
    "linear": "machine/embeddings",
    "softmax": "why/transduction",
}
"""The page of the book about each box: by its part, or by what stands after the last dot, without a number."""


def page_of(box: Box) -> str:
    """The page of the book that explains a box."""
    kind = box.part.rpartition(".")[2].rstrip("_123")
    return PAGES.get(box.part) or PAGES[kind]


def code_of(box: Box) -> list[dict[str, Any]]:
    """The lines of the library that make what leaves a box, read from its source.

    Returns
    -------
    list of dict
        For each object: `name` without the package, `file`, and `lines`, pairs of line number and text.

    Raises
    ------
    LookupError
        If a line is not there, or if more than one fits: the drawing would show the wrong code.
    """
    shown = []
    for name, pieces in box.code:
        source, first, file = _source(name)
        lines = [(first + i, line.strip()) for i, line in enumerate(source)]
        found = [_the_only([line for line in lines if piece in line[1]], piece, name) for piece in pieces]
        shown.append({"name": ".".join(name.split(".")[2 if "model." in name else 1 :]), "file": file, "lines": found})
    return shown


def _the_only(found: list[tuple[int, str]], piece: str, name: str) -> tuple[int, str]:
    if len(found) != 1:
        raise LookupError(f"{len(found)} lines of {name} hold {piece!r}; the drawing of figure 1 needs exactly one")
    return found[0]


def _source(name: str) -> tuple[list[str], int, str]:
    """Lines, first line number and file of an object."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        lines, first = inspect.getsourcelines(found)
        file = Path(inspect.getsourcefile(found) or "").resolve().relative_to(_ROOT)
        return lines, first, file.as_posix()
    raise LookupError(f"there is no module in {name}")
