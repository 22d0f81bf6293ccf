"""Feed-forward units of a trained model: the contexts that fire one, the tokens it promotes, the loss without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, PAD
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.model import PositionwiseFeedForward, Transformer
from annotated.training.loss import label_smoothed_cross_entropy

Stack = Literal["encoder", "decoder"]


@dataclass(frozen=True)
class Activity:
    """Hidden units of one stack while it read some sentences."""

    scores: Tensor
    """x W_1 + b_1, before the ReLU: `[L, N, F]`, N the real tokens of all sentences, one after the other."""
    tokens: list[list[str]]
    """The pieces of each sentence, as the stack read them."""
    next_tokens: list[list[str]]
    """What the decoder was to write at each position; for the encoder, the pieces themselves."""

    @property
    def hidden(self) -> Tensor:
        """max(0, x W_1 + b_1), `[L, N, F]`."""
        return self.scores.relu()

    @property
    def places(self) -> list[tuple[int, int]]:
        """Sentence and position of each of the N tokens, both from 0."""
        return [(s, p) for s, sentence in enumerate(self.tokens) for p in range(len(sentence))]


@torch.no_grad()
def activity(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], stack: Stack = "encoder"
) -> Activity:
    """Run sentence pairs through a model and keep what the hidden units of one stack say.

    Parameters
    ----------
    pairs
        Source and target texts; the decoder is given the target (teacher forcing).
    """
    sources = [[*tokenizer.encode(source), EOS] for source, _ in pairs]
    targets = [tokenizer.encode(target) for _, target in pairs]
    source, target = pad(sources), pad([[BOS, *ids] for ids in targets])
    read = source if stack == "encoder" else target
    layers = getattr(model, stack).layers
    kept: list[Tensor] = []
    hooks = [
        layer.feed_forward.inner.register_forward_hook(lambda _m, _i, output: kept.append(output.clone()))
        for layer in layers
    ]
    try:
        model.eval()(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    real = read != PAD
    pieces = [tokenizer.tokens(ids) for ids in (sources if stack == "encoder" else [[BOS, *t] for t in targets])]
    following = pieces if stack == "encoder" else [tokenizer.tokens([*ids, EOS]) for ids in targets]
    return Activity(torch.stack([scores[real] for scores in kept]), pieces, following)


def value_logits(model: Transformer, layer: int, stack: Stack = "decoder") -> Tensor:
    """What each hidden unit's value row says to the vocabulary: rows of W_2 times the output matrix, `[F, V]`.

    The rows are seen through the projection alone, as if no layer and no LayerNorm came after.
    """
    outer = getattr(model, stack).layers[layer].feed_forward.outer
    return model.project(outer.weight.detach().t()).detach()


@contextmanager
def silenced(module: nn.Module) -> Iterator[None]:
    """Make a sub-layer add nothing to its residual connection, for as long as the block lasts."""

    def nothing(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (torch.zeros_like(output[0]), *output[1:])
        return torch.zeros_like(output)

    hook = module.register_forward_hook(nothing)
    try:
        yield
    finally:
        hook.remove()


@torch.no_grad()
def pair_loss(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """Loss in nats a target token, without label smoothing."""
    pieces = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    source = pad([[*s, EOS] for s, _ in pieces])
    target_in, target_out = pad([[BOS, *t] for _, t in pieces]), pad([[*t, EOS] for _, t in pieces])
    total, count = label_smoothed_cross_entropy(model.eval()(source, target_in), target_out, 0.0)
    return float(total) / count


def sub_layers(model: Transformer) -> Iterator[tuple[str, int, str, nn.Module]]:
    """Every sub-layer: stack, layer from 1, kind ('self-attention', 'cross-attention', 'feed-forward'), module."""
    names = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}
    for stack in ("encoder", "decoder"):
        for number, layer in enumerate(getattr(model, stack).layers, 1):
            for name, kind in names.items():
                if hasattr(layer, name):
                    yield stack, number, kind, getattr(layer, name)


def conv_twin(network: PositionwiseFeedForward) -> nn.Sequential:
    """The same network as two convolutions of width 1 with a ReLU between them, over `[B, D, S]`."""
    layers: list[nn.Module] = []
    for linear in (network.inner, network.outer):
        conv = nn.Conv1d(linear.in_features, linear.out_features, kernel_size=1)
        with torch.no_grad():
            conv.weight.copy_(linear.weight.unsqueeze(-1))
            conv.bias.copy_(linear.bias)  # type: ignore[union-attr]
        layers.append(conv)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1])
