"""What strangers hand in becomes cells of code, whatever the file holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotated.grading.exercise.submission import BadSubmission, read


def notebook(*cells: str | tuple[str, str], **metadata: Any) -> bytes:
    """A notebook of these code cells; a pair is a cell with its tag."""
    made = []
    for cell in cells:
        code, tag = cell if isinstance(cell, tuple) else (cell, "")
        made.append({"cell_type": "code", "metadata": {"tags": [tag]} if tag else {}, "source": code.splitlines(True)})
    made.append({"cell_type": "markdown", "metadata": {}, "source": ["def f(): 1"]})
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}).encode()


def codes(data: bytes, name: str = "a.ipynb") -> list[str]:
    """The code of each cell that is kept."""
    return [cell.code.strip() for cell in read(data, name).cells]


def test_only_what_keeps_a_cell_from_being_python_is_left_out() -> None:
    magic = "%matplotlib inline\n!pip install x\nx = %time 3\nimport math\nmath.pi?"
    assert codes(notebook(magic, "%%bash\nrm -rf /", "%%time\ny = 1")) == ["import math", "y = 1"]
    text = 'x = """\n%not a magic\n!nor this\n"""'
    assert codes(notebook(text)) == [text]


def test_one_broken_cell_hides_no_other_and_is_named() -> None:
    submission = read(notebook("def f(:", "def g(): 2"), "a.ipynb")
    assert [(cell.title, cell.parses) for cell in submission.cells] == [("cell 1", False), ("cell 2", True)]
    assert "cell 1" in submission.notes[0]
    assert submission.source_of(["f", "g"]).strip() == "def g(): 2"


def test_cells_for_trying_count_only_if_the_answer_stands_nowhere_else() -> None:
    submission = read(
        notebook("def f(): 1", ("def f(): 2", "try"), ("check()", "check"), ("def g(): 3", "try")), "a.ipynb"
    )
    assert [cell.code for cell in submission.for_answers(["f"]).cells] == ["def f(): 1"]
    assert [cell.code for cell in submission.for_answers(["f", "g"]).cells] == ["def f(): 1", "def g(): 3"]


def test_the_source_of_an_answer_is_what_it_uses() -> None:
    cells = (
        "import math",
        "ROOT = math.sqrt(2)",
        "def f(): return ROOT",
        "import torch\nprint(torch.softmax)",
        "f.x = 1",
    )
    assert read(notebook(*cells), "a.ipynb").source_of(["f"]).split("\n\n") == [*cells[:3], cells[4] + "\n"]


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (notebook('EXERCISE = "ex05-1"'), "a.ipynb", "ex05-1"),
        (notebook("x = 1", annotated={"exercise": "ex07-2"}), "a.ipynb", "ex07-2"),
        (notebook("x = 1", annotated={"exercise": "../../etc"}), "a.ipynb", ""),
        (b"EXERCISE = 'ex05-1'\n", "a.py", "ex05-1"),
        (b"# EXERCISE = 'ex05-1'\n", "a.py", ""),
    ],
)
def test_the_exercise_that_a_file_names(data: bytes, name: str, expected: str) -> None:
    assert read(data, name).exercise == expected


def test_a_python_file_is_cut_at_its_marks() -> None:
    assert codes(b"# %% one\na = 1\n# %% [markdown]\n# text\n#%%\nb = (\n", "a.py") == ["a = 1", "# text", "b = ("]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b"[" * 100_000, "not JSON"),
        (b" " * (20 * 2**20 + 1), "more than"),
        (notebook("x = 1\n" * 200_000), "characters of code"),
    ],
)
def test_what_holds_no_answer_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(BadSubmission, match=reason):
        read(data, "a.ipynb")


def test_odd_cells_of_a_notebook_are_passed_over() -> None:
    cells = [None, 1, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "a = 1"], "metadata": {"tags": 3}}]
    assert codes(json.dumps({"cells": cells}).encode()) == ["a = 1"]
