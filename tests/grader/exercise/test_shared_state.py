"""Checks share nothing that can be spoilt: global random numbers are refused, what differs among threads is found."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from annotated_grader import remembered
from annotated_grader.exercise import catalogue
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.global_random import uses_of_global_random
from annotated_grader.exercise.nondeterminism import Replay, ReplyRecorder, find_nondeterminism
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent

pytestmark = pytest.mark.process

TEXT = """---
exercise:
  id: ex99-3
  title: Draw
  line: Give back what is asked for
  chapter: attention/masks
  paper: ["3.1"]
  kind: write
  minutes: 1
  answers: [draw]
  hints: [a, b, c]
  quiz: []
---

Draw.

```{code-cell} ipython3
:tags: [answer]
import random

import numpy as np
import torch


def draw(seed):
    ### BEGIN SOLUTION
    random.seed(seed), np.random.seed(seed)
    torch.manual_seed(seed)
    return torch.rand(3) + 0 * torch.rand(3)
    ### END SOLUTION
```
"""

CHECKS = '''
import random
import time
from functools import cache

import numpy as np
import torch
from torch import nn

from annotated_grader import expect, graded

@cache
def reference(seed):
    {body}

@graded(points=1)
def check(student, case):
    """What is drawn from this seed."""
    seed = case.between(1, 9)
    expect.close(student.call("draw", seed), reference(seed), "the numbers")
'''

OWN = "return torch.rand(3, generator=torch.Generator().manual_seed(seed))"
GLOBAL = "torch.default_generator.manual_seed(seed); time.sleep(0.002); return torch.rand(3)"


def made(folder: Path, body: str) -> Exercise:
    place = folder / "ex99_3_draw"
    place.mkdir()
    (place / "exercise.md").write_text(TEXT, encoding="utf-8")
    (place / "checks.py").write_text(CHECKS.format(body=body), encoding="utf-8")
    return catalogue.find("ex99-3", folder)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (OWN, []),
        (f"nn.Linear(2, 2, device='meta').eval()(torch.ones(2, device='meta')); {OWN}", []),
        (GLOBAL, ["draws from torch's global random numbers", "changes the global random numbers of torch"]),
        (
            "state = torch.default_generator.get_state(); torch.default_generator.manual_seed(seed); "
            "x = torch.rand(3); torch.default_generator.set_state(state); return x",
            ["draws from torch's global random numbers"],  # though all is as it was afterwards
        ),
        (f"nn.Linear(2, 2); {OWN}", ["draws from torch's", "changes the global random numbers of torch"]),
        (f"random.random(); {OWN}", ["changes the global random numbers of random"]),
        (f"np.random.rand(); {OWN}", ["changes the global random numbers of numpy"]),
        (f"s = random.getstate(); random.seed(1); random.setstate(s); {OWN}", ["random.seed", "random.setstate"]),
    ],
)
def test_a_check_that_touches_global_random_numbers_is_refused(tmp_path: Path, body: str, said: list[str]) -> None:
    problems = uses_of_global_random(made(tmp_path, body), "salt")
    assert len(problems) == len(said)
    for problem, phrase in zip(problems, said, strict=True):
        assert problem.startswith("check ") and phrase in problem


def test_a_reference_from_global_random_numbers_differs_among_threads(tmp_path: Path) -> None:
    exercise = made(tmp_path, GLOBAL)
    alone = run_checks(exercise, LocalStudent.of_code(exercise.solution_code), "salt")
    assert alone.score == alone.maximum  # which is why nobody noticed
    assert any("runs at once" in problem for problem in find_nondeterminism(exercise, "salt"))


def test_a_reference_from_a_generator_of_its_own_is_the_same_in_twenty_runs(tmp_path: Path) -> None:
    state = torch.get_rng_state()
    assert find_nondeterminism(made(tmp_path, OWN), "salt", runs=20) == []
    assert torch.equal(state, torch.get_rng_state())


def test_a_model_that_checks_change_and_put_back_differs_among_threads(tmp_path: Path) -> None:
    body = "old = SHARED.copy(); SHARED[:] = [0]; time.sleep(0.002); SHARED[:] = old; return SHARED[0] + 0 * seed"
    body = body.replace("return SHARED[0] + 0 * seed", f"x = SHARED[0]; {OWN} * x")
    exercise = made(tmp_path, body)
    file = exercise.folder / "checks.py"
    file.write_text(file.read_text(encoding="utf-8").replace("@cache\n", "SHARED = [1]\n\n"), encoding="utf-8")
    assert any("runs at once" in problem for problem in find_nondeterminism(exercise, "salt"))


def test_what_is_remembered_is_made_once_and_cannot_be_spoilt() -> None:
    calls: list[int] = []
    inside = threading.Semaphore(1)

    @remembered
    def slow(size: int) -> torch.Tensor:
        assert inside.acquire(blocking=False)  # one at a time
        time.sleep(0.01)
        calls.append(size)
        inside.release()
        return torch.ones(size)

    with ThreadPoolExecutor(4) as pool:
        for value in pool.map(slow, [2, 3] * 6):
            value.zero_()
    assert sorted(calls) == [2, 3] and slow(2).tolist() == [1, 1]


def test_checks_of_an_answer_elsewhere_put_no_global_state_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that does would take the numbers of a known-wrong answer which draws in the main thread."""
    exercise = made(tmp_path, OWN)
    here = ReplyRecorder.of_code(exercise.solution_code)
    run_checks(exercise, here)
    monkeypatch.setattr(torch.random, "fork_rng", lambda **_: pytest.fail("the global state is put back"))
    run_checks(exercise, Replay(exercise.solution_code, here.conversation))
