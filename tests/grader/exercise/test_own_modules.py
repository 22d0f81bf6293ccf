"""A learner's own modules: those that an answer imports go with it, and no others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.own_modules import among, beside_file, own_modules
from annotated_grader.exercise.submission import read
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.learner import grade_local
from annotated_grader.learner.record import ProgressRecord
from annotated_grader.sandbox.isolation import best_level

FILES = {
    "my_helpers.py": "from parts.scale import scale\n",
    "parts/__init__.py": "",
    "parts/scale.py": "import math, my_helpers\ndef scale(q):\n    return q / math.sqrt(q.size(-1))\n",
    "parts/other.py": "",
    "unused.py": "",
    "math.txt": "",
}
NEEDED = {name: text for name, text in FILES.items() if "parts" in name or "my" in name}
CODE = find("ex05-1").solution_code.replace("q @", "scale(q) @").replace(" / math.sqrt(q.size(-1))", "")
CODE = f"def late():\n    from my_helpers import scale\n    return scale\nscale = late()\n{CODE}"


def test_modules_are_found_through_modules(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    submission = read(CODE.encode(), "a.py")
    assert own_modules(submission, beside_file(tmp_path / "a.py")) == NEEDED
    readers = {name: (lambda text=text: text.encode()) for name, text in FILES.items() if name.endswith(".py")}
    assert own_modules(submission, among(readers)) == NEEDED
    assert own_modules(submission, among(readers | {"my_helpers.py": lambda: b"\0"})) == {}


def test_a_file_is_checked_with_the_modules_beside_it(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "a.py").write_text(CODE)
    exercise, found = grade_local.in_file(tmp_path / "a.py", "ex05-1")
    result = grade_local.examine(exercise, found, ProgressRecord(tmp_path / "progress.json"), seconds=10).result
    assert result.score == result.maximum, result.notes


PLACES = {
    "plots": "from plots import scale",  # the sandbox has a file of this name
    "tabulate": "from tabulate import scale",  # a package of this name is installed
    "by_name": "import importlib\nscale = importlib.import_module('by_name').scale",
    "parts/in_a_folder": "import sys\nsys.path.append('parts')\nfrom in_a_folder import scale",
    "opened": "exec(open('opened.py').read())",
    "ran": "%run ran.py",
}
"""Where a module of the learner's own is, and how the answer comes to it."""


def test_own_modules_are_found_and_come_first_whether_checked_or_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tabulate", raising=False)  # another test may have imported the package
    code = find("ex05-1").solution_code.replace("q @", "scale(q) @").replace(" / math.sqrt(q.size(-1))", "")
    for number, (place, way) in enumerate(PLACES.items()):
        file = tmp_path / "class" / str(number) / f"{place}.py"
        file.parent.mkdir(parents=True)
        file.write_text("import math\ndef scale(q):\n    return q / math.sqrt(q.size(-1))\n")
        notebook = {"cells": [{"cell_type": "code", "source": f"{way}\n{code}"}]}
        (tmp_path / "class" / str(number) / "ex05-1.ipynb").write_text(json.dumps(notebook))
    graded = grade_folder(tmp_path / "class", tmp_path / "out", GradingOptions(best_level(trust=True), jobs=2)).graded
    assert [one.score for one in graded] == [15] * len(PLACES), [one.note for one in graded]
    for number in range(len(PLACES)):
        exercise, found = grade_local.in_file(tmp_path / "class" / str(number) / "ex05-1.ipynb", "ex05-1")
        result = grade_local.examine(exercise, found, ProgressRecord(tmp_path / "progress.json"), seconds=10).result
        assert result.score == result.maximum, result.notes


def test_what_is_called_like_a_module_that_is_loaded_is_left_out(tmp_path: Path) -> None:
    for name in ("torch", "json", "annotated"):
        (tmp_path / f"{name}.py").write_text("")
    code = "import torch, json, annotated\nopen('../out.py')\nopen('/etc/x.py')\nopen('.')"
    assert own_modules(read(code.encode(), "a.py"), beside_file(tmp_path / "a.py")) == {}


def test_what_no_module_can_be_called_is_left_out() -> None:
    paths = ["a.py", "a.py/b.py", "a/../b.py", "a/\udc80.py", "a/c d.py"]
    assert list(own_modules(read(b"import a", "a.py"), among({path: bytes for path in paths}))) == ["a.py"]
