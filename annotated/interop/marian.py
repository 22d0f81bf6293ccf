"""Weights to and from Hugging Face's `MarianMTModel`, exactly. Needs the extra `export`.

What differs, and what the converters do about it:

* **Positions.** Marian puts all sines before all cosines; ours alternate, as printed. The frequencies are the
  same, so the two models differ by the order of the D features only: both converters permute whatever reads
  or writes the residual stream (embeddings, matrices, LayerNorms). Nothing is approximated.
* **Start.** Marian starts decoding from its padding token, ours from bos; `to_marian` writes our ids into
  the configuration (pad 0, bos and decoder start 1, eos 2), and `marian_order` renumbers on the way back.
* **Activation.** Published Marian models use swish. The paper and our model have ReLU: others are refused.
* **final_logits_bias.** Marian adds a vector to the logits; the paper has none. Only zeros are accepted: a
  bias of the logits is not in the span of our tied projection, so it cannot be absorbed into other weights.
* **Biases** of the attention: zeros where our model has none.
* **LayerNorm's epsilon** is 1e-5 in Marian and not part of its configuration. `to_marian` sets it on the
  modules, which holds in memory; a Marian model saved and loaded again has 1e-5 whatever it had before.
* Marian is post-norm, with heads d_model / num_heads wide and sinusoids up to `max_position_embeddings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, PAD, UNK, ModelConfig
from annotated.interop._common import optional, projections, require_equal_heads
from annotated.model import MultiHeadAttention, Transformer


class _Pair(NamedTuple):
    """Our tensor, Marian's, and the dimension of it that runs over the residual stream's D features, if any."""

    ours: Tensor | None
    theirs: Tensor
    features: int | None


def to_marian(model: Transformer, max_positions: int | None = None) -> Any:
    """A `transformers.MarianMTModel` that computes what `model` computes.

    Parameters
    ----------
    model
        Any of ours with post-norm, sinusoids, and d_k = d_v = d_model / num_heads. Weights are copied.
    max_positions
        Longest sequence that the Marian model will take; None for the configuration's `max_positions`.

    Returns
    -------
    MarianMTModel
        Give it an `attention_mask` (`source != 0`), and start targets with bos. Its `generate` stops at eos
        and never takes pad, like ours.

    Raises
    ------
    ImportError
        Without the package transformers.
    ValueError
        If Marian cannot express the model: pre-norm, learned positions, other widths of heads.
    """
    config = model.config
    if config.norm != "post" or config.final_norm:
        raise ValueError("Marian is post-norm with nothing on top of its stacks; this model is not")
    if config.positions != "sinusoidal":
        raise ValueError("Marian computes sinusoids and saves no positions; this model learned its own")
    require_equal_heads(config, "Marian")
    transformers = optional("transformers")
    marian = transformers.MarianMTModel(
        transformers.MarianConfig(**_marian_config(config, max_positions or config.max_positions))
    ).to(model.embedding.weight)
    for module in marian.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = config.norm_epsilon
    order = _feature_order(config.d_model, model.embedding.weight.device)
    with torch.no_grad():
        for ours, theirs, features in _pairs(model, marian):
            if ours is None:
                theirs.zero_()
            else:
                theirs.copy_(ours if features is None else ours.index_select(features, order))
        marian.final_logits_bias.zero_()
    marian.generation_config.suppress_tokens = [PAD, BOS]  # our searches never take them either
    marian.generation_config.max_length = marian.config.max_position_embeddings  # 20 if nothing is said
    return marian.train(model.training)


def from_marian(marian: Any, order: Sequence[int] | None = None) -> Transformer:
    """Our model with the weights of a `transformers.MarianMTModel`.

    Parameters
    ----------
    marian
        A Marian model with ReLU and without `final_logits_bias`.
    order
        For each of our ids the Marian id whose embedding it takes; None if they agree (pad 0, decoder start
        1, eos 2). `marian_order` makes one for other numberings.

    Raises
    ------
    ValueError
        If our model cannot compute the same, or the special tokens are numbered otherwise and no order is
        given.
    """
    config = _read_config(marian)
    special = tuple(getattr(marian.config, f"{name}_token_id") for name in ("pad", "decoder_start", "eos"))
    if order is None and special != (PAD, BOS, EOS):
        raise ValueError(
            f"Marian's pad, decoder start and eos are tokens {special}; ours are {(PAD, BOS, EOS)}: "
            "renumber with from_marian(marian, marian_order(marian.config))"
        )
    rows = torch.arange(config.vocab_size) if order is None else torch.tensor(list(order))
    model = Transformer(config.replace(vocab_size=len(rows))).to(marian.lm_head.weight)
    inverse = _feature_order(config.d_model, marian.device).argsort()
    scale = 1.0 if marian.config.scale_embedding else config.d_model**-0.5  # ours multiplies by sqrt(D) always
    with torch.no_grad():
        for ours, theirs, features in _pairs(model, marian):
            assert ours is not None, "the model is made with attention biases"
            value = theirs if features is None else theirs.index_select(features, inverse)
            if any(ours is matrix for matrix in _embeddings(model)):
                value = value.index_select(0, rows.to(value.device))
                value = value * scale if ours is not model.output_weight else value
            ours.copy_(value)
    return model.train(marian.training)


def marian_order(config: Any, unk_id: int = UNK) -> list[int]:
    """For each of our ids the Marian id whose place it takes: pad, decoder start, eos and unk come first.

    Where Marian starts from its padding token, as its published models do, that token's embedding serves
    both our pad and our bos, and our vocabulary is larger by one.

    Parameters
    ----------
    config
        A `MarianConfig`.
    unk_id
        Marian's id of the unknown token, which its tokenizer knows and its configuration does not.
    """
    special = [config.pad_token_id, config.decoder_start_token_id, config.eos_token_id, unk_id]
    return [*special, *(i for i in range(config.vocab_size) if i not in special)]


def _feature_order(d_model: int, device: torch.device) -> Tensor:
    """Ours to Marian's: the features at even places, which hold sines, then those at odd places, cosines."""
    return torch.arange(d_model, device=device).view(-1, 2).T.flatten()


