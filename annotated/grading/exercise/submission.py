"""Submission: what was handed in, as cells of code. Nothing is run here, and nothing in the file is believed.

A notebook is its code cells, without those that came with the exercise to try it out. A Python file is one cell, or as
many as its `# %%` marks make. Each cell will run by itself, so that a broken one does not hide the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from annotated.grading.sandbox.names import bound_names, parsed, used_names

MOST_BYTES = 20 * 2**20
"""Of a file; notebooks carry pictures."""
_MOST_CODE = 500_000
_NOT_THE_ANSWER = {"setup", "quiz", "try", "check"}
_EXERCISE = re.compile(r"^EXERCISE\s*=\s*[\"'](ex\d\d-\d+)[\"']", re.M)
_KEPT_CELL_MAGICS = ("%%time", "%%timeit", "%%capture")
_MAGIC = re.compile(r"^\s*(?:[%!?]|(?:[\w.]+\s*=\s*)[%!]|.*\?\s*$)")


class BadSubmission(ValueError):
    """A file that holds no answer at all; the message says why."""


@dataclass(frozen=True)
class CodeCell:
    """A piece of code that runs on its own; `title` says where it stands, `parses` whether Python understands it."""

    code: str
    title: str = "the file"
    tags: frozenset[str] = frozenset()
    parses: bool = True


@dataclass(frozen=True)
class Submission:
    """Code that was handed in.

    Attributes
    ----------
    cells
        In the order of the file: what is defined last counts, as in a notebook that is run from top to bottom.
    exercise
        The exercise that the file says it is for, or the empty text.
    notes
        What a reader should know about the file.
    """

    cells: tuple[CodeCell, ...]
    exercise: str = ""
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """All of it as one text."""
        return "\n".join(cell.code.rstrip("\n") + "\n" for cell in self.cells)

    def for_answers(self, answers: Collection[str]) -> Submission:
        """Without the cells for trying and checking, unless an answer stands in one of them and nowhere else."""
        plain = [cell for cell in self.cells if not cell.tags & _NOT_THE_ANSWER]
        missing = set(answers) - {name for cell in plain for name in bound_names(cell.code)}
        kept = [cell for cell in self.cells if cell in plain or missing & bound_names(cell.code)]
        return replace(self, cells=tuple(kept))

    def source_of(self, answers: Collection[str]) -> str:
        """The code that makes the answers: the cells that define them, and those that these use."""
        understood = [cell for cell in self.cells if cell.parses]
        wanted, kept = set(answers), set[int]()
        grown = True
        while grown:
            more = {i for i, cell in enumerate(understood) if i not in kept and wanted & bound_names(cell.code)}
            wanted |= {name for i in more for name in used_names(understood[i].code)}
            kept |= more
            grown = bool(more)
        return "\n\n".join(understood[i].code.strip("\n") for i in sorted(kept)) + "\n"


def read(data: bytes, name: str) -> Submission:
    """Read a file that was handed in.

    Parameters
    ----------
    name
        Its name; `.ipynb` makes it a notebook.

    Raises
    ------
    BadSubmission
        If it is no notebook, not text, empty, or too large.
    """
    if len(data) > MOST_BYTES:
        raise BadSubmission(f"the file has {len(data):,} bytes, more than {MOST_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSubmission(f"the file is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise BadSubmission("the file is empty")
    if name.lower().endswith(".ipynb"):
        cells, exercise = _of_notebook(text)
    else:
        cells, exercise = _of_script(text), ""
    whole = "\n".join(cell.code for cell in cells)
    if len(whole) > _MOST_CODE:
        raise BadSubmission(f"the file holds {len(whole):,} characters of code, more than {_MOST_CODE:,}")
    named = _EXERCISE.search(whole)
    prepared = tuple(ready for cell in cells if (ready := _prepare(cell)).code.strip())
    notes = tuple(f"{cell.title} is not Python and was left out" for cell in prepared if not cell.parses)
    return Submission(prepared, named[1] if named else exercise, notes)


def _of_notebook(text: str) -> tuple[list[CodeCell], str]:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f"; it breaks off or goes wrong at line {line}" if line else ""
        raise BadSubmission(f"the file is not a notebook: it is not JSON{where}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise BadSubmission("the file is not a notebook: it has no list of cells")
    named = _of(_of(_of(notebook, "metadata"), "annotated"), "exercise")
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        if _of(cell, "cell_type") != "code":
            continue
        source, tags = _of(cell, "source"), _of(_of(cell, "metadata"), "tags")
        lines = source if isinstance(source, list) else [source]
        code = "".join(line for line in lines if isinstance(line, str))
        kept = frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else frozenset()
        cells.append(CodeCell(code, f"cell {number}", kept))
    return cells, named if isinstance(named, str) and re.fullmatch(r"ex\d\d-\d+", named) else ""


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _of_script(text: str) -> list[CodeCell]:
    parts = re.split(r"^# ?%%.*$", text, flags=re.M)
    if len(parts) == 1:
        return [CodeCell(text)]
    return [CodeCell(part, f"part {number}") for number, part in enumerate(parts, 1) if part.strip()]


def _prepare(cell: CodeCell) -> CodeCell:
    """A cell as plain Python: without IPython's magics, if that is what keeps it from being Python."""
    if parsed(cell.code) is not None:
        return cell
    lines = cell.code.splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(_KEPT_CELL_MAGICS):
        return replace(cell, code="")
    plain = "\n".join("" if _MAGIC.match(line) else line for line in lines) + "\n"
    if parsed(plain) is not None:
        return replace(cell, code=plain)
    return replace(cell, parses=False)
