"""Notebooks built from `exercise.md`: one for the student, one with the solution; the same bytes at every build."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import annotated
from annotated.ownership import output_path, require_our_file
from annotated.paper_links import resolve
from annotated.storage import atomic_write
from annotated_grader.exercise.exercise import Cell, Exercise, solution_of, stub_of
from annotated_grader.exercise.markdown import plain

WHEELS = {
    "annotated": f"annotated_attention-{annotated.__version__}-py3-none-any.whl",
    "annotated_grader": f"annotated_grader-{annotated.__version__}-py3-none-any.whl",
}
"""The packages that the notebook of an exercise imports, and the wheels that have them."""
_FIRST_CELL = Path(__file__).resolve().parents[1] / "assets" / "first_cell.py"
_LETTERS = "ABCDEFGH"
_CLAIMS = re.compile(r"\{(?:claim|question)\}`[^`]+`(?:[,;]?\s+and\s+|[,;]\s*|\s+)?")


def first_cell(book_url: str = "", wheels: Mapping[str, str] = WHEELS) -> str:
    """Code that finds packages or installs them, with the book's address and the names of their wheels filled in."""
    code = _FIRST_CELL.read_text(encoding="utf-8").replace("  # noqa: E402", "")
    code = code.replace('BOOK_URL = ""', f"BOOK_URL = {json.dumps(book_url)}")
    return re.sub(r"(?m)^WHEELS = .*$", lambda _: f"WHEELS = {json.dumps(dict(wheels))}", code, count=1).strip()


def student_notebook(exercise: Exercise, book_url: str = "") -> str:
    """The notebook in which a learner works, as the text of its file.

    Parameters
    ----------
    book_url
        Where the book is published, if it is.
    """
    cells = _opening(exercise, book_url)
    cells += [cell for part in _middle(exercise) for cell in _cell(part, stub_of)]
    cells += [
        _text("The score, and the reason for it:"),
        _code("check()", "check"),
        # Not to be run by a "run all": a hint should be asked for, and a solution even more so.
        _text(
            "Three hints, each nearer to the answer than the one before. Remove the `#` and run the cell for the next:"
        ),
        _code("# hint()", "check"),
        _text("The solution and what it teaches, once you have checked an attempt of your own:"),
        _code("# solution()", "check"),
    ]
    return _file(exercise, cells)


def solution_notebook(exercise: Exercise) -> str:
    """The same notebook with the solution in it and, at its end, what it teaches."""
    cells = _opening(exercise, solved=True)
    cells += [cell for part in _middle(exercise) for cell in _cell(part, solution_of)]
    cells.append(_code("check()", "check"))
    if exercise.afterwards:
        cells.append(_text(f"## Afterwards\n\n{plain(exercise.afterwards)}"))
    return _file(exercise, cells)


def write_notebooks(exercises: Iterable[Exercise], out: Path) -> list[Path]:
    """Write `student/exNN-K.ipynb` and `solution/exNN-K.ipynb` of each exercise below a folder.

    Raises
    ------
    FileExistsError
        If a notebook of that name is another one, in which somebody may have worked; nothing is written then.
    """
    out = output_path(out)
    texts = {
        out / kind / f"{exercise.id}.ipynb": make(exercise)
        for exercise in exercises
        for kind, make in (("student", student_notebook), ("solution", solution_notebook))
    }
    for place, text in texts.items():
        require_our_file(place, lambda file, text=text: file.read_bytes() == text.encode())  # type: ignore[misc]
    for place, text in texts.items():
        with atomic_write(place) as file:
            file.write(text)
    return [*texts]


def points(exercise: Exercise) -> str:
    """'10 points (an instructor's grading adds 5 hidden ones)'."""
    rest = f" (an instructor's grading adds {exercise.points_hidden} hidden ones)" if exercise.points_hidden else ""
    return f"{exercise.points_public} points{rest}"


def _opening(exercise: Exercise, book_url: str = "", solved: bool = False) -> list[dict[str, Any]]:
    links = ", ".join("[{0}]({2})".format(*resolve(str(part))) for part in exercise.paper)
    chapter = f"chapter {exercise.number}"
    chapter = f"[{chapter}]({book_url.rstrip('/')}/{exercise.chapter}.html)" if book_url else chapter
    facts = [chapter, links, exercise.kind, exercise.difficulty, f"about {exercise.minutes} minutes", points(exercise)]
    head = f"# {exercise.id} · {exercise.title}{' · solution' if solved else ''}\n\n{' · '.join(filter(None, facts))}"
    caught = _CLAIMS.sub("", exercise.catches).strip(" ,;")  # a claim's number says nothing outside the book
    summary = "<details><summary>Mistakes that are looked for</summary>"
    catches = f"\n\n{summary}\n\n{plain(caught)}.\n\n</details>" if caught else ""
    if exercise.forbidden:
        catches += f"\n\n**Not allowed here:** {', '.join(f'`{name}`' for name in exercise.forbidden)}."
    names = "answer, check, hint, progress, solution"
    setup = f'{first_cell(book_url)}\n\nfrom annotated_grader import {names}\n\nEXERCISE = "{exercise.id}"'
    cells = [_text(f"{head}\n\n{plain(exercise.statement)}{catches}"), _code(setup, "setup")]
    cells[1]["metadata"]["jupyter"] = {"source_hidden": True}
    for number, question in enumerate(exercise.quiz, 1):
        options = "\n".join(
            f"- **{letter}.** {plain(str(option['text']).strip())}"
            for letter, option in zip(_LETTERS, question["options"], strict=False)
        )
        right = _LETTERS[next(i for i, option in enumerate(question["options"]) if option.get("correct"))]
        asked = plain(str(question["question"]).strip())
        cells.append(_text(f"**Question {number}.** {asked}\n\n{options}\n\nPut the letter between the quotes."))
        cells.append(_code(f'answer({number}, "{right if solved else ""}")', "quiz"))
    return cells


def _middle(exercise: Exercise) -> list[Cell]:
    """The parts from the first code on, without what is said afterwards."""
    first = next((i for i, cell in enumerate(exercise.cells) if cell.code), len(exercise.cells))
    parts = [
        cell if cell.code else Cell(cell.text.partition("## Afterwards")[0].strip()) for cell in exercise.cells[first:]
    ]
    return [part for part in parts if part.text]


def _cell(part: Cell, transform: Any) -> list[dict[str, Any]]:
    if not part.code:
        return [_text(plain(part.text))]
    # With the stub, trying it fails; the cells after it are to run all the same.
    more = ("raises-exception",) if "try" in part.tags else ()
    return [_code(transform(part.text), *part.tags, *more)]


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(source)}


def _code(source: str, *tags: str) -> dict[str, Any]:
    metadata = {"tags": list(tags)} if tags else {}
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": _lines(source)}


def _lines(source: str) -> list[str]:
    return source.strip("\n").splitlines(keepends=True)


def _file(exercise: Exercise, cells: list[dict[str, Any]]) -> str:
    for index, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{exercise.id}|{index}".encode()).hexdigest()[:8]
    notebook = {
        "cells": cells,
        "metadata": {
            "annotated": {"exercise": exercise.id},
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
