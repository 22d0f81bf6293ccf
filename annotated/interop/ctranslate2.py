"""Export to CTranslate2, a C++ engine for translation on CPUs and GPUs. Needs the extra `export`.

What differs, and what the converter does about it:

* Positions are stored as they are, up to `max_positions`: longer input is refused by the engine.
* Tokens are strings there: the pieces of `tokenizer.json`, which is written beside the model, so that
  `tokenizers.Tokenizer.from_file("tokenizer.json").encode(text).tokens` is the engine's input and `decode` of
  the ids of its output the translation (`USAGE` has the lines; `annotated.Tokenizer.tokens` gives pieces to show, with
  "▁" for a space, which the engine does not know). The engine itself appends `</s>` to sources and starts with `<s>`.
* **Length penalty.** The engine divides a hypothesis' log-probability by length ** length_penalty; the paper
  (and `annotated.beam_search`) by ((5 + length) / 6) ** alpha. Scores of given translations and greedy
  translations agree; a beam may rank its hypotheses differently. `annotated.interop.ctranslate2_engine` asks the
  engine for more hypotheses than it needs and ranks them by the paper's penalty.
* The engine writes pad and bos unless told otherwise: `suppress_sequences=[["<pad>"], ["<s>"]]` does what our
  searches always do, except that it spreads the probability of the two over the other tokens. A trained model
  gives them next to none. The engine also refuses an empty translation unless `min_decoding_length=0`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, SPECIAL_TOKENS, UNK, ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.interop._common import (
    export_folder,
    is_our_tokenizer,
    optional,
    pieces,
    projections,
    require_same_vocabulary,
    write_tokenizer,
)
from annotated.model import MultiHeadAttention, Transformer

FILES = ("model.bin", "config.json", "shared_vocabulary.json", "tokenizer.json")
USAGE = """\
import ctranslate2, tokenizers
tokenizer, engine = tokenizers.Tokenizer.from_file({folder!r} + "/tokenizer.json"), ctranslate2.Translator({folder!r})
found = engine.translate_batch([tokenizer.encode("The cat sleeps.").tokens])[0].hypotheses[0]
print(tokenizer.decode([tokenizer.token_to_id(piece) for piece in found]))
"""
"""How to open the folder and translate: what `annotated export` prints."""


def export_ctranslate2(
    model: Transformer,
    tokenizer: Tokenizer,
    folder: str | Path,
    quantization: str | None = None,
    max_positions: int | None = None,
) -> Path:
    """Write a folder that `ctranslate2.Translator(folder)` opens, with `tokenizer.json` beside the weights.

    Parameters
    ----------
    model
        Any of ours with d_k = d_v (they may differ from d_model / num_heads); left as it was.
    tokenizer
        The one that the model was trained with.
    folder
        Made if need be; an export that is there already is replaced.
    quantization
        'int8', 'int8_float32', 'int16', 'float16', 'bfloat16', ... as CTranslate2 names them; None for
        float32. The engine can also quantise when it opens a float32 folder (`compute_type="int8"`).
    max_positions
        Longest sequence that the engine will take; None for the configuration's `max_positions`.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ImportError
        Without the package ctranslate2.
    ValueError
        If d_k differs from d_v, or tokenizer and model differ in vocabulary.
    FileExistsError
        If the folder holds something else.
    DiskFull
        If the disk is full; a folder that was there before is untouched.
    """
    require_convertible(model.config, tokenizer)
    optional("ctranslate2.specs")
    with export_folder(folder, FILES, _is_export) as partial:
        write_ctranslate2(model, tokenizer, partial, quantization, max_positions)
    return Path(folder)


def _is_export(folder: Path) -> bool:
    return (folder / "model.bin").is_file() and is_our_tokenizer(folder / "tokenizer.json")


def require_convertible(config: ModelConfig, tokenizer: Tokenizer) -> None:
    """Raise `ValueError` if CTranslate2 has no such model, or tokenizer and model differ in vocabulary."""
    if config.d_k != config.d_v:
        raise ValueError(f"CTranslate2 has one width of heads; this model has d_k {config.d_k} and d_v {config.d_v}")
    if config.norm == "post" and config.final_norm:
        raise ValueError("CTranslate2 has no LayerNorm on top of post-norm stacks; this model has one (final_norm)")
    require_same_vocabulary(config, tokenizer)


def write_ctranslate2(
    model: Transformer,
    tokenizer: Tokenizer,
    folder: Path,
    quantization: str | None = None,
    max_positions: int | None = None,
) -> None:
    """Write the `FILES` of an export into a folder that exists; parameters as in `export_ctranslate2`."""
    config = model.config
    specs = optional("ctranslate2.specs")
    spec = _spec(specs.transformer_spec, config)
    limit = max_positions or config.max_positions
    tied = config.tie_embeddings
    with torch.no_grad():
        _stack(spec.encoder, model.encoder, model, limit)
        _stack(spec.decoder, model.decoder, model, limit)
        spec.encoder.embeddings[0].weight = _array(model.embedding.weight)
        spec.decoder.embeddings.weight = _array((model.embedding if tied else model.target_embedding).weight)
        spec.decoder.projection.weight = _array(model.output_weight)
    vocabulary = pieces(tokenizer)
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    names = {"bos_token": BOS, "eos_token": EOS, "unk_token": UNK, "decoder_start_token": BOS}
    for name, token in names.items():
        setattr(spec.config, name, SPECIAL_TOKENS[token])
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.norm_epsilon
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))
    write_tokenizer(tokenizer, folder / "tokenizer.json")


def _spec(transformer_spec: Any, config: ModelConfig) -> Any:
    """An empty description of both stacks."""
    options = {"pre_norm": config.norm == "pre", "head_dim": config.d_k}
    return transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(config.num_encoder_layers, config.num_heads, **options),
        transformer_spec.TransformerDecoderSpec(config.num_decoder_layers, config.num_heads, **options),
    )


def _stack(spec: Any, stack: nn.Module, model: Transformer, limit: int) -> None:
    """Fill an encoder's or decoder's description."""
    spec.scale_embeddings = model.embedding.scale
    spec.position_encodings.encodings = _array(model.positions(limit))
    if model.config.norm == "pre":
        _norm(spec.layer_norm, stack.final_norm)
    for part, layer in zip(spec.layer, stack.layers, strict=True):
        _attention(part.self_attention, layer.self_attention)
        _norm(part.self_attention.layer_norm, layer.self_attention_residual.norm)
        if hasattr(layer, "cross_attention"):
            _attention(part.attention, layer.cross_attention, cross=True)
            _norm(part.attention.layer_norm, layer.cross_attention_residual.norm)
        _linear(part.ffn.linear_0, layer.feed_forward.inner.weight, layer.feed_forward.inner.bias)
        _linear(part.ffn.linear_1, layer.feed_forward.outer.weight, layer.feed_forward.outer.bias)
        _norm(part.ffn.layer_norm, layer.feed_forward_residual.norm)


def _attention(spec: Any, attention: MultiHeadAttention, cross: bool = False) -> None:
    """Self-attention has W_Q, W_K, W_V in one matrix; attention to the memory W_Q apart from W_K, W_V."""
    *inputs, (out, out_bias) = projections(attention)
    groups = [inputs[:1], inputs[1:]] if cross else [inputs]
    for linear, group in zip(spec.linear, groups, strict=False):
        biases = [bias for _, bias in group if bias is not None]
        _linear(linear, torch.cat([weight for weight, _ in group]), torch.cat(biases) if biases else None)
    _linear(spec.linear[-1], out, out_bias)


def _linear(spec: Any, weight: Tensor, bias: Tensor | None) -> None:
    spec.weight = _array(weight)
    if bias is not None:
        spec.bias = _array(bias)


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(x: Tensor) -> np.ndarray:
    # A copy: CTranslate2 quantises arrays in place, and these would be the model's own weights.
    return x.detach().float().cpu().numpy().copy()
