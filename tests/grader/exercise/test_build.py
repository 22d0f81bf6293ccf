"""From `exercise.md` to notebooks: reproducible, valid, nothing of the solution in the student's; and they run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotated.cli import main
from annotated_grader.exercise.build import student_notebook, write_notebooks
from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.markdown import html, plain, terminal
from annotated_grader.learner.grade_local import in_file

EXERCISES = all_exercises()


def cells(text: str, kind: str) -> list[str]:
    """The sources of a notebook's cells of a kind."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == kind]


def lines(code: str) -> set[str]:
    """Lines that say something: neither empty, nor a bracket, nor a bare `else:` or `return x`."""
    found = {line.strip() for line in code.splitlines()}
    return {
        line for line in found if len(re.sub(r"\W", "", line)) > 8 and not re.fullmatch(r"return \w+|import .*", line)
    }


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    first = write_notebooks(EXERCISES, tmp_path / "a")
    # Another process has other hashes, and so another order of sets.
    command = [sys.executable, "-m", "annotated", "exercise", "build", str(tmp_path / "b")]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert len(first) == 2 * len(EXERCISES)
    for path in first:
        other = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == other.read_bytes() and b"\r" not in path.read_bytes()


def test_notebooks_are_valid(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    for path in write_notebooks(EXERCISES, tmp_path):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_the_student_gets_neither_solution_nor_hints_nor_answers(exercise: Exercise) -> None:
    text = student_notebook(exercise)
    seen = "\n".join(cells(text, "markdown") + cells(text, "code"))
    given = lines(exercise.stub_code) | lines(exercise.statement)
    tried = {line for cell in exercise.cells if "try" in cell.tags for line in lines(cell.text)}
    secret = lines(exercise.solution_code) - given - tried
    assert secret, "there is a solution"
    assert not secret & {line.strip() for line in seen.splitlines()}
    feedback = [option["feedback"] for question in exercise.quiz for option in question["options"]]
    for told in (*exercise.hints, *feedback, exercise.afterwards):
        assert plain(str(told).strip()) not in seen
    assert "BEGIN SOLUTION" not in seen and "## Afterwards" not in seen


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_notebooks_hold_plain_markdown_and_their_exercise(exercise: Exercise) -> None:
    text = student_notebook(exercise)
    prose = "\n".join(cells(text, "markdown"))
    assert not re.search(r"\{[\w:-]+\}`|\]\([^)]*\.md", prose)
    setup, *code = cells(text, "code")
    assert f'EXERCISE = "{exercise.id}"' in setup and "import annotated" in setup
    assert 'answer(1, "")' in code and {"check()", "# hint()", "# solution()"} <= set(code)
    for cell in (setup, *code):
        compile(cell, exercise.id, "exec")


def test_roles_are_written_out() -> None:
    claims = "{claim}`C08`, {claim}`own words <C08>`"
    text = f"See {{paper}}`3.2.1`, {claims}, {{term}}`heads <head>` and [chapter 7](../attention/masks.md)."
    link = "[section 3.2.1](https://arxiv.org/html/1706.03762v7#S3.SS2.SSS1)"
    assert plain(text) == f"See {link}, what is often said, own words, heads and chapter 7."
    assert terminal(f"{text} **Not** $\\sqrt{{d_k}}$ but `d_k`") == (
        "See section 3.2.1, what is often said, own words, heads and chapter 7. Not √d_k but `d_k`"
    )
    assert html("`a < b` *now*") == "<code>a &lt; b</code> <em>now</em>"


def test_start_never_overwrites_and_check_reads_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOTATED_PROGRESS", str(tmp_path / "progress.json"))
    file = tmp_path / "work" / "ex05-1.ipynb"
    assert main(["exercise", "start", "ex05-1", str(file.parent)]) == 0
    stub = find("ex05-1").stub_code.splitlines()[-1].strip()
    line = find("ex05-1").solution_code.split('"""')[-1].strip()
    mine = file.read_text(encoding="utf-8").replace(json.dumps(stub)[1:-1], json.dumps(line)[1:-1])
    file.write_text(mine, encoding="utf-8")
    assert main(["exercise", "start", "ex05-1", str(file.parent)]) != 0
    assert file.read_text(encoding="utf-8") == mine and "may hold your work" in capsys.readouterr().err
    assert main(["exercise", "check", str(file)]) == 0
    assert "every check passes" in capsys.readouterr().out
    monkeypatch.chdir(file.parent)
    assert main(["exercise", "check", "ex05-1"]) == 0  # the notebook of this name in the present folder
    assert "every check passes" in capsys.readouterr().out
    assert main(["exercise", "progress"]) == 0
    assert re.search(r"^ex05-1 .* 2 +0 of 3 +solved$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("letter", "says"),
    [
        ("A", "Question 1 of the quiz: A. ✗ Not this one."),
        ("c", "Question 1 of the quiz: C. ✓ Right."),
        ("Z", "The quiz: 'Z' is none of the options; choose one of A, B, C"),
        ("", None),
    ],
)
def test_a_file_that_is_checked_learns_about_its_quiz(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, letter: str, says: str | None
) -> None:
    monkeypatch.setenv("ANNOTATED_PROGRESS", str(tmp_path / "progress.json"))
    exercise = find("ex05-1")
    assert [option.get("correct", False) for option in exercise.quiz[0]["options"]] == [False, False, True]
    file = tmp_path / "mine.py"
    file.write_text(f'EXERCISE = "ex05-1"\n{exercise.solution_code}\nanswer(1, "{letter}")\n', encoding="utf-8")
    code = f"from annotated_grader import answer\n{file.read_text('utf-8')}"
    file.write_text(code, encoding="utf-8")
    assert main(["exercise", "check", str(file)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (says in shown) if says else "quiz" not in shown


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.ipynb", "{", "not a notebook"),
        ("b.ipynb", '{"cells": 3}', "not a notebook"),
        ("c.py", "x = 1", "does not say which exercise"),
        ("d.py", 'EXERCISE = "ex99-9"', "there is no exercise 'ex99-9'"),
        ("e.py", None, "there is no file"),
        ("ex05-1", None, "ex05-1.ipynb"),
        ("", None, "is a folder: name the notebook or the .py file inside it"),
    ],
)
def test_files_that_are_no_answer_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert main(["exercise", "check", str(tmp_path / name)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_code_that_does_not_run_scores_nothing_and_shows_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOTATED_PROGRESS", str(tmp_path / "progress.json"))
    file = tmp_path / "mine.py"
    file.write_text('EXERCISE = "ex05-1"\ndef attention(q:\n', encoding="utf-8")
    assert main(["exercise", "check", str(file)]) == 1
    shown = capsys.readouterr().out
    assert (
        "your code does not run: the file: SyntaxError" in shown
        and "def attention(q:" in shown
        and "Traceback" not in shown
    )


def run(*notebooks: tuple[Path, list[str]]) -> list[dict[str, Any]]:
    """Execute notebooks, and more cells after the own of each; all of them by their source.

    One kernel, which takes seconds to start, runs them all, and forgets every name before each.
    """
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    whole = nbformat.read(notebooks[0][0], as_version=4)
    parts = []
    for notebook, more in notebooks:
        cells = [*nbformat.read(notebook, as_version=4).cells, *map(nbformat.v4.new_code_cell, more)]
        parts.append([nbformat.v4.new_code_cell("%reset -f"), *cells])
    whole.cells = [cell for part in parts for cell in part]
    place = str(notebooks[0][0].parent)
    nbclient.NotebookClient(whole, timeout=120, resources={"metadata": {"path": place}}).execute()
    return [{cell.source: cell for cell in part} for part in parts]


def shown(cell: Any, kind: str = "text/plain") -> str:
    return "".join(output.get("data", {}).get(kind, "") for output in cell.outputs)


def test_both_notebooks_run_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATED_PROGRESS", str(tmp_path / "progress.json"))
    student, solution = write_notebooks([find("ex05-1")], tmp_path)
    mine, ours = run((student, ["hint()", "solution()"]), (solution, []))
    assert not mine["# hint()"].outputs, "running all cells asks for no hint"
    assert "0 of 10 public points: the answer is not written" in shown(mine["check()"])
    assert "Hint 1 of 3" in shown(mine["hint()"], "text/markdown") and "Try it first" in shown(mine["solution()"])
    assert "10 of 10 public points: every check passes" in shown(ours["check()"])
    assert '<td class="verdict">✓ PASS</td>' in shown(ours["check()"], "text/html")


def test_a_notebook_is_read_without_the_cells_that_are_no_answer(tmp_path: Path) -> None:
    student, _ = write_notebooks([find("ex05-1")], tmp_path)
    exercise, answer = in_file(student)
    source = answer.versions[0].submission.code
    assert exercise.id == "ex05-1" and exercise.is_untouched(source)
    assert "EXERCISE" not in source and "check" not in source
