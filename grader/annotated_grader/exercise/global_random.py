"""Global random numbers of torch, random and numpy: a watch that finds a check which draws, seeds or restores them.

Answers are graded several at a time, in threads of one process. What one check draws or seeds there, another one finds;
so a check draws from generators of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent

_SETTERS = (
    (torch, "manual_seed"),
    (torch, "seed"),
    (torch, "set_rng_state"),
    (torch.random, "fork_rng"),
    (random, "seed"),
    (random, "setstate"),
    (np.random, "seed"),
    (np.random, "set_state"),
)


def uses_of_global_random(exercise: Exercise, salt: str) -> list[str]:
    """What the exercise's checks do to global random numbers, a sentence for each check and use."""
    problems, exercise = (
        [],
        replace(exercise, folder=exercise.folder),
    )  # its checks are loaded anew, with nothing remembered
    for check in exercise.checks:
        watch = GlobalRandomWatch()
        student = WatchedStudent.of_code(exercise.solution_code, exercise.given_code)
        student.watch = watch
        run_checks(exercise, student, salt, guard=watch.watching, only=(check.name, f"{check.name}:hidden"))
        problems += [f"{check.name} {use}; draw from a generator of its own" for use in watch.uses]
    return problems


class GlobalRandomWatch:
    """Notes what is done to global random numbers while it watches.

    Whoever draws changes the state, so the states are compared: for torch around each operation that can draw, so that
    a state which is put back afterwards hides nothing, and for all three at the end. The functions that seed, and those
    that put a state back, are watched as well.

    Attributes
    ----------
    uses
        One phrase for each kind of use, such as "changes the global random numbers of numpy".
    """

    def __init__(self) -> None:
        self.uses: list[str] = []
        self._mode = _DrawsOfTorch(self._note)
        self._answers = _states()
        self._on = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch a block."""
        with ExitStack() as stack:
            for module, name in _SETTERS:
                stack.enter_context(mock.patch.object(module, name, self._noting(module, name)))
            before = _states()
            try:
                self._resume()
                yield
            finally:
                self._pause()
                self._compare(before)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Let a block use global random numbers as it likes, in a watched block or not: those of an answer."""
        was_on, before = self._on, _states()
        if was_on:
            self._pause()
        _install(self._answers)
        try:
            yield
        finally:
            self._answers = _states()
            _install(before)
            if was_on:
                self._resume()

    def _resume(self) -> None:
        self._mode.__enter__()
        self._on = True

    def _pause(self) -> None:
        self._on = False
        self._mode.__exit__(None, None, None)

    def _note(self, use: str) -> None:
        if use not in self.uses:
            self.uses.append(use)

    def _compare(self, before: Mapping[str, Any]) -> None:
        for library, state in _states().items():
            if state != before[library]:
                self._note(f"changes the global random numbers of {library}")

    def _noting(self, module: Any, name: str) -> Callable[..., Any]:
        real = getattr(module, name)

        def noting(*args: Any, **kwargs: Any) -> Any:
            if self._on:
                self._note(f"calls {module.__name__}.{name}")
            return real(*args, **kwargs)

        return noting


class WatchedStudent(LocalStudent):
    """An answer in this process whose own random numbers a watch over its checks does not see."""

    watch: GlobalRandomWatch

    def own_random_numbers(self) -> AbstractContextManager[Any]:
        """See `Student.own_random_numbers`; `perform` keeps them apart."""
        return nullcontext()

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`."""
        with self.watch.lifted():
            return super().perform(operation)


class _DrawsOfTorch(TorchDispatchMode):
    """Looks at torch's global state around each operation that can draw from it."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: else torch imports its compiler, which takes seconds, to keep it from compiling this."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **(kwargs or {}))
        before = torch.get_rng_state()
        result = func(*args, **(kwargs or {}))
        if not torch.equal(before, torch.get_rng_state()):
            self._note("draws from torch's global random numbers")
        return result


def _states() -> dict[str, Any]:
    """The global states, as values that can be compared."""
    numpy_state: Any = np.random.get_state(legacy=True)
    plain = (numpy_state[0], numpy_state[1].tobytes(), *numpy_state[2:])
    return {"torch": torch.get_rng_state().numpy().tobytes(), "random": random.getstate(), "numpy": plain}


def _install(states: Mapping[str, Any]) -> None:
    torch.default_generator.set_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))
    random._inst.setstate(states["random"])  # type: ignore[attr-defined]  # not by the names that are watched
    name, keys, *rest = states["numpy"]
    np.random.mtrand._rand.set_state((name, np.frombuffer(keys, dtype=np.uint32), *rest))  # type: ignore[attr-defined]
