"""`annotated exercise verify`: the gate that every exercise, and the bank of wrong Transformers, must pass."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING

import tyro

if TYPE_CHECKING:
    from annotated_grader.exercise.exercise import Exercise
    from annotated_grader.exercise.run import ExerciseResult
    from annotated_grader.exercise.verify import Verdict
    from annotated_grader.sandbox.process import Level


RIGHT = ("ours", "torch", "marian")
"""Models that the doctor must clear."""


@dataclass
class Verify:
    """Hold exercises to their rules: solutions earn everything, stubs nothing, wrong answers lose what they must."""

    exercises: tyro.conf.Positional[tuple[str, ...]] = ()
    """Which, such as ex05-1 ex07-1; with --mutants all by default."""
    all: bool = False
    """Every exercise, and the doctor: it must find each known-wrong Transformer and clear the right ones."""
    mutants: bool = False
    """Change each solution by rule instead, one small change at a time. A change that loses no point is a problem,
    unless the exercise's equivalent.yaml declares it a right answer."""
    jobs: int = 2
    """How many at once."""
    sandbox: bool = True
    """Grade solution, stub and empty notebook through the sandbox as well."""
    matrix: bool = False
    """Print for each wrong answer which checks it loses."""

    def run(self) -> int:
        """Verify and report; 1 if anything is wrong."""
        from annotated_grader.exercise.catalogue import all_exercises, find
        from annotated_grader.sandbox.isolation import best_level
        from annotated_grader.sandbox.lending import started_once

        if not self.exercises and not self.all and not self.mutants:
            raise ValueError("name exercises, such as ex05-1, or give --all")
        start, failed = time.perf_counter(), 0
        chosen = [find(id) for id in self.exercises] if self.exercises and not self.all else all_exercises()
        if self.mutants:
            return self._run_mutants([exercise.id for exercise in chosen])
        level = best_level(trust=True) if self.sandbox else None  # what is verified here is ours
        print(f"{len(chosen)} exercises, {level or 'no'} sandbox, {self.jobs} at once", file=sys.stderr)
        with (
            started_once(level) if level else nullcontext(),
            ProcessPoolExecutor(self.jobs, _context(), _one_thread) as pool,
        ):
            tasks = [pool.submit(_verify, exercise.id, level) for exercise in chosen]
            doctor = [pool.submit(_examine, name) for name in _examinations()] if self.all else []
            for task in tasks:
                line, matrix, right = task.result()
                failed += not right
                print(f"{line}\n{matrix}" if self.matrix else line, flush=True)
            wrong = [problem for task in as_completed(doctor) if (problem := task.result())]
        for problem in sorted(wrong):
            print(f"doctor: {problem}")
        if doctor:
            print(f"doctor: {len(doctor) - len(wrong)} of {len(doctor)} examinations as they must be")
        print(f"{len(chosen) - failed} passed, {failed} failed in {time.perf_counter() - start:.0f} s")
        return 1 if failed or wrong else 0

    def _run_mutants(self, chosen: list[str]) -> int:
        start, count, left = time.perf_counter(), 0, 0
        with ProcessPoolExecutor(self.jobs, _context()) as pool:
            for task in [pool.submit(_mutate, id) for id in chosen]:
                line, mutants, problems = task.result()
                count, left = count + mutants, left + problems
                print(line, flush=True)
        print(f"{count} mutants of {len(chosen)} exercises, {left} problems in {time.perf_counter() - start:.0f} s")
        return 1 if left else 0


def _line(verdict: Verdict) -> str:
    exercise = verdict.exercise
    state = "ok  " if not verdict.problems else "FAIL"
    points = f"{exercise.points_public}+{exercise.points_hidden} points"
    head = f"{state} {exercise.id}  {points}, {len(exercise.checks)} checks, {len(verdict.matrix)} wrong answers"
    return "\n".join([f"{head}, {verdict.seconds:.1f} s", *(f"     {problem}" for problem in verdict.problems)])


def _context() -> BaseContext:
    """Processes that share what is imported here already, where the system can copy a process."""
    _one_thread()  # a copy has no other threads
    return get_context("fork" if sys.platform == "linux" else "spawn")


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _verify(id: str, level: Level | None) -> tuple[str, str, bool]:
    """The line to print, the matrix, and whether all is well: a verdict itself holds functions, and cannot travel."""
    from annotated_grader.exercise.catalogue import find
    from annotated_grader.exercise.verify import matrix_text, verify
    from annotated_grader.instructor.remote import grade_code

    def in_the_sandbox(exercise: Exercise, code: str, salt: str) -> ExerciseResult:
        return grade_code(exercise, code, salt, level)[0]

    verdict = verify(find(id), in_the_sandbox if level else None)
    return _line(verdict), matrix_text(verdict), not verdict.problems


def _mutate(id: str) -> tuple[str, int, int]:
    """The lines to print, how many mutants there are, and how many problems."""
    from annotated_grader.exercise.catalogue import find
    from annotated_grader.exercise.survivors import survival
    from annotated_grader.learner.timeout import time_limit

    warnings.simplefilter("ignore")  # of torch, at what nobody would write
    found = survival(find(id), time_limit)
    state = "ok  " if not found.problems else "FAIL"
    head = f"{state} {id}  {found.count} mutants, {found.declared} declared equivalent, {found.seconds:.1f} s"
    return "\n".join([head, *(f"     {problem}" for problem in found.problems)]), found.count, len(found.problems)


def _examinations() -> Iterator[str]:
    from annotated_grader.doctor.mutants import MUTANTS

    yield from RIGHT
    yield from (mutant.id for mutant in MUTANTS)


def _examine(name: str) -> str:
    """One sentence if the doctor is wrong about this model, else nothing."""
    import torch

    from annotated_grader.doctor import adapters, examine, fingerprints, mutants

    torch.manual_seed(0)
    known = {mutant.id: mutant for mutant in mutants.MUTANTS}
    expected = set(known[name].killed_by) if name in known else set()
    with mutants.switched_on(name) if name in known else nullcontext():  # once, and not for each question
        report = examine(mutants.subject(name) if name in known else getattr(adapters, f"small_{name}")())
    found = {finding.id for finding in report.findings if finding.outcome in ("failed", "error")}
    if found != expected:
        return f"{name}: expected {sorted(expected)}, found {sorted(found)}"
    measured = {finding.id: fingerprints.fingerprint(finding) for finding in report.of("failed")}
    stale = sorted(id for id, text in measured.items() if fingerprints.recorded()[name].get(id) != text)
    again = "python -m annotated_grader.doctor.record_fingerprints"
    return f"{name}: {', '.join(stale)} measured another thing than recorded; look, then {again}" if stale else ""
