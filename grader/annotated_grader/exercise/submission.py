"""Submission: what was handed in, as cells of code. Nothing is run here, and nothing in the file is believed.

A notebook is its code cells; a Python file is one cell, or as many as its `# %%` marks make. All of it is run, in its
order, by learners and by instructors alike; `for_answers` tells what the answers surely need from the rest, which has
less time and fails in silence.
"""

from __future__ import annotations

import ast
import codecs
import io
import json
import re
import tokenize
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from annotated_grader.exercise.dependencies import first_line, required_statements, span, starts_of_lines
from annotated_grader.exercise.magics import MagicReader
from annotated_grader.exercise.outputs import MOST_WITH_OUTPUTS, without_outputs
from annotated_grader.exercise.scopes import Statement, is_main_guard, statement_of
from annotated_grader.sandbox.names import names_in_text, parsed

MOST_BYTES = 20 * 2**20
"""Of a file; of a notebook, without its outputs."""
_MOST_CODE = 500_000
_MOST_CELLS = 20_000
MOST_NOTES = 5
"""About the cells of one file."""
_EXERCISE = re.compile(r"^EXERCISE\s*=\s*[\"'](ex\d\d-\d+)[\"']", re.M)
_OUTPUTS = {"_", "__", "___"}
_ENCODING = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb\w+|big5\w*|shift_jis\w*|euc_\w+")
"""Those of text, by Python's names; there are others that take long, or decode something else."""


class BadSubmission(ValueError):
    """A file that holds no answer at all; the message says why."""


