"""Diagnosis of the wrong idea behind an answer, by the known-wrong answer of the bank that behaves exactly alike."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from annotated.grading.exercise.exercise import Exercise, WrongAnswer
from annotated.grading.exercise.run import ExerciseResult, run_checks
from annotated.grading.exercise.student import Handle, LocalStudent
from annotated.grading.sandbox.codec import Ref
from annotated.grading.sandbox.interpreter import AnswerError


def diagnose(result: ExerciseResult) -> WrongAnswer | None:
    """The known-wrong answer that this one behaves like; None if there is none.

    It loses the same public checks with the same results. Where an answer has more than one thing wrong with it, the
    entry that explains most of the lost checks is taken. Ideas go before slips, and then the bank's order decides.
    """
    mine = _profile(result)
    if not mine or result.gate:
        return None
    # What an entry loses is written in the bank, and held to it; those that cannot fit need not run.
    fitting = [entry for entry in result.exercise.bank if {n for n in entry.loses if ":" not in n} <= mine.keys()]
    entries = sorted(fitting, key=lambda entry: entry.kind != "concept")
    profiles = {entry.name: _profile_of(result.exercise, entry.name) for entry in entries}
    for entry in entries:
        if alike(mine, profiles[entry.name]):
            return entry
    partly = [entry for entry in entries if profiles[entry.name] and _explains(profiles[entry.name], mine)]
    return max(partly, key=lambda entry: len(profiles[entry.name]), default=None)


def _explains(part: dict[str, tuple[Any, ...]], whole: dict[str, tuple[Any, ...]]) -> bool:
    return part.keys() < whole.keys() and all(alike(part[name], whole[name]) for name in part)


def _profile(result: ExerciseResult) -> dict[str, tuple[Any, ...]]:
    """What the answer gave back in each public check that it lost."""
    return {check.name: check.transcript for check in result.checks if check.failure and not check.hidden}


@cache
def _profile_of(exercise: Exercise, name: str) -> dict[str, tuple[Any, ...]]:
    entry = next(entry for entry in exercise.bank if entry.name == name)
    try:
        student = LocalStudent.of_code(entry.code, exercise.given_code)
    except AnswerError:
        return {}
    return _profile(run_checks(exercise, student))


def _alike_tensors(a: Tensor, b: Tensor) -> bool:
    """Equal up to rounding relative to the largest entry: what cancels to nearly zero keeps the noise of its terms."""
    kind = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    a, b = a.to(kind), b.to(kind)
    finite = b[b.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(a, b, rtol=1e-3, atol=1e-9 + 1e-5 * scale, equal_nan=True)


def _plain(value: Any) -> Any:
    """A number for a tensor without axes; no leading axes of size one, which broadcasting adds anyway."""
    if not isinstance(value, Tensor):
        return value
    while value.ndim > 1 and value.size(0) == 1:
        value = value[0]
    return value if value.ndim else value.item()


def alike(a: Any, b: Any) -> bool:
    """Whether two transcripts are the same: numbers up to rounding, tensors up to leading axes of size one."""
    a, b = _plain(a), _plain(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or (a.dtype == torch.bool) != (b.dtype == torch.bool):
            return False
        return _alike_tensors(a, b)
    if isinstance(a, float | int) and isinstance(b, float | int) and not isinstance(a, bool):
        near = math.isfinite(b) and abs(a - b) <= 1e-5 + 1e-3 * abs(b)
        return a == b or near or (a != a and b != b)
    if isinstance(a, Ref | Handle) and isinstance(b, Ref | Handle):
        return True
    return type(a) is type(b) and a == b
