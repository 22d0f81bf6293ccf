"""Helpers that converters share: projections of an attention, absent biases, pieces, missing packages."""

from __future__ import annotations

import importlib
from types import ModuleType

import torch
from torch import Tensor

from annotated.config import ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.model import MultiHeadAttention


def optional(name: str, extra: str = "export") -> ModuleType:
    """Import a package that only an extra installs.

    Raises
    ------
    ImportError
        If it is not there; the message names the extra.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this needs the package {name.partition('.')[0]} ({error}): "
            f"install the extra with pip install 'annotated-attention[{extra}]'"
        ) from error


def projections(attention: MultiHeadAttention) -> list[tuple[Tensor, Tensor | None]]:
    """W_Q, W_K, W_V and W_O, each `[out, in]` with its bias `[out]` or None: views of the model."""
    weights = (attention.w_q, attention.w_k, attention.w_v)
    biases: tuple[Tensor | None, ...] = (None, None, None)
    if attention.in_bias is not None:
        biases = attention.in_bias.split([len(weight) for weight in weights])
    out = attention.out_projection
    return [*zip(weights, biases, strict=True), (out.weight, out.bias)]


@torch.no_grad()
def copy(source: Tensor | None, destination: Tensor | None) -> None:
    """Write `source` into `destination`; an absent bias is a bias of zeros.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    if destination is None:
        assert source is None, "a bias has nowhere to go"
    elif source is None:
        destination.zero_()
    else:
        if source.shape != destination.shape:
            raise ValueError(f"weights of shape {list(source.shape)} do not fit {list(destination.shape)}")
        destination.copy_(source)


def require_equal_heads(config: ModelConfig, what: str) -> None:
    """Raise `ValueError` unless d_k = d_v = d_model / h, the only widths that `what` knows."""
    if not config.d_k == config.d_v == config.d_model / config.num_heads:
        raise ValueError(
            f"{what} has heads of width d_model / num_heads = {config.d_model} / {config.num_heads} only; "
            f"this model has d_k {config.d_k} and d_v {config.d_v}"
        )


def pieces(tokenizer: Tokenizer) -> list[str]:
    """The vocabulary as the file tokenizer.json writes it, by id: distinct strings, spaces shown as "Ġ".

    They are the strings that Hugging Face's `tokenizers` gives for a text, so other programs can look them up.
    """
    return [tokenizer._inner.id_to_token(index) for index in range(tokenizer.vocab_size)]