@dataclass(frozen=True)
class CodeCell:
    """A cell, or a piece of one, that runs on its own.

    Attributes
    ----------
    title
        Where it stands.
    parses
        Whether Python understands it.
    needed
        Whether the answers are seen to need it. What they are not seen to need runs all the same: a bound method or a
        text of code may change them unseen.
    ends
        Whether it is the last piece of its cell, whose value `_` then is.
    """

    code: str
    title: str = "the file"
    parses: bool = True
    needed: bool = True
    ends: bool = True

    @property
    def text(self) -> str:
        """The code, with the end of its last line."""
        return self.code.removesuffix("\n") + "\n"

    @property
    def blank(self) -> str:
        """As many empty lines."""
        return "\n" * self.text.count("\n")


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
    notebook
        Whether it is one: `_` then means the output before, and `__name__` is "__main__".
    """

    cells: tuple[CodeCell, ...]
    exercise: str = ""
    notes: tuple[str, ...] = ()
    notebook: bool = False

    @classmethod
    def of_cells(cls, codes: Iterable[str]) -> Submission:
        """Cells that were run in a notebook, in the order in which they ran."""
        reader = MagicReader()
        return cls(tuple(_prepare(CodeCell(code), reader, notebook=True) for code in codes), notebook=True)

    @property
    def code(self) -> str:
        """What is needed of it, and is Python, as one text; every line keeps its number."""
        return "".join(cell.text if cell.parses and cell.needed else cell.blank for cell in self.cells)

    def statements(self) -> list[tuple[CodeCell, list[Statement]]]:
        """The statements of each cell; one that is not Python counts as one that binds what it seems to define."""
        return [(cell, _of_cell(cell, parsed(cell.code) if cell.parses else None)) for cell in self.cells]

    def for_answers(self, answers: Collection[str]) -> Submission:
        """The same code, cut into pieces: what these names need, wherever it stands, and each other statement."""
        parts = self.statements()
        statements = [one for _, part in parts for one in part]
        if self.notebook and any(_OUTPUTS & one.reads for one in statements):
            _bind_outputs(part for _, part in parts)
        kept = {one.node for one in required_statements(statements, answers)}
        cells = []
        for cell, part in parts:
            flags = [one.node in kept for one in part]
            body = [one.node for one in part if _is_python(one)]
            pieces = _pieces(cell, body, flags) if body else [replace(cell, needed=any(flags))]
            cells += [replace(piece, ends=piece is pieces[-1]) for piece in pieces]
        return replace(self, cells=tuple(cells))

    def without(self, places: Collection[tuple[int, int]]) -> Submission:
        """The same code without some of its statements; every line keeps its number.

        Parameters
        ----------
        places
            Of the statements: the number of the cell, and that of the statement in it.
        """
        cells = []
        for number, (cell, part) in enumerate(self.statements()):
            left_out = [one.node for i, one in enumerate(part) if (number, i) in places and _is_python(one)]
            cells.append(replace(cell, code=_without(cell.code, left_out)) if left_out else cell)
        return replace(self, cells=tuple(cells))

    def source_of(self, answers: Collection[str]) -> str:
        """The code that the answers are seen to need, as one text; every line keeps its number."""
        return self.for_answers(answers).code


def _without(code: str, statements: Iterable[ast.stmt]) -> str:
    """Code in which statements are `pass`, or a number where there is no room, and spaces."""
    data, lines = code.encode(), starts_of_lines(code.encode())
    pieces, position = [], 0
    for node in statements:
        begin, end = span(node, lines)
        begin = min(begin, lines[first_line(node) - 1]) if first_line(node) < node.lineno else begin
        first = b"pass" if end - begin >= 4 else b"0"
        pieces += [data[position:begin], first, re.sub(rb"[^\n]", b" ", data[begin + len(first) : end])]
        position = end
    return b"".join([*pieces, data[position:]]).decode()


def _pieces(cell: CodeCell, body: Sequence[ast.stmt], flags: Iterable[bool]) -> list[CodeCell]:
    """A cell in pieces of whole lines: statements that are needed together, each of the others by itself."""
    lines = [line + "\n" for line in cell.text.removesuffix("\n").split("\n")]  # a form feed ends none
    starts, needs = [0], list[bool]()
    last = 0  # the line after the statement before
    for node, flag in zip(body, flags, strict=True):
        begin = first_line(node) - 1
        together = not needs or begin < last or lines[begin - 1].endswith("\\\n")
        if together:
            needs[-1:] = [flag or any(needs[-1:])]
        elif not (flag and needs[-1]):
            starts.append(begin)
            needs.append(flag)
        last = node.end_lineno or 0
    ends = [*starts[1:], len(lines)]
    return [
        replace(cell, code="".join(lines[begin:end]), needed=flag)
        for begin, end, flag in zip(starts, ends, needs, strict=True)
    ]


def _of_cell(cell: CodeCell, tree: ast.Module | None) -> list[Statement]:
    """The statements of a cell; one that is not Python counts as one that binds what it seems to define."""
    if tree is None:
        return [Statement(ast.Pass(), binds=names_in_text(cell.code))]
    return [Statement(node) if is_main_guard(node) else statement_of(node) for node in tree.body]


def _is_python(one: Statement) -> bool:
    return hasattr(one.node, "lineno")


def _bind_outputs(statements: Iterable[list[Statement]]) -> None:
    """In IPython the value of a cell's last line is `_` in the next."""
    for part in statements:
        if part and isinstance(part[-1].node, ast.Expr):
            part[-1].binds |= _OUTPUTS


def most_bytes(name: str) -> int:
    """How large a file of this name may be: of a notebook, the outputs are not kept."""
    return MOST_WITH_OUTPUTS if name.lower().endswith(".ipynb") else MOST_BYTES


