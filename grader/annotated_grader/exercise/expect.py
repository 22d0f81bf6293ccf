"""Expectations of a check: each passes silently, or raises `Failed` with input, expected and got.

Results come from strangers: every expectation first makes sure that it holds the kind of value it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from annotated_grader.exercise.short_repr import short_repr
from annotated_grader.sandbox.interpreter import AnswerError


class Failed(Exception):
    """An expectation does not hold.

    Attributes
    ----------
    message
        One sentence for the learner.
    what
        What was looked at, such as "the weights".
    got, expected
        The two values, where there are two.
    inputs
        What the answer was given, by name.
    where
        The index of the entry that is farthest off, where the values are tensors.
    """

    def __init__(
        self,
        message: str,
        *,
        what: str = "",
        got: Any = None,
        expected: Any = None,
        inputs: dict[str, Any] | None = None,
        where: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.what, self.got, self.expected = message, what, got, expected
        self.inputs, self.where = inputs or {}, where


def tensor(got: Any, what: str, shape: Sequence[int] | None = None, **inputs: Any) -> Tensor:
    """A tensor of numbers, of this shape if one is given; plain numbers count as tensors without axes."""
    if isinstance(got, bool | int | float):
        got = torch.tensor(got)
    if not isinstance(got, Tensor):
        raise Failed(f"{what}: expected a tensor, got {_kind(got)}", what=what, got=got, inputs=inputs)
    if shape is not None and tuple(got.shape) != tuple(shape):
        message = f"{what}: expected shape {list(shape)}, got {list(got.shape)}"
        raise Failed(message, what=what, got=list(got.shape), expected=list(shape), inputs=inputs)
    return got


def shape(got: Any, expected: Sequence[int], what: str, **inputs: Any) -> Tensor:
    """A tensor of this shape, with finite numbers that are not all alike where there is more than one."""
    value = tensor(got, what, expected, **inputs)
    if value.is_floating_point():
        if not bool(torch.isfinite(value).all()):
            raise Failed(f"{what}: there are NaN or infinite entries", what=what, got=value, inputs=inputs)
        if value.numel() > 1 and bool((value == value.flatten()[0]).all()):
            raise Failed(f"{what}: all entries are {value.flatten()[0].item():g}", what=what, got=value, inputs=inputs)
    return value


def close(got: Any, expected: Any, what: str, atol: float = 1e-5, rtol: float = 1e-4, **inputs: Any) -> None:
    """Tensors of one shape that agree entry by entry, up to rounding; NaN agrees with nothing."""
    expected = torch.as_tensor(expected)
    value = tensor(got, what, expected.shape, **inputs)
    kind = torch.complex128 if value.is_complex() or expected.is_complex() else torch.float64
    a, b = value.to(kind), expected.detach().to(kind)
    near = b.isfinite() & ((a - b).abs() <= atol + rtol * b.abs())
    wrong = ~((a == b) | near)  # NaN is wrong; equal infinities are not
    if not bool(wrong.any()):
        return
    distance = torch.where(wrong, (a - b).abs().nan_to_num(math.inf, math.inf), torch.zeros_like(a))
    where = index_of_largest(distance)
    at = f" at {list(where)}" if where else ""
    share = f"; {int(wrong.sum())} of {wrong.numel()} entries differ" if wrong.numel() > 1 else ""
    both = value.dtype == expected.dtype == torch.bool
    wanted, given = (str(bool(x[where])) if both else f"{x[where].item():.6g}" for x in (b, a))
    message = f"{what}{at}: expected {wanted}, got {given}{share}"
    raise Failed(message, what=what, got=value, expected=expected, inputs=inputs, where=where)


def index_of_largest(values: Tensor) -> tuple[int, ...]:
    """The index of the largest entry; `torch.unravel_index` would import sympy, which takes a second."""
    return tuple(int(i) for i in np.unravel_index(int(values.argmax()), tuple(values.shape)))


def equal(got: Any, expected: Any, what: str, **inputs: Any) -> None:
    """Exactly equal: tensors (of one shape; Boolean where Boolean is expected), numbers, text, lists, dictionaries."""
    if isinstance(expected, Tensor):
        value = tensor(got, what, expected.shape, **inputs)
        if (value.dtype == torch.bool) != (expected.dtype == torch.bool):
            kinds = f"expected {expected.dtype}, got {value.dtype}"
            raise Failed(f"{what}: {kinds}", what=what, got=value, expected=expected, inputs=inputs)
        close(value, expected, what, atol=0.0, rtol=0.0, **inputs)
    elif not _same(got, expected):
        message = f"{what}: expected {short_repr(expected)}, got {short_repr(got)}"
        raise Failed(message, what=what, got=got, expected=expected, inputs=inputs)


def number(got: Any, expected: float, what: str, atol: float = 1e-6, rtol: float = 1e-4, **inputs: Any) -> None:
    """One number (a tensor with one entry counts), up to rounding."""
    if isinstance(got, Tensor) and got.numel() == 1:
        got = got.item()
    if isinstance(got, bool) or not isinstance(got, int | float):
        raise Failed(f"{what}: expected a number, got {_kind(got)}", what=what, got=got, inputs=inputs)
    if not (got == expected or abs(got - expected) <= atol + rtol * abs(expected)):
        message = f"{what}: expected {expected:.6g}, got {got:.6g}"
        raise Failed(message, what=what, got=got, expected=expected, inputs=inputs)


def text(got: Any, accepted: str | Sequence[str], what: str, **inputs: Any) -> None:
    """A short text; case and spaces do not count."""
    if not isinstance(got, str):
        raise Failed(f"{what}: expected a text, got {_kind(got)}", what=what, got=got, inputs=inputs)
    allowed = [accepted] if isinstance(accepted, str) else list(accepted)
    if " ".join(got.lower().split()) not in {" ".join(text.lower().split()) for text in allowed}:
        raise Failed(f"{what}: {got.strip()[:60]!r} is not it", what=what, got=got, inputs=inputs)


def true(condition: Any, message: str, **inputs: Any) -> None:
    """A condition that the check has worked out itself."""
    if not bool(condition):
        raise Failed(message, inputs=inputs)


def raises(function: Callable[[], Any], kinds: str | Sequence[str], what: str, **inputs: Any) -> None:
    """The answer must refuse: raise an error of one of these classes (by name), or of their children."""
    wanted = {kinds} if isinstance(kinds, str) else set(kinds)
    try:
        got = function()
    except AnswerError as error:
        if wanted & set(error.kinds) and error.kinds[0] not in ("NotImplementedError", "NameError"):
            return
        message = f"{what}: expected {' or '.join(sorted(wanted))}, got {error}"
        raise Failed(message, what=what, got=str(error), inputs=inputs) from None
    message = f"{what}: expected {' or '.join(sorted(wanted))}, but nothing was raised"
    raise Failed(message, what=what, got=got, inputs=inputs)


def _same(got: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return got is expected
    if isinstance(got, Tensor) and not isinstance(expected, dict | list | tuple | str):
        got = got.item() if got.numel() == 1 else got
    if isinstance(expected, dict):
        alike = isinstance(got, dict) and got.keys() == expected.keys()
        return alike and all(_same(got[key], value) for key, value in expected.items())
    if isinstance(expected, list | tuple):
        alike = isinstance(got, list | tuple) and len(got) == len(expected)
        return alike and all(_same(a, b) for a, b in zip(got, expected, strict=True))
    if isinstance(got, Tensor) or isinstance(expected, Tensor):
        both = isinstance(got, Tensor) and isinstance(expected, Tensor)
        return both and got.shape == expected.shape and bool((got == expected).all())
    kinds = int | float if isinstance(expected, int | float) else type(expected)  # 32.0 is 32
    return isinstance(got, kinds) and got == expected


def _kind(value: Any) -> str:
    names = {"NoneType": "None (is a `return` missing?)", "Handle": "a function or module", "str": "a text"}
    name = type(value).__name__
    return names.get(name, f"a {name}")
