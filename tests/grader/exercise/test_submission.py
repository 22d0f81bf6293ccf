"""What strangers hand in becomes cells of code, whatever the file holds."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import Any

import pytest

from annotated_grader.exercise.submission import BadSubmission, read


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


def kept(*cells: str | tuple[str, str], answers: Collection[str] = ("f",)) -> str:
    """What these answers of a notebook are seen to need, without empty lines."""
    code = read(notebook(*cells), "a.ipynb").source_of(answers)
    return "\n".join(line for line in code.split("\n") if line.strip() not in ("", "pass"))


def test_magics_are_what_ipython_takes_them_for() -> None:
    magic = "%matplotlib inline\n!pip install x\nx = %time 3\ny = !ls\n%time z = 4\nimport math\nmath.pi?\n?help"
    assert codes(notebook(magic)) == ["pass\npass\nx = (3)\ny = []\nz = 4\nimport math\npass\npass"]
    assert codes(notebook("%%bash\nrm -rf /", "%%time\n%pylab\ny = 1", "%%timeit\nz = 1", ">>> w = 1")) == [
        "pass", "pass\ny = 1", "pass", "w = 1"
    ]  # fmt: skip
    text = 'x = """\n%not a magic\n!nor this\nIs this right?\na form feed \x0c, a separator \u2028\n"""'
    assert codes(notebook(text, f"%time y = 2\n{text}")) == [text, f"y = 2\n{text}"]


def test_a_nested_magic_keeps_its_indentation_and_its_line() -> None:
    assert codes(notebook("def f():\n    %time x = 3\n    !ls\n    return x")) == [
        "def f():\n    x = 3\n    pass\n    return x"
    ]


@pytest.mark.parametrize("code", ["\ufeffdef f(): 1", "a = 1\r\n\ufeffdef f(): 1\r\n", "a = 1\rdef f(): 1"])
def test_marks_and_line_ends_of_other_systems(code: str) -> None:
    (cell,) = read(notebook(code), "a.ipynb").cells
    assert cell.parses and "def f(): 1" in cell.code and "\r" not in cell.code and "\ufeff" not in cell.code


def test_a_notebook_of_format_3() -> None:
    cell = {"cell_type": "code", "input": ["def f():\n", "    return 1"], "prompt_number": 7}
    old = {"worksheets": [{"cells": [cell, {"cell_type": "heading", "source": "x"}]}], "nbformat": 3}
    assert codes(json.dumps(old).encode()) == ["def f():\n    return 1"]


def test_one_broken_cell_hides_no_other_and_is_named() -> None:
    submission = read(notebook("def f(:", "def g(): 2"), "a.ipynb")
    assert [(cell.title, cell.parses) for cell in submission.cells] == [("cell 1", False), ("cell 2", True)]
    assert "cell 1" in submission.notes[0]
    assert submission.source_of(["g"]).strip() == "def g(): 2"


def test_what_an_answer_uses_is_kept_wherever_it_stands() -> None:
    helper = ("def scale(q): return q", "try")
    assert kept(("import math\nEXERCISE = 'x'", "setup"), helper, "def f(q): return scale(q) * math.pi") == (
        "import math\ndef scale(q): return q\ndef f(q): return scale(q) * math.pi"
    )
    assert kept("def f(): 1", ("def f(): 2", "try")) == "def f(): 1\ndef f(): 2", "as in IPython, the last one counts"


@pytest.mark.parametrize(
    "scratch",
    [
        "q = torch.randn(2)\nprint(F.scaled_dot_product_attention(q, q, q))",
        "import time; time.sleep(11)",
        "import matplotlib.pyplot as plt\nplt.plot(f(1))\nplt.gca().set_title('x')",
        "name = input()",
        "await run()",
        "for q in range(3): print(f(q))",
        "total = [q for q in range(3)]",
        "if __name__ == '__main__':\n    print(f(3))",
        "assert f(1) == 3",
        "torch.randn(3).sum()",
        "F.softmax(torch.ones(3), 0)",
    ],
)
def test_what_no_answer_uses_is_left_out(scratch: str) -> None:
    needed = "import torch\nimport torch.nn.functional as F\ndef f(q): return F.softmax(q * torch.ones(1), -1)"
    assert kept(needed, scratch) == needed


@pytest.mark.parametrize(
    "needed",
    [
        "TABLE = {}\nTABLE['a'] = 1\nTABLE.update(b=2)\ndef f(): return TABLE",
        "TABLE = []\ndef add(x): TABLE.append(x)\nfor i in range(3): add(i)\ndef f(): return TABLE",
        "def setup():\n    global ROOT\n    ROOT = 2\nsetup()\ndef f(): return ROOT",
        "REGISTRY = {}\ndef register(g):\n    REGISTRY[g.__name__] = g\n    return g\n@register\ndef g(): pass\n"
        "def f(): return REGISTRY",
        "class A: pass\na = A()\nb = a\nb.x = 3\ndef f(): return a.x",
        "layers = [A(), A()]\nfor layer in layers: layer.reset()\nclass A:\n    def reset(self): pass\ndef f(): layers",
        "from math import *\ndef f(): return sqrt(2)",
        "Vector = list[float]\ndef f(v: Vector) -> Vector: return v",
        "import torch\ntorch.set_default_dtype(torch.float64)\ndef f(): pass",
        "def f(): pass\ndef wrap(g): return g\nf = wrap(f)",
        "if (n := 3): pass\nk = [m := 4 for _ in range(2)]\ndef f(): return n + m",
        "try:\n    import x\nexcept ImportError:\n    x = None\ndef f(): return x",
        "exec('ROOT = 2')\ndef f(): return ROOT",
        "globals()['ROOT'] = 2\ndef f(): return ROOT",
        "def f(): return 1\nf.kind = 2",
        "ROOT = 1\nROOT += 1\ndel ROOT\nROOT = 3\ndef f(x=ROOT): return x",
        "größe = 3\ndef f(): return größe",
        "from __future__ import annotations\ndef f(x: Missing): return x",
    ],
)  # fmt: skip
def test_what_changes_what_an_answer_uses_is_kept(needed: str) -> None:
    lines = [line for line in needed.split("\n") if line.strip() != "pass"]
    assert kept(needed) == "\n".join(lines)


@pytest.mark.parametrize(
    "code",
    [
        "def f(q): return q",
        "def f(): return [q for q in range(3)]",
        "f = lambda q: q",
        "def f():\n    q = 1\n    return lambda: q",
        "def f():\n    for q in range(3): pass\n    return q",
        "def f():\n    import q\n    return q.x",
        "def f(x):\n    match x:\n        case {'a': q}: return q",
        "def f():\n    try: pass\n    except ValueError as q: return q",
        "def f():\n    class C:\n        q = 1\n        r = q\n    return C",
        "def f():\n    q = 0\n    def g():\n        nonlocal q\n        q += 1\n    return g",
    ],
)
def test_a_name_of_another_scope_is_another_name(code: str) -> None:
    assert "q = 'a scratch cell'" not in kept("q = 'a scratch cell'", code)


def test_what_only_looks_like_another_scope_is_the_same_name() -> None:
    for code in ("class f:\n    q = 1\n    def g(self): return q", "def f(): return [x for x in q]", "def f(x=q): x"):
        assert "q = 3" in kept("q = 3", code)


def test_the_output_of_a_cell_is_the_next_ones_underscore() -> None:
    assert kept("3 + 4", "ROOT = _", "def f(): return ROOT") == "3 + 4\nROOT = _\ndef f(): return ROOT"
    assert kept("3 + 4", "def f(): return [1 for _ in range(3)]") == "def f(): return [1 for _ in range(3)]"


def test_what_runs_under_the_guard_of_a_program_runs_in_a_notebook() -> None:
    guarded = "if __name__ == '__main__':\n    ROOT = 2"
    assert "if True:" in kept(guarded, "def f(): return ROOT")
    assert "ROOT = 2" not in read(f"def f(): return ROOT\n{guarded}\n".encode(), "a.py").source_of(["f"])


def test_to_call_an_answer_is_to_try_it_out() -> None:
    needed = "TABLE = [1]\ndef f(x=TABLE): return TABLE"
    assert kept(needed, "print(f(TABLE))", "result = f(TABLE)") == needed
    assert "fill(TABLE)" in kept(needed, "fill(TABLE)")


def test_lines_keep_their_numbers() -> None:
    code = "import os\n\n@print\ndef g():\n    return 1\nx = 1; f = 2; y = (\n3)\nf += 1  # end\n"
    assert read(code.encode(), "a.py").source_of(["f"]) == "\n\n\n\n\nx = 1; f = 2; y = (\n3)\nf += 1  # end\n"


def test_work_grows_with_the_input_and_no_faster() -> None:
    begun = time.process_time()
    chain = read(notebook(*[f"a{i} = a{i + 1}" for i in range(2000)]), "a.ipynb")
    assert len(chain.for_answers(["a0"]).cells) == 2000
    read(notebook("def f(): 1", "x = (" + " " * 300_000 + "x"), "a.ipynb").for_answers(["f"])
    read(notebook("def f(): 1", "x = ?" + "a" * 300_000), "a.ipynb").for_answers(["f"])
    read(notebook(*["%magic"] * 3_000), "a.ipynb").for_answers(["f"])
    read(notebook("x += 1\n" * 6_000), "a.ipynb").for_answers(["x"])
    assert time.process_time() - begun < 10, "seconds for what once took hours"
    with pytest.raises(BadSubmission, match="cells of code"):
        read(notebook(*["x"] * 30_000), "a.ipynb")


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
