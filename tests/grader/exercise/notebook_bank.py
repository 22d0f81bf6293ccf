"""Notebooks of honest students, run in IPython and graded: what the notebook says must be what the grade says.

`python -m tests.grader.exercise.notebook_bank FOLDER` executes the notebooks of a folder and prints, as JSON, what the
check in each of them said.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotated_grader.exercise.build import student_notebook
from annotated_grader.exercise.catalogue import find
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.learner import grade_local
from annotated_grader.learner.record import ProgressRecord
from annotated_grader.sandbox import isolation

_MARKS = {"<FF>": "\f", "<LS>": "\u2028", "<BOM>": "\ufeff", "<CR>": "\r"}


@dataclass(frozen=True)
class HonestNotebook:
    """A notebook: its name, its exercise, the public points that it has earned, and its cells with their tags."""

    name: str
    exercise: str
    points: int
    whole: bool
    """Whether its answer has all of the hidden points too."""
    cells: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The file, with the first cell that learners get, and a check at the end."""
        setup = "".join(json.loads(student_notebook(find(self.exercise)))["cells"][1]["source"])
        setup = "\n".join([setup, *(code for tag, code in self.cells if tag == "setup")])
        listed = [("setup", setup), *((tag, code) for tag, code in self.cells if tag not in ("setup", "below"))]
        listed += [("check", "check()"), *((tag, code) for tag, code in self.cells if tag == "below")]
        cells = []
        for number, (tag, code) in enumerate(listed):
            cell = {"cell_type": "markdown", "metadata": {}, "source": code}
            if tag != "[markdown]":
                odd = None if number % 3 else 40 - number  # what a student's kernel happened to have counted
                cell |= {"cell_type": "code", "outputs": [], "execution_count": odd}
                cell["metadata"] = {"tags": [tag]} if tag else {}
            cells.append(cell)
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _solution(exercise: str, part: str) -> str:
    """An exercise's solution, or the first or the other statements of it."""
    code = find(exercise).solution_code
    kind, _, count = part.partition(" ")
    lines, tree = code.split("\n"), ast.parse(code)
    starts = [min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1 for node in tree.body]
    if kind == "solution":
        return code.strip("\n")
    first = kind == "first"
    at = starts[int(count)] if int(count) < len(starts) else len(lines)
    return "\n".join(lines[:at] if first else lines[at:]).strip("\n")


@cache
def notebooks() -> tuple[HonestNotebook, ...]:
    """Those of `notebooks.txt`, which says how it is laid out."""
    text = Path(__file__).with_name("notebooks.txt").read_text(encoding="utf-8")
    made = []
    for entry in re.split(r"^### ", text, flags=re.M)[1:]:
        head, _, body = entry.partition("\n")
        name, exercise, *rest = (field.strip() for field in head.split("|"))
        for part in set(re.findall(r"<(solution|first \d+|last \d+)>", body)):
            body = body.replace(f"<{part}>", _solution(exercise, part))
        for mark, character in _MARKS.items():
            body = body.replace(mark, character)
        cells = re.findall(r"^# %%[ ]?([^\n]*)\n(.*?)(?=^# %%|\Z)", body, re.M | re.S)
        points = next((int(field) for field in rest if field.isdigit()), find(exercise).points_public)
        made.append(
            HonestNotebook(
                name, exercise, points, "whole" in rest, tuple((tag, code.strip("\n")) for tag, code in cells)
            )
        )
    return tuple(made)


@dataclass(frozen=True)
class Verdicts:
    """Public points of one notebook: in itself, from its file, and from the sandbox; and all points of the last."""

    in_notebook: int | None
    from_file: int
    graded: int
    total: int
    maximum: int
    note: str


def verdicts(chosen: tuple[HonestNotebook, ...], folder: Path) -> dict[str, Verdicts]:
    """Run, check and grade notebooks in a folder of their own."""
    place = folder / "class"
    place.mkdir()
    for one in chosen:
        (place / f"{one.name}_{one.exercise}.ipynb").write_text(one.text(), encoding="utf-8")
    said = _executed(place, folder)
    graded = grade_folder(place, folder / "out", GradingOptions(_level(), salt="bank", jobs=2))
    by_name = {one.student: one for one in graded.graded}
    found = {}
    for one in chosen:
        exercise, answer = grade_local.in_file(place / f"{one.name}_{one.exercise}.ipynb")
        local = grade_local.examine(exercise, answer, ProgressRecord(folder / "progress.json"), seconds=20)
        result = by_name[one.name]
        public = sum(check["earned"] for check in result.checks if not check["hidden"])
        found[one.name] = Verdicts(
            said.get(one.name), local.result.score, public, result.score or 0, result.maximum, result.note
        )
    return found


def _level() -> isolation.Level:
    try:
        return isolation.best_level()
    except isolation.NotIsolated:
        return "none"  # our own notebooks: nothing in them needs to be closed in


def _executed(place: Path, folder: Path) -> dict[str, int | None]:
    """Execute the notebooks in one process with IPython, in a folder of its own."""
    (folder / "desk").mkdir()
    own = {"IPYTHONDIR": str(folder / "ipython"), "ANNOTATED_PROGRESS": str(folder / "desk" / "progress.json")}
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-m", __name__, str(place)], cwd=folder / "desk", capture_output=True, text=True, timeout=600,
        env=os.environ | own | {"PYTHONPATH": paths}, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


def main(place: Path) -> None:
    """Execute each notebook of a folder from top to bottom, also after errors."""
    import torch
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))

    def said(file: Path) -> int | None:
        """What the last check says."""
        points = None
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                with capture_output() as shown:
                    shell.run_cell(cell["source"], store_history=True)
                text = "\n".join([shown.stdout, *(str(part.data.get("text/plain", "")) for part in shown.outputs)])
                points = re.search(r"(\d+) of \d+ public points", text) or points
        return int(points[1]) if points else None

    torch.set_num_threads(1)  # a copy of this process has no other threads
    print(json.dumps({file.stem.rpartition("_")[0]: _in_a_copy(said, file) for file in sorted(place.glob("*.ipynb"))}))


def _in_a_copy(function: Callable[[Path], int | None], file: Path) -> int | None:
    """A result from a copy of this process, which a notebook may spoil."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.write(theirs, json.dumps(function(file)).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as reply:
        text = reply.read()
    os.wait()
    return json.loads(text) if text else None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
