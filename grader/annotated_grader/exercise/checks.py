"""Checks: what an exercise asks of an answer, with points, and the cases on which it is asked.

A check is one property. It runs on a small case first and on larger ones after, so that the first failure is the
smallest counterexample. Its hidden twin is the same function on cases drawn with a private salt.
"""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import torch
from torch import Tensor

from annotated_grader.exercise.student import Student

PUBLIC_SALT = "public"


class Case:
    """Random inputs of one case of a check; the same salt gives the same case.

    Parameters
    ----------
    seed
        What the numbers are drawn from.
    level
        0 for the smallest case.
    hidden
        True in the check's hidden twin.
    """

    def __init__(self, seed: str, level: int = 0, hidden: bool = False) -> None:
        self.level, self.hidden = level, hidden
        number = int.from_bytes(hashlib.sha256(f"{seed}|{level}".encode()).digest()[:7], "big")
        self.generator = torch.Generator().manual_seed(number)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Independent numbers of mean 0 and variance 1."""
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Independent numbers between 0 and 1."""
        return torch.rand(*shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Integers from `low` to `high - 1`."""
        return torch.randint(low, high, shape, generator=self.generator)

    def between(self, low: int, high: int) -> int:
        """A size from `low` to `high`; on the smallest case, `low`."""
        drawn = int(torch.randint(low, high + 1, (), generator=self.generator))
        return low if self.level == 0 else drawn

    def choice(self, options: Sequence[Any]) -> Any:
        """One of several; on the smallest case, the first."""
        drawn = int(torch.randint(len(options), (), generator=self.generator))
        return options[0 if self.level == 0 else drawn]

    def permutation(self, n: int) -> Tensor:
        """The numbers 0 to `n - 1` in random order."""
        return torch.randperm(n, generator=self.generator)


@dataclass(frozen=True)
class Check:
    """One property of an answer.

    Attributes
    ----------
    name, title
        The function's name, and the first line of its docstring.
    points, hidden
        What the public check and its hidden twin are worth.
    levels
        How many cases, from the smallest.
    claim
        The misconception that it is about, such as C08, if there is one.
    """

    name: str
    title: str
    function: Callable[[Student, Case], None]
    points: int
    hidden: int
    levels: int = 2
    claim: str = ""

    def cases(self, exercise: str, salt: str | None) -> list[Case]:
        """The public cases, or with a salt those of the hidden twin."""
        if salt is None:
            return [Case(f"{PUBLIC_SALT}|{exercise}|{self.name}", level) for level in range(self.levels)]
        seed = f"{salt}|{exercise}|{self.name}|hidden"
        return [Case(seed, level, hidden=True) for level in range(1, self.levels + 1)]


Result = TypeVar("Result")
"""What is remembered."""


def remembered(function: Callable[..., Result]) -> Callable[..., Result]:
    """Make a slow reference value once for the same arguments; each caller gets a copy, and may change it."""
    once = functools.cache(function)

    @functools.wraps(function)
    def remember(*args: Any, **kwargs: Any) -> Result:
        return copy.deepcopy(once(*args, **kwargs))

    return remember


_declared: list[Check] = []


def graded(
    points: int, hidden: int = 1, levels: int = 2, claim: str = ""
) -> Callable[[Callable[[Student, Case], None]], Callable[[Student, Case], None]]:
    """Make a function of `checks.py` a check; its docstring's first line is what the learner reads.

    Raises
    ------
    ValueError
        If it has no docstring, or its points are no positive number.
    """

    def declare(function: Callable[[Student, Case], None]) -> Callable[[Student, Case], None]:
        title = (function.__doc__ or "").strip().partition("\n")[0].strip()
        if not title or points < 1 or hidden < 0 or levels < 1:
            raise ValueError(f"check {function.__name__}: it needs a docstring, points from 1 on, hidden points from 0")
        name = function.__name__
        _declared.append(Check(name, title, function, points, hidden, levels, claim))
        return function

    return declare


def declared_by(run: Callable[[], Any]) -> tuple[Check, ...]:
    """The checks that a piece of code declares while it runs."""
    kept = _declared[:]
    _declared.clear()
    try:
        run()
        return tuple(_declared)
    finally:
        _declared[:] = kept


def load_checks(file: Path) -> tuple[Check, ...]:
    """Run a `checks.py` and give the checks that it declares, in order; ValueError if it is no Python."""
    module = ModuleType(f"checks_of_{file.parent.name}")
    module.__file__ = str(file)
    try:
        code = compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise ValueError(f"{file}, line {error.lineno}: {error.msg}") from error
    return declared_by(lambda: exec(code, module.__dict__))
