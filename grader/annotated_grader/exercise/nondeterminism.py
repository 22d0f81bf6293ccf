"""Repetition of an exercise's checks on the recorded replies of its solution: nothing may differ, nothing be disturbed.

The solution runs once for each check. Its replies are then played back to the check, each time with other global random
numbers. What differs from run to run is the fault of the check: a draw from global random numbers, a value that the run
before has spoilt, an input that is not made from the case. So is a change of the global random numbers, which in a
notebook are the learner's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import ExerciseResult, run_checks
from annotated_grader.exercise.student import LocalStudent, Student
from annotated_grader.sandbox.codec import decode, encode
from annotated_grader.sandbox.interpreter import AnswerError

RUNS = 2
"""Of each check, with other global random numbers."""

Reply = bytes | AnswerError


class ReplyRecorder(LocalStudent):
    """An answer in this process that keeps each request of the checks, and its reply."""

    def __init__(self, namespace: dict[str, Any], source: str = "", given: str = "") -> None:
        super().__init__(namespace, source, given)
        self.conversation: list[tuple[bytes, Reply]] = []

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`."""
        request = encode(operation)
        try:
            result = super().perform(operation)
        except AnswerError as error:
            self.conversation.append((request, error))
            raise
        self.conversation.append((request, encode(result)))
        return result


class Replay(Student):
    """The recorded replies of an answer, for checks that ask the same again."""

    def __init__(self, source: str, conversation: list[tuple[bytes, Reply]]) -> None:
        super().__init__(source)
        self._left = iter(conversation)

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`; an assertion fails if the request is another one than before."""
        request, reply = next(self._left, (b"", b""))
        if request != encode(operation):
            raise AssertionError(f"the answer is asked something else than before, in a `{operation['op']}`")
        if isinstance(reply, AnswerError):
            raise reply
        return decode(reply)


def find_nondeterminism(exercise: Exercise, salt: str) -> list[str]:
    """What differs when the solution is checked again, and what is disturbed by it: one sentence each.

    The checks are loaded anew, with nothing remembered.
    """
    fresh = replace(exercise, folder=exercise.folder)  # its checks, which are cached, are not copied
    with _global_random_put_back():
        faults = [
            f"{check.name} {fault}" for check in fresh.checks for fault in _faults(exercise, fresh, check.name, salt)
        ]
    return list(dict.fromkeys(faults))


def _faults(exercise: Exercise, fresh: Exercise, name: str, salt: str) -> Iterator[str]:
    """What is wrong with one check and its hidden twin."""
    only = (name, f"{name}:hidden")
    recorder = ReplyRecorder.of_code(exercise.solution_code, exercise.given_code)
    first = _verdicts(run_checks(exercise, recorder, salt, only=only))
    for number in range(RUNS):
        torch.default_generator.manual_seed(number)
        random.seed(number)
        np.random.seed(number)
        before = _global_random()
        try:
            again = _verdicts(run_checks(fresh, Replay(exercise.solution_code, recorder.conversation), salt, only=only))
        except AssertionError as error:
            again = {name: str(error)}
        yield from (f"is not the same again: {said}" for which, said in again.items() if said != first[which])
        changed = [library for library, state in _global_random().items() if state != before[library]]
        yield from (
            f"changes the global random numbers of {library}; draw from a generator of its own" for library in changed
        )


def _verdicts(result: ExerciseResult) -> dict[str, str]:
    return {check.name: check.failure.message if check.failure else "passed" for check in result.checks}


def _global_random() -> dict[str, Any]:
    """The states of the global random numbers, as values that can be compared."""
    numpys: Any = np.random.get_state(legacy=True)
    torchs = torch.get_rng_state().numpy().tobytes()
    return {"torch": torchs, "random": random.getstate(), "numpy": (numpys[1].tobytes(), *numpys[2:])}


@contextmanager
def _global_random_put_back() -> Iterator[None]:
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])
