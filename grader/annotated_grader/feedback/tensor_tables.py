"""Tables of tensors, a few short texts each: what reports print in a terminal and paint in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from annotated_grader.exercise.expect import index_of_largest

MOST = 12
"""Rows and columns that are shown at most."""
_FINEST = 8


@dataclass(frozen=True)
class TensorTable:
    """Part of a tensor, cell by cell.

    Attributes
    ----------
    name
        What it is, such as "expected".
    shape
        The whole tensor's shape.
    cells
        Its numbers as text, all with the same number of decimals.
    tint
        For each cell its size, from -1 to 1, relative to the largest one shown.
    wrong
        The cells that differ from what was expected.
    note
        Which part it is and what its symbols mean; empty if nothing needs to be said.
    """

    name: str
    shape: tuple[int, ...]
    cells: list[list[str]]
    tint: list[list[float]]
    wrong: list[list[bool]]
    note: str = ""


def is_matrix(value: Any) -> bool:
    """Whether a value can be a table: a tensor of real numbers with at least one entry."""
    return isinstance(value, Tensor) and value.numel() > 0 and not value.is_complex()


def compared(expected: Any, got: Any, where: Sequence[int] | None = None) -> tuple[TensorTable, TensorTable] | None:
    """Two tensors of one shape as two tables that show the same part, around the entry that is farthest off.

    Parameters
    ----------
    where
        The entry that must be in sight; by default the first that differs.

    Returns
    -------
    tuple of TensorTable or None
        None if they are no two tensors of one shape with an axis.
    """
    if not (is_matrix(expected) and is_matrix(got)) or expected.shape != got.shape or expected.ndim == 0:
        return None
    a, b = _numbers(expected), _numbers(got)
    wrong = _differ(a, b)
    if where is None or len(where) != a.ndim:
        where = index_of_largest(wrong.to(torch.int))
    part, rows, columns, note = _window(tuple(a.shape), where)
    a, b, wrong = (_as_matrix(x[part])[rows, columns] for x in (a, b, wrong))
    style = _style(a, b, wrong)
    largest = max(_largest(a), _largest(b))
    shape = tuple(expected.shape)
    return (
        TensorTable(
            "expected", shape, _texts(a, style, expected), _tint(a, largest), torch.zeros_like(wrong).tolist(), note
        ),
        TensorTable("got", shape, _texts(b, style, got), _tint(b, largest), wrong.tolist(), note),
    )


def single(name: str, value: Tensor) -> TensorTable:
    """One tensor as a table, from its first entry; a tensor without axes has one cell."""
    number = _numbers(value)
    part, rows, columns, note = _window(tuple(number.shape), [0] * number.ndim)
    shown = _as_matrix(number[part])[rows, columns]
    style = _style(shown, shown, torch.zeros_like(shown, dtype=torch.bool))
    wrong = [[False] * shown.shape[1] for _ in range(shown.shape[0])]
    tint = _tint(shown, _largest(shown))
    return TensorTable(name, tuple(value.shape), _texts(shown, style, value), tint, wrong, note)


def _numbers(value: Tensor) -> Tensor:
    return value.detach().to("cpu", torch.float64)


def _differ(a: Tensor, b: Tensor) -> Tensor:
    """Where two tensors differ by more than rounding; where none does, where they differ at all."""
    far = ~torch.isclose(b, a, rtol=1e-4, atol=1e-5)
    return far if bool(far.any()) else ~(a == b)


def _as_matrix(x: Tensor) -> Tensor:
    return x.reshape(1, -1) if x.ndim < 2 else x


def _window(shape: tuple[int, ...], where: Sequence[int]) -> tuple[tuple[int, ...], slice, slice, str]:
    """The leading indices, rows and columns to show so that `where` is in sight, and what to say about it."""
    part = tuple(where[:-2])
    sizes = shape[-2:] if len(shape) > 1 else (1, *(shape or (1,)))
    at = list(where[-2:]) if len(shape) > 1 else [0, *(where or [0])]
    spans, said = [], []
    for size, place, name in zip(sizes, at, ("rows", "columns"), strict=True):
        start = 0 if size <= MOST else max(0, min(place - MOST // 2, size - MOST))
        spans.append(slice(start, min(size, start + MOST)))
        if size > MOST:
            said.append(f"{name} {start} to {start + MOST - 1} of {size}")
    if part and math.prod(shape[:-2]) > 1:
        said.insert(0, f"part [{', '.join(map(str, part))}]")
    return part, spans[0], spans[1], ", ".join(said)


def _style(a: Tensor, b: Tensor, wrong: Tensor) -> str:
    """As few digits as show three of the largest number, and every difference."""
    largest = max(_largest(a), _largest(b))
    values = torch.cat([a.flatten(), b.flatten()])
    finite = values[values.isfinite()]
    if largest >= 1e5 or 0 < largest < 1e-3:
        digits, letter = 2, "e"
    elif bool((finite == finite.round()).all()):
        digits, letter = 0, "f"
    else:
        digits, letter = min(4, max(0, 2 - math.floor(math.log10(largest)))), "f"
    pairs = list(zip(a[wrong].tolist(), b[wrong].tolist(), strict=True))
    while digits < _FINEST and any(f"{x:.{digits}{letter}}" == f"{y:.{digits}{letter}}" for x, y in pairs):
        digits += 1
    return f".{digits}{letter}"


def _largest(x: Tensor) -> float:
    finite = x[x.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _texts(x: Tensor, style: str, original: Tensor) -> list[list[str]]:
    if original.dtype == torch.bool:
        return [["True" if value else "False" for value in row] for row in x.tolist()]
    return [[_text(value, style) for value in row] for row in x.tolist()]


def _text(value: float, style: str) -> str:
    text = f"{value:{style}}"
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.e+") else text


def _tint(x: Tensor, largest: float) -> list[list[float]]:
    scaled = (x / (largest or 1.0)).nan_to_num(0.0, 1.0, -1.0).clamp(-1, 1)
    return scaled.tolist()
