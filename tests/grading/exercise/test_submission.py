"""What strangers hand in becomes cells of code, whatever the file holds; folders are looked into and not believed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotated.grading.folder import look_into
from annotated.grading.submission import BadSubmission, read


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


def folder(top: Path, *names: str) -> Path:
    """A folder of these files."""
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x = 1\n", encoding="utf-8")
    return top


def test_three_layouts(tmp_path: Path) -> None:
    folder(tmp_path, "ada/ex05-1_final.py", "ada/work/ex07-2.ipynb", "ben_li_ex05_1.py", "cleo.py", ".git/ex05-1.py")
    found = look_into(tmp_path)
    assert [(one.student, one.exercise) for one in found.submissions] == [
        ("ada", "ex05-1"), ("ada", "ex07-2"), ("ben_li", "ex05-1"),
    ]  # fmt: skip
    assert found.aside == (("cleo.py", "it does not say which exercise it answers"),)
    only = look_into(tmp_path, "ex05-1")
    assert [one.student for one in only.submissions] == ["ada", "ben_li", "cleo"]
    assert only.aside == (("ada/work/ex07-2.ipynb", "it is for ex07-2"),)


def test_of_several_files_the_last_by_name_counts(tmp_path: Path) -> None:
    folder(tmp_path, "ada/ex05-1.py", "ada/ex05-1 (10).py", "ada/ex05-1 (9).py", "ada/ex05-11.py")
    found = look_into(tmp_path)
    assert {one.exercise: one.path for one in found.submissions} == {
        "ex05-1": "ada/ex05-1 (10).py", "ex05-11": "ada/ex05-11.py",
    }  # fmt: skip
    assert set(found.aside) == {
        ("ada/ex05-1.py", "replaced by ada/ex05-1 (9).py"), ("ada/ex05-1 (9).py", "replaced by ada/ex05-1 (10).py"),
    }  # fmt: skip


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", "ex05-1.py", "secret/ex05-1.py")
    top = folder(tmp_path / "class", "ada/ex05-1.py")
    (top / "eve").symlink_to(outside / "secret")
    (top / "ada" / "ex05-2.py").symlink_to(outside / "ex05-1.py")
    found = look_into(top)
    assert [(one.path, one.refused) for one in found.submissions] == [
        ("ada/ex05-1.py", ""), ("ada/ex05-2.py", "it is a symbolic link"),
    ]  # fmt: skip
    assert found.aside == (("eve", "it is a symbolic link"),)
    with pytest.raises(BadSubmission, match="symbolic link"):
        found.submissions[1].read()


@pytest.mark.parametrize("bad", ["../ex05-1.py", "/etc/ex05-1.py", "a\\..\\..\\ex05-1.py", "C:/ex05-1.py"])
def test_an_archive_with_one_path_that_leads_outside_is_refused_whole(tmp_path: Path, bad: str) -> None:
    for name, members in (("good", ["x/ex05-1.py", "__MACOSX/ex05-1.py"]), ("bad", ["ex05-1.py", bad])):
        with zipfile.ZipFile(tmp_path / f"{name}_ex05-1.zip", "w") as archive:
            for member in members:
                archive.writestr(zipfile.ZipInfo(member), "x = 1")
    refused, good = look_into(tmp_path).submissions
    assert (refused.student, "leads outside" in refused.refused) == ("bad", True)
    assert (good.student, good.path, good.read()) == ("good", "good_ex05-1.zip/x/ex05-1.py", b"x = 1")
