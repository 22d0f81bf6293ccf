"""Picture of one head: a token's vector becomes query, key and value, then scores, weights and an output."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import torch
import traitlets
from torch import Tensor

from annotated.analysis.tracing import trace
from annotated.model import scaled_dot_product_attention
from annotated.translator import Translator
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
STEPS = 6


class ProjectionPicture(anywidget.AnyWidget):
    """The widget; `projection_picture` makes one. `step` and `token` (numbers, from 0) may be set from Python.

    `data` holds X, W_Q, W_K and W_V as bytes around 128, one after another; everything smaller is in `numbers`.
    """

    _esm = esm(_HERE / "projection.js")
    _css = _HERE / "projection.css"
    data = traitlets.Bytes().tag(sync=True)
    scales = traitlets.List(trait=traitlets.Float()).tag(sync=True)
    numbers = traitlets.Dict().tag(sync=True)
    tokens = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)


def head_numbers(translator: Translator, text: str, layer: int, head: int) -> tuple[list[str], dict[str, Tensor]]:
    """What one head of the encoder computes for a sentence.

    Returns
    -------
    tokens
        The S tokens of the source, the end token last.
    tensors
        `x` `[S, D]`, which enters the layer; `w_q`, `w_k`, `w_v` `[D, K]`, so that q = x W; `q`, `k`, `v`, `output`
        `[S, K]`; `scores` `[S, S]`, divided by the root of K; `weights` `[S, S]`.
    """
    traced = trace(translator, text)
    encoder: Any = translator.model.encoder.layers
    attention = encoder[layer - 1].self_attention
    x = traced.boxes["source.sum" if layer == 1 else f"encoder.{layer - 1}.add_norm_2"]
    rows = slice((head - 1) * attention.d_k, head * attention.d_k)
    with torch.no_grad():
        w_q, w_k, w_v = (matrix.detach()[rows].T for matrix in (attention.w_q, attention.w_k, attention.w_v))
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        output, weights = scaled_dot_product_attention(q, k, v)
    scores = q @ k.T / math.sqrt(attention.d_k)
    named = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "q": q, "k": k, "v": v}
    return traced.source_tokens, {**named, "scores": scores, "weights": weights, "output": output}


def projection_picture(
    translator: Translator, text: str, *, layer: int = 1, head: int = 1, token: int = 1, step: int = 0
) -> ProjectionPicture:
    """How x becomes q, k and v, and what one head does with them, in six steps.

    Parameters
    ----------
    translator
        A model without biases in its projections, as the paper's.
    text
        An English sentence of at most some fifteen tokens.
    layer, head
        Of the encoder, from 1.
    token
        The token that is chosen first, from 1.
    step
        What is shown first, from 0: the vector; its query, key and value; the keys and values of all tokens; the
        scores; the weights; the output.

    Raises
    ------
    ValueError
        If there is no such layer, head, token or step, or if the projections have biases.
    """
    config = translator.model.config
    if config.attention_bias:
        raise ValueError("the picture draws q = x W_Q; this model adds a bias")
    if not (1 <= layer <= config.num_encoder_layers and 1 <= head <= config.num_heads and 0 <= step < STEPS):
        raise ValueError(f"there is no layer {layer}, head {head} or step {step}")
    tokens, found = head_numbers(translator, text, layer, head)
    if not 1 <= token <= len(tokens):
        raise ValueError(f"there is no token {token}; the sentence has {len(tokens)}")
    chunks, scales = zip(*(_bytes(found[name]) for name in ("x", "w_q", "w_k", "w_v")), strict=True)
    small = ("q", "k", "v", "scores", "weights", "output")
    numbers = {name: [[round(value, 4) for value in row] for row in found[name].tolist()] for name in small}
    firsts = found["x"][:, :4].tolist()  # printed in figures
    sizes = {"D": config.d_model, "K": config.d_k, "layer": layer, "head": head}
    return ProjectionPicture(
        data=b"".join(chunks), scales=list(scales), numbers={**numbers, "first": firsts}, tokens=tokens, sizes=sizes,
        token=token - 1, step=step,
    )  # fmt: skip


def _bytes(matrix: Tensor) -> tuple[bytes, float]:
    """A matrix as bytes around 128, and the number that the largest byte stands for."""
    values = matrix.detach().cpu().double().numpy()
    scale = float(np.abs(values).max())
    return (np.round(values / scale * 127) + 128).astype(np.uint8).tobytes(), scale