def read_bytes(file: IO[bytes], name: str) -> bytes:
    """What a file holds, of a notebook without its outputs; one byte more than is allowed at most."""
    return without_outputs(file, MOST_BYTES) if name.lower().endswith(".ipynb") else file.read(MOST_BYTES + 1)


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
    notebook = name.lower().endswith(".ipynb")
    text = text_of(data, notebook)
    if not text.strip():
        raise BadSubmission("the file is empty")
    cells, exercise = _of_notebook(text) if notebook else (_of_script(text), "")
    whole = "\n".join(cell.code for cell in cells)
    if len(whole) > _MOST_CODE:
        raise BadSubmission(f"the file holds {len(whole):,} characters of code, more than {_MOST_CODE:,}")
    if len(cells) > _MOST_CELLS:
        raise BadSubmission(f"the file holds {len(cells):,} cells of code, more than {_MOST_CELLS:,}")
    named, reader = _EXERCISE.search(whole), MagicReader()
    prepared = tuple(ready for cell in cells if (ready := _prepare(cell, reader, notebook)).code.strip())
    notes = tuple(f"{cell.title} is not Python and was left out" for cell in prepared if not cell.parses)
    return Submission(prepared, named[1] if named else exercise, notes[:MOST_NOTES], notebook)


def text_of(data: bytes, notebook: bool) -> str:
    """A file as text: a notebook is UTF-8, a Python file may say otherwise in its first two lines.

    Raises
    ------
    BadSubmission
        If it is no text.
    """
    if b"\0" in data and data[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise BadSubmission(f"the file is not a {'notebook' if notebook else 'Python file'}: it holds zero bytes")
    encoding = "utf-8-sig"
    try:
        if not notebook:
            named = codecs.lookup(tokenize.detect_encoding(io.BytesIO(data).readline)[0]).name
            encoding = named if _ENCODING.fullmatch(named) and named != "utf-8" else encoding
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadSubmission(f"the file is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except (SyntaxError, LookupError):  # of the line that names an encoding
        raise BadSubmission("the file is not UTF-8 text; save it as UTF-8") from None


def _of_notebook(text: str) -> tuple[list[CodeCell], str]:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f"; it breaks off or goes wrong at line {line}" if line else ""
        raise BadSubmission(f"the file is not a notebook: it is not JSON{where}") from None
    listed = _cells_of(notebook)
    if not isinstance(listed, list):
        raise BadSubmission("the file is not a notebook: it has no list of cells")
    named = _of(_of(_of(notebook, "metadata"), "annotated"), "exercise")
    cells = []
    for number, cell in enumerate(listed, 1):
        if _of(cell, "cell_type") != "code":
            continue
        source = _of(cell, "source") or _of(cell, "input")
        lines = source if isinstance(source, list) else [source]
        cells.append(CodeCell("".join(line for line in lines if isinstance(line, str)), f"cell {number}"))
    return cells, named if isinstance(named, str) and re.fullmatch(r"ex\d\d-\d+", named) else ""


def _cells_of(notebook: Any) -> Any:
    """The list of cells; before format 4 they lay in a worksheet."""
    sheets = _of(notebook, "worksheets")
    return _of(sheets[0], "cells") if isinstance(sheets, list) and sheets else _of(notebook, "cells")


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _of_script(text: str) -> list[CodeCell]:
    parts = re.split(r"^# ?%%.*$", re.sub(r"\r\n?", "\n", text), flags=re.M)
    if len(parts) == 1:
        return [CodeCell(text)]
    return [CodeCell(part, f"part {number}") for number, part in enumerate(parts, 1) if part.strip()]


def _prepare(cell: CodeCell, reader: MagicReader, notebook: bool) -> CodeCell:
    """A cell as plain Python; in a notebook, what is guarded by `__name__ == "__main__"` runs."""
    code = reader.python(cell.code)
    if code is None:
        return replace(cell, parses=False)
    tree = parsed(code) if notebook and "__main__" in code else None
    guards = [node for node in tree.body if isinstance(node, ast.If) and is_main_guard(node)] if tree else []
    if guards:
        data = code.encode()
        starts = starts_of_lines(data)
        for node in reversed(guards):
            begin, end = span(node.test, starts)
            data = data[:begin] + b"True" + data[end:]
        code = data.decode()
    return replace(cell, code=code)
