"""A learner's own modules: those that an answer imports go with it, and no others."""

from __future__ import annotations

from pathlib import Path

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.own_modules import among, beside_file, own_modules
from annotated_grader.exercise.submission import read
from annotated_grader.learner import grade_local
from annotated_grader.learner.record import ProgressRecord

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
