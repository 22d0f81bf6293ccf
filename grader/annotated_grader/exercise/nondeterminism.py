"""Repetition of an exercise's checks, several at a time, on the recorded replies of one answer: nothing may differ.

The answer runs once. Its replies are then played back to checks that run in threads, as they do when a class is graded,
while another thread seeds the global random numbers. What differs from run to run is the fault of a check: a draw from
global random numbers, a value that one thread makes and another one spoils, an input that is not made from the case.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
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

RUNS, JOBS = 8, 4
_OFTEN = 1e-4  # seconds between two changes of threads, in place of Python's 5 ms

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


def find_nondeterminism(exercise: Exercise, salt: str, runs: int = RUNS, jobs: int = JOBS) -> list[str]:
    """What differs when the solution is checked again and again, `jobs` at a time: one sentence for each check.

    The checks are loaded anew, so that values which they keep are first made while several threads ask for them.
    """
    recorder = ReplyRecorder.of_code(exercise.solution_code, exercise.given_code)
    first = _verdicts(run_checks(exercise, recorder, salt))
    fresh = replace(exercise, folder=exercise.folder)  # its checks, which are cached, are not copied
    fresh.checks  # noqa: B018  loaded before there are threads

    def again(_: int) -> dict[str, str]:
        try:
            return _verdicts(run_checks(fresh, Replay(exercise.solution_code, recorder.conversation), salt))
        except AssertionError as error:
            return {"": str(error)}

    with _unrest(), ThreadPoolExecutor(jobs) as pool:
        others = list(pool.map(again, range(runs)))
    return _described(first, others)


def _described(first: dict[str, str], others: list[dict[str, str]]) -> list[str]:
    problems = []
    for name in dict.fromkeys(name for other in others for name in other):
        odd = [other[name] for other in others if name in other and other[name] != first.get(name)]
        if odd:
            about = f"{name} is not" if name else "its checks are not"
            problems.append(f"{about} the same in {len(odd)} of {len(others)} runs at once: {odd[0]}")
    return problems


def _verdicts(result: ExerciseResult) -> dict[str, str]:
    return {check.name: check.failure.message if check.failure else "passed" for check in result.checks}


@contextmanager
def _unrest() -> Iterator[None]:
    """Threads change often, and one more seeds the global random numbers."""
    stop, usual = threading.Event(), sys.getswitchinterval()
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()

    def seed() -> None:
        number = 0
        while not stop.wait(0.001):
            number += 1
            torch.default_generator.manual_seed(number)
            random.seed(number)
            np.random.seed(number)

    disturber = threading.Thread(target=seed, daemon=True)
    sys.setswitchinterval(_OFTEN)
    disturber.start()
    try:
        yield
    finally:
        stop.set()
        disturber.join()
        sys.setswitchinterval(usual)
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])
