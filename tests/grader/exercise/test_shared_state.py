"""Checks share nothing that can be spoilt: global random numbers are refused, and what differs when it is repeated."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from annotated_grader import remembered
from annotated_grader.exercise import catalogue
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.nondeterminism import find_nondeterminism

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
PUT_BACK = "state = torch.get_rng_state(); {0}; x = torch.rand(3); torch.set_rng_state(state); return x"
DIFFERS, CHANGES = "check is not the same again: the numbers", "check changes the global random numbers of "


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
        ("torch.default_generator.manual_seed(seed); return torch.rand(3)", [f"{CHANGES}torch"]),
        (PUT_BACK.format("torch.default_generator.manual_seed(seed)"), []),  # so nobody is disturbed
        (PUT_BACK.format("pass"), [DIFFERS]),
        (f"nn.Linear(2, 2); {OWN}", [f"{CHANGES}torch"]),
        (f"random.random(); {OWN}", [f"{CHANGES}random"]),
        (f"np.random.rand(); {OWN}", [f"{CHANGES}numpy"]),
    ],
)
def test_a_check_that_touches_global_random_numbers_is_refused(tmp_path: Path, body: str, said: list[str]) -> None:
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()
    problems = find_nondeterminism(made(tmp_path, body), "salt")
    assert len(problems) == len(said)
    for problem, phrase in zip(problems, said, strict=True):
        assert problem.startswith(phrase)
    assert torch.equal(states[0], torch.get_rng_state()) and states[1] == random.getstate()
    assert np.array_equal(states[2][1], np.random.get_state()[1]) and states[2][2:] == np.random.get_state()[2:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", reference(seed)", ", reference(seed) + KEPT.pop()"),
        ("= case.between(1, 9)", "= time.time_ns()"),
    ],
)
def test_a_check_that_spoils_what_it_keeps_or_asks_by_the_clock_is_refused(tmp_path: Path, old: str, new: str) -> None:
    exercise = made(tmp_path, OWN)
    file = exercise.folder / "checks.py"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new) + "\nKEPT = [0, 0, 0, 0]\n", "utf-8")
    problems = find_nondeterminism(exercise, "salt")
    assert problems and all(problem.startswith("check is not the same again: ") for problem in problems)


def test_what_is_remembered_is_made_once_and_cannot_be_spoilt() -> None:
    calls: list[int] = []

    @remembered
    def slow(size: int) -> torch.Tensor:
        calls.append(size)
        return torch.ones(size)

    for size in (2, 3, 2):
        assert slow(size).zero_().tolist() == [0] * size
    assert calls == [2, 3] and slow(2).tolist() == [1, 1]
