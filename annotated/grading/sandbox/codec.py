"""Codec: values as bytes, without pickle; what travels between a grader and an answer that runs elsewhere.

This file stands alone: the sandbox has it next to its worker, where the rest of the library does not exist.
Tensors travel as safetensors, all else as JSON; reading such bytes can fail, but it cannot run anything.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

MOST_DEEP = 40
"""Levels of nesting that are followed."""


class CodecError(ValueError):
    """A value that cannot travel, or bytes that are no value; the message says which."""


@dataclasses.dataclass(frozen=True)
class Ref:
    """Stands for an object that stays where the answer runs: a function, a module, a plot's source."""

    number: int
    kind: str = "object"


def encode(value: Any) -> bytes:
    """Turn a value into bytes.

    Parameters
    ----------
    value
        None, bool, int, float, str, list, tuple, dict, set, tensors and arrays of numbers, `Ref`.

    Raises
    ------
    CodecError
        For anything else.
    """
    tensors: dict[str, Tensor] = {}
    try:
        header = json.dumps(_pack(value, tensors, 0)).encode()
        return struct.pack(">I", len(header)) + header + (save(tensors) if tensors else b"")
    except CodecError:
        raise
    except Exception as error:  # quantized, nested and meta tensors, numbers of thousands of digits, odd mappings
        reason = str(error).partition("\n")[0][:200]
        raise CodecError(f"this value cannot be checked ({type(error).__name__}: {reason})") from None


def decode(data: bytes) -> Any:
    """The value behind bytes that `encode` wrote.

    Raises
    ------
    CodecError
        If the bytes are anything else. Nothing in them is executed.
    """
    try:
        (length,) = struct.unpack(">I", data[:4])
        header, rest = data[4 : 4 + length], data[4 + length :]
        return _unpack(json.loads(header.decode()), load(rest) if rest else {}, 0)
    except CodecError:
        raise
    except Exception as error:  # whatever strangers' bytes do to a parser
        raise CodecError(f"these bytes are no value: {type(error).__name__}") from None


def _pack(value: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > MOST_DEEP:
        raise CodecError(f"the value is nested more than {MOST_DEEP} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return {"text": str(value)}
    if isinstance(value, torch.dtype):
        return {"text": str(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise CodecError(f"an array of {value.dtype} cannot be checked; return numbers")
        value = torch.from_numpy(np.ascontiguousarray(value))
    if isinstance(value, Tensor):
        return _pack_tensor(value, tensors)
    if isinstance(value, Ref):
        return {"ref": [value.number, value.kind]}
    return _pack_container(value, lambda part: _pack(part, tensors, depth + 1))


def _pack_tensor(value: Tensor, tensors: dict[str, Tensor]) -> Any:
    value = value.detach().to("cpu")
    if value.layout is not torch.strided:
        value = value.to_dense()
    is_complex = value.is_complex()
    if is_complex:
        value = torch.view_as_real(value.resolve_conj())
    name = str(len(tensors))
    tensors[name] = value.clone(memory_format=torch.contiguous_format)
    return {"complex" if is_complex else "tensor": name}


def _pack_container(value: Any, pack: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {"dict": [[pack(key), pack(part)] for key, part in value.items()]}
    for kind, name in ((list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "set")):
        if isinstance(value, kind):
            return {name: [pack(part) for part in value]}
    raise CodecError(
        f"a value of type {type(value).__name__} cannot be checked; return tensors, numbers, text or lists"
    )


def _unpack(value: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > MOST_DEEP:
        raise CodecError(f"the value is nested more than {MOST_DEEP} levels deep")
    if not isinstance(value, dict):
        if value is None or isinstance(value, bool | int | float):
            return value
        raise CodecError("these bytes are no value")
    ((kind, body),) = value.items()
    if kind == "text":
        return str(body)
    if kind == "tensor":
        return tensors[body]
    if kind == "complex":
        return torch.view_as_complex(tensors[body])
    if kind == "ref":
        return Ref(int(body[0]), str(body[1]))
    if kind == "dict":
        pairs = [(_unpack(key, tensors, depth + 1), _unpack(part, tensors, depth + 1)) for key, part in body]
        return dict(pairs)
    parts = [_unpack(part, tensors, depth + 1) for part in body]
    return {"list": list, "tuple": tuple, "set": set}[kind](parts)
