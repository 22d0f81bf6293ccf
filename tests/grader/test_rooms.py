"""What runs in the sandbox stands alone. Between the rooms of the grading imports run one way: `.importlinter`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import annotated_grader
from annotated_grader.sandbox.mounts import _BESIDE_THE_WORKER

GRADING = Path(annotated_grader.__file__).parent
PREFIX = "annotated_grader."


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


def test_the_rule_sees_every_form_of_import() -> None:
    forms = "import annotated_grader.learner.record\ndef f():\n    from annotated_grader.exercise import expect"
    assert ours(forms) == {"learner.record", "exercise.expect"}
    assert ours("from annotated_grader import check\nimport annotated.paper") == {"check"}


@pytest.mark.parametrize("name", _BESIDE_THE_WORKER)
def test_what_runs_in_the_sandbox_needs_only_the_files_beside_it(name: str) -> None:
    beside = {f"sandbox.{file.removesuffix('.py')}" for file in _BESIDE_THE_WORKER}
    source = (GRADING / "sandbox" / name).read_text(encoding="utf-8")
    assert {module.rpartition(".")[0] for module in ours(source)} <= beside
    assert "from annotated." not in source.replace("from annotated_grader.sandbox.", "")
