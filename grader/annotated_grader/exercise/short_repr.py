"""Short representation: a value as Python writes it, cut; the work is bounded by the length and not by the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from torch import Tensor

_MOST_DEEP = 40
_SMALL = 100
"""Entries of a tensor that is written out."""


def short_repr(value: Any, most: int = 120, tensor: Callable[[Tensor], str] | None = None) -> str:
    """A value in at most so many characters, `...` at the end of what was cut.

    Parameters
    ----------
    tensor
        How a tensor is written; by default with its numbers if it is small, else by its type and shape.
    """
    text = ""
    for piece in _pieces(value, tensor or _tensor, most, 0):
        text += piece
        if len(text) > most:
            return text[: most - 3] + "..."
    return text


def type_and_shape(value: Tensor) -> str:
    """A tensor as "float32 tensor [2, 3]"."""
    return f"{str(value.dtype).removeprefix('torch.')} tensor {list(value.shape)}"


def _tensor(value: Tensor) -> str:
    if value.numel() > _SMALL:
        return type_and_shape(value)
    try:
        return repr(value)
    except Exception:  # of a type that torch cannot print
        return type_and_shape(value)


def _pieces(value: Any, tensor: Callable[[Tensor], str], most: int, depth: int) -> Iterator[str]:
    def written(part: Any) -> Iterator[str]:
        return _pieces(part, tensor, most, depth + 1)

    if isinstance(value, Tensor):
        yield tensor(value)
    elif isinstance(value, str):
        yield repr(value[: most + 1])
    elif depth > _MOST_DEEP:
        yield "..."
    elif type(value) is list:
        yield from _joined("[", map(written, value), "]")
    elif type(value) is tuple:
        yield from _joined("(", map(written, value), ",)" if len(value) == 1 else ")")
    elif type(value) is set and value:
        yield from _joined("{", map(written, value), "}")
    elif type(value) is dict:
        yield from _joined("{", (_pair(written(key), written(part)) for key, part in value.items()), "}")
    else:
        yield repr(value)


def _pair(key: Iterator[str], value: Iterator[str]) -> Iterator[str]:
    yield from key
    yield ": "
    yield from value


def _joined(opening: str, parts: Iterable[Iterator[str]], closing: str) -> Iterator[str]:
    yield opening
    rest = iter(parts)
    for first in islice(rest, 1):
        yield from first
    for part in rest:
        yield ", "
        yield from part
    yield closing
