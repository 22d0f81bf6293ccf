"""Codec: values as bytes, without pickle; what travels between a grader and an answer that runs elsewhere.

This file stands alone: the sandbox has it next to its worker, where the rest of the library does not exist.
Tensors travel as safetensors, all else as JSON; reading such bytes can fail, but it cannot run anything. What could
take long to read is refused by its size: numbers of many digits, sets and dictionaries of many or of compound entries,
and a tensor that is named twice. Memory and time as a whole are bounded by whoever reads (`instructor.limited`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

MOST_DEEP = 40
"""Levels of nesting that are followed."""
MOST_ENTRIES = 10_000
"""Of a set or a dictionary, whose entries are compared with each other, and tensors in one value."""
MOST_BITS = 128
"""Of an integer, beyond which arithmetic is no longer one step; of one that is a key, half as many."""
_MOST_OF_A_TENSOR_LIST = 2 * 2**20
_COPIED = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8})
_COPIED |= {torch.int8, torch.int16, torch.int32, torch.int64}
"""Of tensors that a copy is made of at once; with any other, safetensors says whether it can travel."""
_KEY_TYPES = (str, int, float, bool, type(None))


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
    with _refusing():
        header = json.dumps(_pack(value, tensors, 0)).encode()
        return struct.pack(">I", len(header)) + header + (save(tensors) if tensors else b"")


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Raise `CodecError` for whatever a value that cannot travel raises."""
    try:
        yield
    except CodecError:
        raise
    except Exception as error:  # quantized, nested and meta tensors, numbers of thousands of digits, odd mappings
        reason = str(error).partition("\n")[0][:200]
        raise CodecError(f"this value cannot be checked ({type(error).__name__}: {reason})") from None


def copied(value: Any) -> Any:
    """What `decode(encode(value))` gives, without the bytes, for an answer in this process.

    Raises
    ------
    CodecError
        If the value cannot travel.
    """
    tensors: dict[str, Tensor] = {}
    with _refusing():
        packed = _pack(value, tensors, 0)
        if all(type(tensor) is Tensor and tensor.dtype in _COPIED for tensor in tensors.values()):
            return _unpack(packed, tensors, 0)
    return decode(encode(value))


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
        return _unpack(json.loads(header.decode(), parse_int=_integer), _tensors(rest), 0)
    except CodecError:
        raise
    except Exception as error:  # whatever strangers' bytes do to a parser
        raise CodecError(f"these bytes are no value: {type(error).__name__}") from None


def _tensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a value; their list is bounded before it is read."""
    if not data:
        return {}
    if len(data) < 8 or struct.unpack("<Q", data[:8])[0] > _MOST_OF_A_TENSOR_LIST:
        raise CodecError("these bytes are no value: the list of tensors is too long")
    return load(data)


def _integer(text: str) -> int:
    """An integer of a reply; `int` itself takes quadratic time, and refuses only thousands of digits."""
    if len(text) > MOST_BITS // 3:
        raise CodecError(f"an integer of {len(text):,} digits cannot be checked")
    return _bounded(int(text))


def _bounded(number: int, most: int = MOST_BITS) -> int:
    if number.bit_length() > most:
        raise CodecError(f"an integer of {number.bit_length():,} bits cannot be checked; the most are {most}")
    return number


def _pack(value: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > MOST_DEEP:
        raise CodecError(f"the value is nested more than {MOST_DEEP} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return _bounded(int(value))
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
    if len(tensors) >= MOST_ENTRIES:
        raise CodecError(f"a value of more than {MOST_ENTRIES:,} tensors cannot be checked")
    tensors[name] = value.clone(memory_format=torch.contiguous_format)
    return {"complex" if is_complex else "tensor": name}


def _pack_container(value: Any, pack: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {"dict": [[pack(_key(key)), pack(part)] for key, part in _few(value.items())]}
    if isinstance(value, set | frozenset):
        return {"set": [pack(_key(part)) for part in _few(value)]}
    for kind, name in ((list, "list"), (tuple, "tuple")):
        if isinstance(value, kind):
            return {name: [pack(part) for part in value]}
    raise CodecError(
        f"a value of type {type(value).__name__} cannot be checked; return tensors, numbers, text or lists"
    )


def _few(parts: Any) -> Any:
    """The entries of a set or dictionary, if they are few enough to be compared with each other."""
    if len(parts) > MOST_ENTRIES:
        raise CodecError(
            f"a set or dictionary of {len(parts):,} entries cannot be checked; the most are {MOST_ENTRIES:,}"
        )
    return parts


def _key(value: Any, depth: int = 0) -> Any:
    """An entry of a set, or the key of a dictionary: plain, so that comparing two is one step."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple) and depth < 3:
        for part in value:
            _key(part, depth + 1)
        return value
    if isinstance(value, int):
        _bounded(value, MOST_BITS // 2)
    if isinstance(value, (*_KEY_TYPES, torch.dtype)):
        return value
    raise CodecError(
        f"a key or entry of type {type(value).__name__} cannot be checked; use text, numbers, or tuples of them"
    )


def _unpack(value: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > MOST_DEEP:
        raise CodecError(f"the value is nested more than {MOST_DEEP} levels deep")
    if not isinstance(value, dict):
        if value is None or isinstance(value, bool | int | float):
            return value
        raise CodecError("these bytes are no value")
    ((kind, body),) = value.items()
    if kind == "text" and isinstance(body, str):
        return body
    if kind in ("tensor", "complex"):
        tensor = tensors.pop(body)  # once: a value of a few bytes could name a tensor a hundred thousand times
        return tensor if kind == "tensor" else torch.view_as_complex(tensor)
    if kind == "ref":
        number, what = body
        return Ref(_bounded(int(number)), str(what)[:20] if isinstance(what, str) else "object")
    if not isinstance(body, list):
        raise CodecError("these bytes are no value")
    if kind == "dict":
        return {_key(_unpack(key, tensors, depth + 1)): _unpack(part, tensors, depth + 1) for key, part in _few(body)}
    parts = [_unpack(part, tensors, depth + 1) for part in body]
    if kind == "set":
        return {_key(part) for part in _few(parts)}
    return {"list": list, "tuple": tuple}[kind](parts)
