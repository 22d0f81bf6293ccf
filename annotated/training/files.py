"""Tensor files and JSON files of models and checkpoints, and the errors of those that are missing or damaged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor


class CheckpointError(RuntimeError):
    """A checkpoint or model folder is missing, damaged, or belongs to something else; the message says what to do."""


class NewerVersionError(CheckpointError):
    """A file was written by a newer version of this library; updating it is what helps."""


_DTYPES = {
    torch.int64: "I64", torch.float64: "F64", torch.float32: "F32", torch.int32: "I32", torch.bfloat16: "BF16",
    torch.float16: "F16", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
"""The names of safetensors, in the order in which it lays tensors out."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, as safetensors: the bytes of its own `save_file`.

    That would gather a second copy in memory, hold up all other threads for as long, and turn a full disk into an error
    of its own. This writes one tensor after the other, straight from its memory.
    """
    order = list(_DTYPES)
    named = sorted(tensors.items(), key=lambda item: (order.index(item[1].dtype), item[0]))
    about, end = {}, 0
    for name, tensor in named:
        begin, end = end, end + tensor.numel() * tensor.element_size()
        about[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    header = json.dumps(about, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, tensor in named:
            file.write(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The inverse of `write_tensors`.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged.
    """
    try:
        return safetensors.torch.load_file(path)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None


def write_json(path: Path, content: Any) -> None:
    """Write JSON that people can read too."""
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: not a JSON object, so not one of ours")
    return content


def check_version(found: Any, known: int, path: Path) -> None:
    """Make sure that a file is not from the future.

    Raises
    ------
    NewerVersionError
        If its format is higher than the highest that this version knows.
    """
    if isinstance(found, int) and found > known:
        raise NewerVersionError(
            f"{path}: written by a newer version of this library (format {found}; this one reads up to {known}). "
            "Update the package: pip install --upgrade annotated-attention"
        )
