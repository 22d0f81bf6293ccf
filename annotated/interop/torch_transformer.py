"""Weights to and from `torch.nn.Transformer`, exactly.

What differs, and what the converters do about it:

* torch's attention has biases: zeros where our model has none. Its heads are d_model / num_heads wide.
* `nn.Transformer` puts a LayerNorm on top of both stacks even with post-norm, where every layer ends in one
  already. The paper has none there: `to_torch` builds the stacks without unless the configuration says
  `final_norm=True`, and `from_torch` sets that field where it finds them.
* It has neither embeddings nor positions nor a projection to the vocabulary: `TorchTransformer` adds ours.
* Its masks are True where attention is *forbidden*; its layers use one dropout probability for everything,
  and `to_torch` sets each place to the model's own.
"""

from __future__ import annotations

import copy as copying
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import PAD, ModelConfig
from annotated.interop._common import copy, require_equal_heads
from annotated.model import MultiHeadAttention, Transformer
from annotated.model.masks import causal_mask

Pair = tuple[Tensor | None, Tensor | None]


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` between our embeddings, positions and projection; `core` is torch's part.

    Attributes
    ----------
    core
        The `torch.nn.Transformer`, batch first.
    config
        The configuration of the model that it was made from.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.config = model.config
        self.embedding = copying.deepcopy(model.embedding)
        if not self.config.tie_embeddings:
            self.target_embedding = copying.deepcopy(model.target_embedding)
            self.output_embedding = copying.deepcopy(model.output_embedding)
        self.positions = copying.deepcopy(model.positions)
        self.dropout = nn.Dropout(self.config.dropout)
        self.core = _torch_core(self.config)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits `[B, T, V]` of token ids `[B, S]` and `[B, T]`, both padded on the right with 0.

        Logits at padded target positions mean nothing.
        """
        tied = self.config.tie_embeddings
        embedded = self.embedding(source) + self.positions(source.size(1))
        shifted = (self.embedding if tied else self.target_embedding)(target_in) + self.positions(target_in.size(1))
        hidden = self.core(
            self.dropout(embedded),
            self.dropout(shifted),
            tgt_mask=~causal_mask(target_in.size(1), target_in.device)[0, 0],
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target_in == PAD,
            memory_key_padding_mask=source == PAD,
        )
        return (self.embedding if tied else self.output_embedding).project(hidden)


def to_torch(model: Transformer) -> TorchTransformer:
    """A module around `torch.nn.Transformer` that computes what `model` computes.

    Parameters
    ----------
    model
        Any of ours with d_k = d_v = d_model / num_heads. Weights are copied; device, dtype and training
        mode are kept.

    Raises
    ------
    ValueError
        If d_k or d_v is not d_model / num_heads, which torch cannot express.
    """
    require_equal_heads(model.config, "torch.nn.Transformer")
    converted = TorchTransformer(model).to(model.embedding.weight)
    for ours, theirs in _pairs(model, converted.core):
        copy(ours, theirs)
    return converted.train(model.training)


def from_torch(
    core: nn.Transformer | TorchTransformer,
    embedding: Tensor | None = None,
    target_embedding: Tensor | None = None,
    output_embedding: Tensor | None = None,
    positions: Tensor | None = None,
) -> Transformer:
    """Our model with the weights of a `torch.nn.Transformer`.

    Parameters
    ----------
    core
        Layers of torch's own classes with ReLU; or a `TorchTransformer`, which needs no more arguments.
    embedding
        `[V, D]`, multiplied by sqrt(d_model) on the way in; the only one if all three are tied.
    target_embedding, output_embedding
        `[V, D]`, both or neither.
    positions
        A learned table `[max_positions, D]`; None for sinusoids.

    Raises
    ------
    ValueError
        If our model cannot compute the same: another activation, layers of other classes, a LayerNorm on
        top of one stack only, pre-norm without, or differing epsilons or dropouts between layers.
    """
    if isinstance(core, TorchTransformer):
        tied, learned = core.config.tie_embeddings, core.config.positions == "learned"
        others = () if tied else (core.target_embedding.weight, core.output_embedding.weight)
        matrices = (core.embedding.weight, *others)
        positions, core = (core.positions.table if learned else None), core.core
    else:
        if embedding is None:
            raise ValueError("nn.Transformer holds no embeddings: give from_torch the embedding matrix [V, D]")
        if (target_embedding is None) != (output_embedding is None):
            raise ValueError("give both target_embedding and output_embedding, or neither for tied embeddings")
        matrices = tuple(m for m in (embedding, target_embedding, output_embedding) if m is not None)
    config = _read_config(core).replace(
        vocab_size=len(matrices[0]),
        tie_embeddings=len(matrices) == 1,
        positions="sinusoidal" if positions is None else "learned",
    )
    if positions is not None:
        config = config.replace(max_positions=len(positions))
    model = Transformer(config).to(matrices[0])
    for ours, theirs in _pairs(model, core):
        copy(theirs, ours)
    if positions is not None:
        copy(positions, model.positions.table)
    names = ("embedding", "target_embedding", "output_embedding")
    for name, matrix in zip(names, matrices, strict=False):
        copy(matrix, getattr(model, name).weight)
    return model.train(core.training)


def _torch_core(config: ModelConfig) -> nn.Transformer:
    """torch's stacks without the final LayerNorm that the paper does not have, and each dropout in its place."""
    sizes = dict(d_model=config.d_model, nhead=config.num_heads, dim_feedforward=config.d_ff, dropout=config.dropout)
    options = dict(layer_norm_eps=config.norm_epsilon, batch_first=True, norm_first=config.norm == "pre")
    core = nn.Transformer(
        config.d_model,
        config.num_heads,
        batch_first=True,
        custom_encoder=nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**sizes, **options),  # type: ignore[arg-type]
            config.num_encoder_layers,
            _final_norm(config),
            enable_nested_tensor=False,
        ),
        custom_decoder=nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**sizes, **options),  # type: ignore[arg-type]
            config.num_decoder_layers,
            _final_norm(config),
        ),
    )
    for layer in (*core.encoder.layers, *core.decoder.layers):
        layer.dropout.p = config.feed_forward_dropout
        for attention in _attentions(layer):
            attention.dropout = config.attention_dropout
    return core


def _final_norm(config: ModelConfig) -> nn.LayerNorm | None:
    wanted = config.norm == "pre" or config.final_norm
    return nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if wanted else None


def _attentions(layer: nn.Module) -> list[nn.MultiheadAttention]:
    return [child for child in layer.children() if isinstance(child, nn.MultiheadAttention)]


def _pairs(model: Transformer, core: nn.Transformer) -> Iterator[Pair]:
    """Our parameter and torch's, place by place."""
    for ours, theirs in zip(model.encoder.layers, core.encoder.layers, strict=True):
        yield from _attention(ours.self_attention, theirs.self_attn)
        yield from _both(ours.self_attention_residual.norm, theirs.norm1)
        yield from _feed_forward(ours, theirs)
        yield from _both(ours.feed_forward_residual.norm, theirs.norm2)
    for ours, theirs in zip(model.decoder.layers, core.decoder.layers, strict=True):
        yield from _attention(ours.self_attention, theirs.self_attn)
        yield from _both(ours.self_attention_residual.norm, theirs.norm1)
        yield from _attention(ours.cross_attention, theirs.multihead_attn)
        yield from _both(ours.cross_attention_residual.norm, theirs.norm2)
        yield from _feed_forward(ours, theirs)
        yield from _both(ours.feed_forward_residual.norm, theirs.norm3)
    if core.encoder.norm is not None:
        yield from _both(model.encoder.final_norm, core.encoder.norm)
        yield from _both(model.decoder.final_norm, core.decoder.norm)


def _both(ours: nn.Module, theirs: nn.Module) -> Iterator[Pair]:
    yield ours.weight, theirs.weight
    yield ours.bias, theirs.bias


def _attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> Iterator[Pair]:
    yield ours.in_projection, theirs.in_proj_weight  # W_Q, W_K, W_V one above the other, in both
    yield ours.in_bias, theirs.in_proj_bias
    yield from _both(ours.out_projection, theirs.out_proj)


def _feed_forward(ours: nn.Module, theirs: nn.Module) -> Iterator[Pair]:
    yield from _both(ours.feed_forward.inner, theirs.linear1)
    yield from _both(ours.feed_forward.outer, theirs.linear2)


def _read_config(core: nn.Transformer) -> ModelConfig:
    """The configuration that torch's layers amount to."""
    kinds = {_kind(layer) for layer in (*core.encoder.layers, *core.decoder.layers)}
    if len(kinds) != 1:
        raise ValueError(f"layers differ in width, heads, norm, epsilon, dropout or biases: {sorted(kinds)}")
    (kind,) = kinds
    config = ModelConfig(**dict(kind), num_encoder_layers=len(core.encoder.layers))
    tops = [stack.norm for stack in (core.encoder, core.decoder) if stack.norm is not None]
    if len(tops) == 1:
        raise ValueError("one stack has a LayerNorm on top and the other has none; our model has both or neither")
    if config.norm == "pre" and not tops:
        raise ValueError("the stacks are pre-norm and lack the LayerNorm on top that our model has")
    for norm in tops:
        if norm.eps != config.norm_epsilon:
            raise ValueError(f"a top LayerNorm has epsilon {norm.eps}, the layers' have {config.norm_epsilon}")
    if config.norm == "post":
        config = config.replace(final_norm=bool(tops))
    return config.replace(num_decoder_layers=len(core.decoder.layers))


def _kind(layer: nn.Module) -> tuple[tuple[str, object], ...]:
    if not isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        raise ValueError(f"{type(layer).__name__} is not one of torch's Transformer layers")
    if not (layer.activation in (F.relu, torch.relu) or isinstance(layer.activation, nn.ReLU)):
        raise ValueError(f"the paper's activation is ReLU (equation 2); this layer has {layer.activation}")
    attention = layer.self_attn
    width = attention.embed_dim // attention.num_heads
    return (
        ("d_model", attention.embed_dim),
        ("d_ff", layer.linear1.out_features),
        ("num_heads", attention.num_heads),
        ("d_k", width),
        ("d_v", width),
        ("dropout", layer.dropout1.p),
        ("attention_dropout", attention.dropout),
        ("feed_forward_dropout", layer.dropout.p),
        ("norm", "pre" if layer.norm_first else "post"),
        ("attention_bias", attention.in_proj_bias is not None),
        ("norm_epsilon", layer.norm1.eps),
    )
