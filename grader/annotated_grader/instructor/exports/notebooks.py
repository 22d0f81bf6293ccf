"""Source notebooks for nbgrader and for otter: the instructor's version, from which those tools make the student's.

Both run tests inside the student's process. That is their way, and it is written into the notebooks; the safe path is
`annotated exercise grade`.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from annotated_grader.exercise.exercise import Cell, Exercise
from annotated_grader.exercise.markdown import plain

Notebook = dict[str, Any]
_SOURCE = "from annotated_grader.learner.notebook_check import require"
_MARK = re.compile(r"^([ \t]*)### (BEGIN|END) SOLUTION.*$", re.M)


def nbgrader(exercise: Exercise, salt: str) -> Notebook:
    """A source notebook for `nbgrader generate_assignment`; every check is a graded cell with its points.

    Parameters
    ----------
    salt
        Seeds the hidden checks. nbgrader cuts them out of the student's version.
    """
    cells = [_text(_head(exercise), _nbgrader("statement", locked=True))]
    for i, cell in enumerate(_answers(exercise), 1):
        solved = "BEGIN SOLUTION" in cell.text
        cells.append(_code(cell.text, _nbgrader(f"answer_{i}", solution=solved, locked=not solved)))
    for check in exercise.checks:
        call = f'{_SOURCE}\nrequire("{exercise.id}", "{check.name}", globals())'
        cells.append(_code(call, _nbgrader(check.name, locked=True, points=check.points)))
        if check.hidden:
            secret = f'{_SOURCE}\nrequire("{exercise.id}", "{check.name}", globals(), salt={json.dumps(salt)})'
            hidden = (
                f"# {check.title} Once more, on other cases.\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"
            )
            cells.append(_code(hidden, _nbgrader(f"{check.name}_hidden", locked=True, points=check.hidden)))
    return _notebook(exercise, cells, "nbgrader")


def otter(exercise: Exercise, salt: str) -> Notebook:
    """A source notebook for `otter assign`: one question with a test for each check.

    Parameters
    ----------
    salt
        Seeds the hidden tests, which otter leaves out of the student's version.
    """
    config = "# ASSIGNMENT CONFIG\ninit_cell: true\nexport_cell: false\ngenerate:\n  show_stdout: true"
    cells = [_raw(config), _text(f"# {exercise.title}", {})]
    cells += [_raw(f"# BEGIN QUESTION\nname: {exercise.id.replace('-', '_')}"), _text(plain(exercise.statement), {})]
    cells.append(_raw("# BEGIN SOLUTION"))
    cells += [_code(_otter_solution(cell.text), {}) for cell in _answers(exercise)]
    cells += [_raw("# END SOLUTION"), _raw("# BEGIN TESTS")]
    for check in exercise.checks:
        cells.append(_code(_otter_test(exercise, check.name, check.points, None), {}))
        if check.hidden:
            cells.append(_code(_otter_test(exercise, check.name, check.hidden, salt), {}))
    return _notebook(exercise, [*cells, _raw("# END TESTS"), _raw("# END QUESTION")], "otter")


def as_text(notebook: Notebook) -> str:
    """The notebook as a file's text; the same notebook gives the same bytes."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _head(exercise: Exercise) -> str:
    return f"# {exercise.title}\n\n{plain(exercise.statement)}"


def _answers(exercise: Exercise) -> list[Cell]:
    return [cell for cell in exercise.cells if cell.code and {"answer", "given"} & set(cell.tags)]


def _otter_solution(code: str) -> str:
    return _MARK.sub(lambda mark: f"{mark[1]}# {mark[2]} SOLUTION", code)


def _otter_test(exercise: Exercise, check: str, points: int, salt: str | None) -> str:
    hidden = "true" if salt else "false"
    name = f"{check}_hidden" if salt else check
    settings = f"name: {name}\npoints: {points}\nhidden: {hidden}"
    config = f'""" # BEGIN TEST CONFIG\n{settings}\n""" # END TEST CONFIG'
    secret = f", salt={json.dumps(salt)}" if salt else ""
    return f'{config}\n{_SOURCE}\nrequire("{exercise.id}", "{check}", globals(){secret})'


def _nbgrader(name: str, solution: bool = False, locked: bool = False, points: int = 0) -> dict[str, Any]:
    data = {
        "grade": points > 0,
        "grade_id": name,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return {"nbgrader": {**data, **({"points": points} if points else {})}}


def _text(source: str, metadata: dict[str, Any]) -> Notebook:
    return {"cell_type": "markdown", "metadata": metadata, "source": source}


def _raw(source: str) -> Notebook:
    return {"cell_type": "raw", "metadata": {}, "source": source}


def _code(source: str, metadata: dict[str, Any]) -> Notebook:
    code = source.rstrip("\n")
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": code}


def _notebook(exercise: Exercise, cells: list[Notebook], form: str) -> Notebook:
    for i, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{exercise.id}|{form}|{i}".encode()).hexdigest()[:8]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
