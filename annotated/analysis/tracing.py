"""Trace of one sentence through the model: every tensor that leaves a box of figure 1, recorded by hooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS
from annotated.model import Transformer
from annotated.translator import Translator


@dataclass(frozen=True)
class Trace:
    """What left every box while a model read a source and was given a target (teacher forcing).

    Names of boxes: `source.embedding`, `source.positions`, `source.sum`, the same three of `target`,
    `encoder.1.self_attention` and so on with layers counted from 1 as in the paper, `memory`, `linear` and `softmax`.
    """

    source_ids: list[int]
    source_tokens: list[str]
    """The S pieces that the encoder read, eos last."""
    target_ids: list[int]
    target_tokens: list[str]
    """The T pieces that the decoder read, bos first: the target shifted right."""
    next_ids: list[int]
    next_tokens: list[str]
    """The T pieces that it was to write, eos last: row t of the decoder is about to write `next_tokens[t]`."""
    boxes: dict[str, Tensor]
    """`[S, D]` or `[T, D]`; `linear` and `softmax` are `[T, V]`."""
    maps: dict[str, Tensor]
    """Attention weights `[H, queries, keys]`, under the names of the attention boxes."""


def trace(translator: Translator, source: str, target: str | None = None) -> Trace:
    """Send one sentence through the model and keep what leaves every box.

    Parameters
    ----------
    translator
        Its model must be post-norm, as the paper's figure draws it.
    source
        What the encoder reads.
    target
        What the decoder is given; None for the model's own translation.

    Raises
    ------
    ValueError
        If the source is empty, or the model is pre-norm: in figure 1 the norm comes after the addition.
    """
    model, tokenizer = translator.model, translator.tokenizer
    if model.config.norm != "post":
        raise ValueError("figure 1 draws a post-norm model: Add & Norm is one box there; this model is pre-norm")
    if not source.strip():
        raise ValueError("there is nothing to trace: the source is empty")
    source_ids = [*tokenizer.encode(source.strip()), EOS]
    if target is None:
        written = translator.hypotheses([source])[0][0].hypothesis.tokens
    else:
        written = tokenizer.encode(target.strip())
    read, following = [BOS, *written], [*written, EOS]
    device = next(model.parameters()).device
    with torch.no_grad(), _recording(model) as boxes:
        logits, weights = model(
            torch.tensor([source_ids], device=device), torch.tensor([read], device=device), return_attention=True
        )
    boxes["linear"], boxes["softmax"] = logits[0], logits[0].softmax(dim=-1)
    kinds = ("encoder", "self"), ("decoder", "self"), ("decoder", "cross")
    maps = {
        f"{stack}.{number}.{kind}_attention": layer[0]
        for (stack, kind), layers in zip(kinds, weights, strict=True)
        for number, layer in enumerate(layers, 1)
    }
    tokens = [tokenizer.tokens(ids) for ids in (source_ids, read, following)]
    return Trace(source_ids, tokens[0], read, tokens[1], following, tokens[2], boxes, maps)


@contextmanager
def _recording(model: Transformer) -> Iterator[dict[str, Tensor]]:
    """While it lasts, one forward pass fills the dictionary; then hooks and mode are as they were."""
    boxes: dict[str, Tensor] = {}
    was_training = model.training
    model.eval()
    with ExitStack() as hooks:
        for name, module in _modules(model):
            hook = module.register_forward_hook(_keep(name, boxes))
            hooks.callback(hook.remove)
        try:
            yield boxes
        finally:
            model.train(was_training)


def _keep(name: str, boxes: dict[str, Tensor]) -> Any:
    """A hook that files what leaves a module; what runs for both languages serves the source first."""

    def hook(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        key = name
        if name.startswith("*."):
            key = name.replace("*", "target" if name.replace("*", "source") in boxes else "source")
        boxes[key] = output.reshape(-1, output.size(-1)).clone()  # without the batch of one

    return hook


def _modules(model: Transformer) -> Iterator[tuple[str, nn.Module]]:
    """Boxes of figure 1 and the modules whose output leaves them."""
    tied = model.config.tie_embeddings
    yield ("*.embedding" if tied else "source.embedding"), model.embedding
    if not tied:
        yield "target.embedding", model.target_embedding
    yield "*.positions", model.positions
    yield "*.sum", model.dropout  # which does nothing outside training
    encoder_layers: Any = model.encoder.layers
    decoder_layers: Any = model.decoder.layers
    for number, layer in enumerate(encoder_layers, 1):
        yield f"encoder.{number}.self_attention", layer.self_attention
        yield f"encoder.{number}.add_norm_1", layer.self_attention_residual.norm
        yield f"encoder.{number}.feed_forward", layer.feed_forward
        yield f"encoder.{number}.add_norm_2", layer.feed_forward_residual.norm
    yield "memory", model.encoder
    for number, layer in enumerate(decoder_layers, 1):
        yield f"decoder.{number}.self_attention", layer.self_attention
        yield f"decoder.{number}.add_norm_1", layer.self_attention_residual.norm
        yield f"decoder.{number}.cross_attention", layer.cross_attention
        yield f"decoder.{number}.add_norm_2", layer.cross_attention_residual.norm
        yield f"decoder.{number}.feed_forward", layer.feed_forward
        yield f"decoder.{number}.add_norm_3", layer.feed_forward_residual.norm
