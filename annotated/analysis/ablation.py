"""Ablation of attention heads: each silenced, or replaced by its mean output, and the loss counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor

from annotated.analysis.heads import KINDS, HeadCorpus
from annotated.config import PAD
from annotated.decoding import greedy_decode
from annotated.model import Transformer
from annotated.model.attention import MultiHeadAttention
from annotated.training.loss import label_smoothed_cross_entropy

Head = tuple[str, int, int]
"""(kind, layer, head): kind is 'encoder', 'decoder' or 'cross'; layer and head count from 0."""


def attention_of(model: Transformer, kind: str, layer: int) -> MultiHeadAttention:
    """One of the model's attention sub-layers."""
    if kind not in KINDS:
        raise ValueError(f"there is no attention {kind!r}; there are {', '.join(KINDS)}")
    part = (model.encoder if kind == "encoder" else model.decoder).layers[layer]
    found = part.cross_attention if kind == "cross" else part.self_attention
    assert isinstance(found, MultiHeadAttention)
    return found


def all_heads(model: Transformer) -> list[Head]:
    """Every head of the model, encoder first."""
    config = model.config
    layers = {"encoder": config.num_encoder_layers, "decoder": config.num_decoder_layers}
    layers["cross"] = layers["decoder"]
    return [(kind, layer, head) for kind in KINDS for layer in range(layers[kind]) for head in range(config.num_heads)]


def columns_of(model: Transformer, kind: str, layer: int, head: int) -> Tensor:
    """The columns of W_O through which a head writes, `[D, d_v]`: a view, so that changing it changes the model.

    `out_projection` applies x @ weight.T: its columns are the rows of the paper's W_O.
    """
    attention = attention_of(model, kind, layer)
    if not 0 <= head < attention.num_heads:
        raise ValueError(f"there is no head {head} (counted from 0) in {attention.num_heads}")
    first = head * attention.d_v
    return attention.out_projection.weight.data[:, first : first + attention.d_v]


@contextmanager
def silenced(model: Transformer, *heads: Head) -> Iterator[None]:
    """Switch heads off for the length of a `with` block.

    A head reaches the output of its layer through its own columns of W_O alone: they are set to zero, and afterwards
    to what they were.
    """
    with ExitStack() as stack:
        for head in heads:
            columns = columns_of(model, *head)
            stack.callback(columns.copy_, columns.clone())
            columns.zero_()
        yield


@contextmanager
def averaged(model: Transformer, corpus: HeadCorpus, *heads: Head) -> Iterator[None]:
    """Put a head's mean output in its place for the length of a `with` block: it says the same at every position.

    The mean is over all positions of the queries in the corpus but padding, in the model as it is. Silencing takes away
    what a head says *and* the value that later parts are used to; the mean leaves them the second.

    Parameters
    ----------
    model
        Of which `silenced` can silence the heads.
    corpus
        The sentences over which outputs are averaged.
    heads
        As in `silenced`.
    """
    with ExitStack() as stack:
        constants = [_mean_contribution(model, corpus, head) for head in heads]
        stack.enter_context(silenced(model, *heads))
        for (kind, layer, _), constant in zip(heads, constants, strict=True):
            projection = attention_of(model, kind, layer).out_projection
            hook = projection.register_forward_hook(lambda _, __, out, constant=constant: out + constant)
            stack.callback(hook.remove)
        yield


@torch.no_grad()
def _mean_contribution(model: Transformer, corpus: HeadCorpus, head: Head) -> Tensor:
    """What a head adds to the output of its layer, on average: `[D]`."""
    kind, layer, number = head
    attention, seen = attention_of(model, kind, layer), []
    columns = columns_of(model, *head)
    hook = attention.out_projection.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    try:
        model(corpus.source, corpus.target_in)
    finally:
        hook.remove()
    queries = corpus.source if kind == "encoder" else corpus.target_in
    first = number * attention.d_v
    outputs = seen[0][queries != PAD][:, first : first + attention.d_v]
    return outputs.mean(0) @ columns.T


@torch.no_grad()
def next_token_loss(model: Transformer, corpus: HeadCorpus) -> float:
    """Nats per target token, without label smoothing, the target being given as in training."""
    total, count = label_smoothed_cross_entropy(model(corpus.source, corpus.target_in), corpus.target_out, 0.0)
    return float(total) / count


@torch.no_grad()
def exact_translations(model: Transformer, corpus: HeadCorpus) -> float:
    """The share of sentences whose greedy translation is the reference, token for token."""
    found = greedy_decode(model, corpus.source, max_new_tokens=corpus.target_out.size(1) + 5)
    return sum(h.tokens == one.target for h, one in zip(found, corpus.items, strict=True)) / len(corpus.items)


def ablation(model: Transformer, corpus: HeadCorpus, groups: Sequence[Sequence[Head]]) -> list[dict[str, float]]:
    """Loss and exact translations with each group of heads silenced.

    Returns
    -------
    list of dict
        loss and exact, in the order of the groups; an empty group is the whole model.
    """
    found = []
    for heads in groups:
        with silenced(model, *heads):
            found.append({"loss": next_token_loss(model, corpus), "exact": exact_translations(model, corpus)})
    return found
