"""An innocent answer loses nothing by what no reading of its code can see: every statement runs, as in the kernel."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.run import ExerciseResult
from annotated_grader.exercise.submission import BadSubmission, CodeCell, Submission, read
from annotated_grader.exercise.versions import versions_of
from annotated_grader.instructor.remote import grade_code
from annotated_grader.learner import grade_local
from annotated_grader.learner.record import VARIABLE, ProgressRecord
from annotated_grader.sandbox import isolation
from annotated_grader.sandbox.process import SandboxLimits

RATES = find("ex20-1").solution_code.replace("d_model**-0.5", "d_model ** -POWER")
"""A right answer, if POWER is a half."""

UNSEEN = {
    "bound method": ("L = []\nadd = L.append", "add(.5)", "L[0]"),
    "imports of a text": ("import math", f"exec({RATES.replace('POWER', 'math.sqrt(0.25)')!r})", ""),
    "map": ("L = []", "list(map(L.append, (1, .5)))", "L[-1]"),
    "two names": ("A = B = [.1]", "B[0] = .5", "A[0]"),
    "optimiser": (
        "import torch\nW = torch.ones(1, requires_grad=True)\nopt = torch.optim.SGD(params=[W], lr=.5)",
        "loss = W.sum()\nloss.backward()\nopt.step()",
        "W.item()",
    ),
    "register": (
        "from functools import singledispatch\n@singledispatch\ndef root(x): return 1",
        "@root.register\ndef root_int(x: int): return .5",
        "root(1)",
    ),
    "name from text": ("def r_int(): return .5", "def root(n): return globals()['r_' + type(n).__name__]()", "root(1)"),
    "vars": ("vars()['P'] = .5", "P"),
    "attribute of torch": ("import torch", "torch.Tensor.half_power = .5", "torch.ones(1).half_power"),
    "two names of a module": ("import math", "import math as m\nm.half = .5", "math.half"),
    "with": (
        "class K:\n    p = 1\n    def __enter__(self): return self\n    def __exit__(self, *a): pass\nk = K()",
        "with k as kk:\n    kk.p = .5",
        "k.p",
    ),
    "calling an object": ("P = [1]\nclass S:\n    def __call__(self): P[0] = .5", "s = S()\ns()", "P[0]"),
    "classmethod": ("class C:\n    p = 1\n    @classmethod\n    def set(cls, p): cls.p = p", "C().set(.5)", "C.p"),
    "generator": ("P = [1]\ndef g():\n    P[0] = .5\n    yield", "z = g()\nlist(z)", "P[0]"),
    "partial": ("from functools import partial\nL = []\nadd = partial(L.append, .5)", "add()", "L[0]"),
    "import for eval": ("import numpy as np", "def root(n): return eval('np.sqrt(n)')", "root(.25)"),
    "getter": ("L = []\ndef get(): return L", "get().append(.5)", "L[0]"),
    "keyword": (
        "class T:\n    def __init__(self, table): self.table = table\n    def fit(self): self.table.append(.5)",
        "L = []\nT(table=L).fit()",
        "L[0]",
    ),
    "dictionary": ("L = []\nD = {'x': L}", "D['x'].append(.5)", "L[0]"),
    "condition": ("A = []\nB = A if True else None", "B.append(.5)", "A[0]"),
    "method of a class": ("L = []\nclass K:\n    def fill(self): L.append(.5)", "k = K()\nk.fill()", "L[0]"),
    "environment": ("%env POWER=.5\nimport os", "float(os.environ['POWER'])"),
    "file of its own": ("%%writefile helper_of_ex20.py\nPOWER = .5\n", "from helper_of_ex20 import POWER", "POWER"),
    "one line": ("A = B = [.1]", "x = 1; B[0] = .5; y = \\\n    2", "A[0]"),
    "underscore": (".5", "P = _\n3\n4", "P"),
    "before a failure": ("A = B = [.1]", "B[0] = .5\n1 / 0\nB = None\nraise KeyboardInterrupt", "A[0]"),
}
"""Cells, and what is then a half."""


def notebook(*cells: str) -> Submission:
    """A notebook of these cells."""
    made = [{"cell_type": "code", "metadata": {}, "source": code} for code in cells]
    return read(json.dumps({"cells": made, "nbformat": 4}).encode(), "a.ipynb")


def with_rates(*cells: str) -> Submission:
    """The cells, and behind them an answer that uses the last of them as its power."""
    *before, power = cells
    return notebook(*before, RATES.replace("POWER", f"({power})") if power else "pass")


def checked(submission: Submission, seconds: float = 10.0) -> ExerciseResult:
    """What `annotated exercise check` finds."""
    exercise = find("ex20-1")
    found = grade_local.LocalAnswer(None, "", (), versions_of(exercise, submission), submission.notes)
    return grade_local.examine(exercise, found, ProgressRecord(), seconds).result


@pytest.fixture(autouse=True)
def _own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "progress.json"))


@pytest.mark.parametrize("name", UNSEEN)
def test_what_changes_an_answer_unseen_counts(name: str) -> None:
    result = checked(with_rates(*UNSEEN[name]))
    assert (result.score, result.notes) == (result.maximum, ()), [check.failure for check in result.checks]


def sandboxed(submission: Submission, seconds: float = 10.0) -> tuple[ExerciseResult, str]:
    """What `annotated exercise grade` finds."""
    try:
        level = isolation.best_level()
    except isolation.NotIsolated as error:
        pytest.skip(str(error))
    limits = SandboxLimits(call_seconds=seconds, restarts=0)
    return grade_code(find("ex20-1"), submission, "salt", level, limits)[:2]


def test_the_sandbox_agrees() -> None:
    cells = ["import importlib.util\nassert importlib.util.find_spec('annotated')\nFOUND_annotated = .5"]
    for name in ("bound method", "map", "register", "file of its own", "environment", "before a failure", "underscore"):
        *before, power = UNSEEN[name]
        cells += [*before, f"assert ({power}) == .5\nFOUND_{len(cells)} = {power}"]
    found = [line.split(" ")[0] for cell in cells for line in cell.split("\n") if line.startswith("FOUND")]
    result, status = sandboxed(with_rates(*cells, f"min({', '.join(found)})"))
    assert len(found) == 8
    assert (result.score, result.notes, status) == (result.maximum, (), "ok"), result.checks


SLOW = ("A = B = [.1]\nB[0] = .5", "import time\ntime.sleep(100)\nB[0] = 7", "input()", "A[0]")


def test_what_takes_long_beside_the_answer_costs_the_rest_of_that_and_nothing_else() -> None:
    result = checked(with_rates(*SLOW), seconds=1.0)
    assert result.score == result.maximum
    assert result.notes == (
        "cells that the answer does not seem to need took longer than 1 second together, or ended the process; "
        "3 of their statements were not run",
    )
    graded, status = sandboxed(with_rates(*SLOW), seconds=3.0)
    assert (graded.score, status) == (graded.maximum, "ok")
    assert [note.split("; ")[1] for note in graded.notes] == ["3 of their statements were not run"]


def test_a_check_of_a_file_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = [*sys.path], dict(os.environ), os.getcwd()
    scratch = "%env POWER=.5", "open('trace', 'w')", "from annotated_grader import check\ncheck()"
    result = checked(with_rates(*scratch, "from annotated_grader import solution, progress\nsolution()", ".5"))
    assert result.score == result.maximum
    assert ([*sys.path], dict(os.environ), os.getcwd()) == before
    assert not (tmp_path / "trace").exists()
    assert ProgressRecord().entry("ex20-1").attempts == 1


def test_pieces_are_the_cell() -> None:
    code = "import os\n\n@print\ndef g():\n    return 1\nx = 1; f = 2; y = (\n3)\nz = 1 \\\n\nf += 1  # end\n\n"
    cells = Submission((CodeCell(code), CodeCell("f(:", parses=False), CodeCell("1"))).for_answers(["f"]).cells
    assert "".join(cell.code for cell in cells[:-2]) == code
    assert [(cell.code, cell.needed, cell.ends) for cell in cells] == [
        ("import os\n\n", False, False),
        ("@print\ndef g():\n    return 1\n", False, False),
        ("x = 1; f = 2; y = (\n3)\n", True, False),
        ("z = 1 \\\n\n", False, False),
        ("f += 1  # end\n\n", True, True),
        ("f(:", True, True),
        ("1\n", False, True),
    ]


def test_a_file_in_another_encoding_that_says_so_is_read() -> None:
    text = "# -*- coding: latin-1 -*-\nGRÖSSE = 3\n"
    assert "GRÖSSE" in read(text.encode("latin-1"), "a.py").code


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("GRÖSSE = 3\n".encode("latin-1"), "save it as UTF-8"),
        (b"# coding: nonsense\nx = 1\n", "save it as UTF-8"),
        ("x = 1".encode("utf-16"), "save it as UTF-8"),
        (b"# coding: zlib\n\xff", "save it as UTF-8"),
        (b"\0" * 100, "not a Python file"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(data: bytes, reason: str) -> None:
    with pytest.raises(BadSubmission, match=reason):
        read(data, "a.py")
