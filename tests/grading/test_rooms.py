"""The rooms of the grading: imports between them run one way, and what runs in the sandbox stands alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import annotated.grading
from annotated.grading.sandbox.mounts import _BESIDE_THE_WORKER

GRADING = Path(annotated.grading.__file__).parent
PREFIX = "annotated.grading."
ALLOWED: dict[str, set[str]] = {
    "sandbox": set(),
    "exercise": {"sandbox"},
    "feedback": {"sandbox", "exercise"},
    "learner": {"sandbox", "exercise", "feedback"},
    "instructor": {"sandbox", "exercise", "feedback"},
}
"""What each room may import besides itself."""
FILES = sorted(file for file in GRADING.rglob("*.py") if file.parent != GRADING)


def ours(source: str) -> set[str]:
    """What a file imports of the grading, without the prefix: "sandbox.codec"; a name of the package itself as ""."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written out in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    return found


def test_every_file_has_a_room() -> None:
    assert {file.name for file in GRADING.glob("*.py")} == {"__init__.py"}
    assert {folder.name for folder in GRADING.iterdir() if folder.is_dir() and folder.name[0] != "_"} == set(ALLOWED)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(GRADING).as_posix())
def test_imports_between_rooms_run_one_way(file: Path) -> None:
    room = file.relative_to(GRADING).parts[0]
    rooms = {name.split(".")[0] for name in ours(file.read_text(encoding="utf-8"))}
    assert rooms <= ALLOWED[room] | {room}, f"{room} may import {sorted(ALLOWED[room])}"


def test_the_rule_sees_every_form_of_import() -> None:
    forms = "import annotated.grading.learner.record\ndef f():\n    from annotated.grading.exercise import expect"
    assert ours(forms) == {"learner.record", "exercise.expect"}
    assert ours("from annotated.grading import check\nimport annotated.paper") == {"check"}


@pytest.mark.parametrize("name", _BESIDE_THE_WORKER)
def test_what_runs_in_the_sandbox_needs_only_the_files_beside_it(name: str) -> None:
    beside = {f"sandbox.{file.removesuffix('.py')}" for file in _BESIDE_THE_WORKER}
    source = (GRADING / "sandbox" / name).read_text(encoding="utf-8")
    assert {module.rpartition(".")[0] for module in ours(source)} <= beside
    assert "from annotated." not in source.replace("from annotated.grading.sandbox.", "")