def _marian_config(config: ModelConfig, max_positions: int) -> dict[str, Any]:
    layers = {"encoder": config.num_encoder_layers, "decoder": config.num_decoder_layers}
    sides = {
        f"{side}_{name}": value
        for side, number in layers.items()
        for name, value in (("layers", number), ("attention_heads", config.num_heads), ("ffn_dim", config.d_ff))
    }
    return dict(
        sides,
        vocab_size=config.vocab_size,
        d_model=config.d_model,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
        activation_dropout=config.feed_forward_dropout,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=max_positions,
        share_encoder_decoder_embeddings=config.tie_embeddings,
        tie_word_embeddings=config.tie_embeddings,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
    )


def _read_config(marian: Any) -> ModelConfig:
    """The configuration that a Marian model amounts to."""
    theirs = marian.config
    if theirs.activation_function != "relu":
        raise ValueError(
            f"the paper's activation is ReLU (equation 2); this Marian model has {theirs.activation_function!r}"
        )
    if marian.final_logits_bias.count_nonzero():
        raise ValueError("this Marian model adds a final_logits_bias to its logits, which our model does not have")
    for name in ("attention_heads", "ffn_dim"):
        if getattr(theirs, f"encoder_{name}") != getattr(theirs, f"decoder_{name}"):
            raise ValueError(f"encoder_{name} and decoder_{name} differ; our stacks share one configuration")
    if theirs.decoder_vocab_size != theirs.vocab_size:
        raise ValueError("source and target vocabularies differ in size; ours share one")
    width = theirs.d_model // theirs.encoder_attention_heads
    embedding = marian.model.encoder.embed_tokens.weight
    return ModelConfig(
        vocab_size=theirs.vocab_size,
        d_model=theirs.d_model,
        d_ff=theirs.encoder_ffn_dim,
        num_heads=theirs.encoder_attention_heads,
        d_k=width,
        d_v=width,
        num_encoder_layers=theirs.encoder_layers,
        num_decoder_layers=theirs.decoder_layers,
        dropout=theirs.dropout,
        attention_dropout=theirs.attention_dropout,
        feed_forward_dropout=theirs.activation_dropout,
        # One matrix for all three needs the factor sqrt(D) that distinguishes the way in from the way out.
        tie_embeddings=theirs.scale_embedding and embedding is marian.lm_head.weight,
        max_positions=theirs.max_position_embeddings,
        attention_bias=True,
        norm_epsilon=marian.model.encoder.layers[0].final_layer_norm.eps,
    )


def _embeddings(model: Transformer) -> list[nn.Parameter]:
    if model.config.tie_embeddings:
        return [model.embedding.weight]
    return [model.embedding.weight, model.target_embedding.weight, model.output_embedding.weight]


def _pairs(model: Transformer, marian: Any) -> Iterator[_Pair]:
    """Our tensor and Marian's, place by place."""
    tables = (marian.model.encoder.embed_tokens, marian.model.decoder.embed_tokens, marian.lm_head)
    for ours, theirs in zip(_embeddings(model), tables, strict=False):
        yield _Pair(ours, theirs.weight, 1)
    for stack, other in ((model.encoder, marian.model.encoder), (model.decoder, marian.model.decoder)):
        for layer, their in zip(stack.layers, other.layers, strict=True):
            yield from _attention(layer.self_attention, their.self_attn)
            yield from _norm(layer.self_attention_residual.norm, their.self_attn_layer_norm)
            if hasattr(layer, "cross_attention"):
                yield from _attention(layer.cross_attention, their.encoder_attn)
                yield from _norm(layer.cross_attention_residual.norm, their.encoder_attn_layer_norm)
            yield _Pair(layer.feed_forward.inner.weight, their.fc1.weight, 1)
            yield _Pair(layer.feed_forward.inner.bias, their.fc1.bias, None)
            yield _Pair(layer.feed_forward.outer.weight, their.fc2.weight, 0)
            yield _Pair(layer.feed_forward.outer.bias, their.fc2.bias, 0)
            yield from _norm(layer.feed_forward_residual.norm, their.final_layer_norm)


def _attention(ours: MultiHeadAttention, theirs: Any) -> Iterator[_Pair]:
    linears = (theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.out_proj)
    for (weight, bias), linear in zip(projections(ours), linears, strict=True):
        out = linear is theirs.out_proj  # writes the residual stream; the other three read it
        yield _Pair(weight, linear.weight, 0 if out else 1)
        yield _Pair(bias, linear.bias, 0 if out else None)


def _norm(ours: nn.LayerNorm, theirs: nn.LayerNorm) -> Iterator[_Pair]:
    yield _Pair(ours.weight, theirs.weight, 0)
    yield _Pair(ours.bias, theirs.bias, 0)
