"""Helpers that converters share: folders to export to, projections of an attention, absent biases, pieces, packages."""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from annotated.config import SPECIAL_TOKENS, ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.model import MultiHeadAttention
from annotated.ownership import IsOurs, require_our_folder
from annotated.saving import CheckpointError, read_json
from annotated.storage import atomic_folder, write_json


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
            f"install the library again with its extra {extra}: pip install '.[{extra}]' in a checkout, or "
            f"pip install 'WHEEL[{extra}]' with the path of the wheel"
        ) from error


@contextlib.contextmanager
def export_folder(folder: str | Path, names: Iterable[str], is_ours: IsOurs) -> Iterator[Path]:
    """An empty folder to export to, which becomes `folder` when the block ends.

    Parameters
    ----------
    names
        The files of an export.
    is_ours
        Whether a folder that is there is an earlier export of the kind, which is replaced.

    Raises
    ------
    FileExistsError
        If `folder` holds something else than an earlier export.
    ValueError
        If the path is ''.
    DiskFull
        If the disk is full; nothing half written is left, and an earlier export is untouched.
    """
    folder = require_our_folder(folder, names, is_ours, whole=True)
    with atomic_folder(folder) as partial:
        try:
            yield partial
        except OSError:
            raise
        except Exception as error:  # safetensors and onnx tell of a full disk by errors of their own
            codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            told = next((code for code in codes if os.strerror(code) in str(error)), None)
            if told is None:
                raise
            raise OSError(told, os.strerror(told), str(partial)) from error


def require_same_vocabulary(config: ModelConfig, tokenizer: Tokenizer) -> None:
    """Raise `ValueError` unless model and tokenizer have as many entries."""
    if tokenizer.vocab_size != config.vocab_size:
        raise ValueError(
            f"the tokenizer has {tokenizer.vocab_size} entries and the model {config.vocab_size}: "
            "they do not belong together"
        )


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


def write_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Write the tokenizer.json of an export, so that another program reads a text as `Translator` does.

    A tokenizer with a normal form has it in its file. Of one without, `Translator` takes white space off a text's ends,
    and the file says so.
    """
    tokenizer.save(path)
    if not tokenizer.normal_form:
        content = json.loads(path.read_text(encoding="utf-8"))
        write_json(path, content | {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}})


def is_our_tokenizer(path: Path) -> bool:
    """Whether a tokenizer.json is that of an export: our special tokens come first in its vocabulary."""
    try:
        vocabulary = read_json(path)["model"]["vocab"]
        return [vocabulary.get(token) for token in SPECIAL_TOKENS] == list(range(len(SPECIAL_TOKENS)))
    except (CheckpointError, KeyError, TypeError, AttributeError):
        return False


def pieces(tokenizer: Tokenizer) -> list[str]:
    """The vocabulary as the file tokenizer.json writes it, by id: distinct strings, spaces shown as "Ġ".

    They are the strings that Hugging Face's `tokenizers` gives for a text, so other programs can look them up.
    """
    return [tokenizer._inner.id_to_token(index) for index in range(tokenizer.vocab_size)]
