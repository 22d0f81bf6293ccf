"""A fuzzer of the grader's files, names, archives, notebooks and replies, with one property.

Whatever one student hands in, everybody else gets exactly the marks that they get alone, in any order, with 1, 2 and 4
jobs. The sandbox is the real worker in a fork without walls (`forked`), so that a class takes a second.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotated_grader.instructor.limited import Bounds
from tests.grader.instructor.forked import RIGHT, WRONG, forging, grade, marks, use_forks

pytestmark = pytest.mark.slow

FEW, SEVERAL = 5, int(os.environ.get("ANNOTATED_NEIGHBOURS", "15"))
BOUNDS = Bounds(cpu_seconds=6, wall_seconds=120)
"""A neighbour's checks take up to 0.6 processor seconds alone, and more where the cores are shared or slow."""
PARTLY = "def weights(x):\n    print(x.shape)\n    return x.softmax(-1) if len(x) < 3 else x\n"
CLASS = {"dan_ex99-1.py": RIGHT, "kim/ex99-1.py": WRONG, "pia_ex99-1.py": PARTLY, "tom/a/ex99-1.py": "def weights(:\n"}
"""The neighbours: right, wrong, partly right, broken. Their names stand before, between and after all others."""

Files = list[tuple[str, bytes]]

# -- Names -------------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "ex99-1",
        "EX99_1",
        "ex99-1²",
        "ex٩٩-1",
        " (2)",
        "-Copy1",
        "9" * 120,
        "\u200b",
        "\u202e",
        "\udcff",
        "=1+1",
        "'",
        "..",
    ]
    + [
        ".ipynb",
        ".py",
        ".zip",
        ".txt",
        ".tar.gz",
        " ",
        "\n",
        "\x1b[2J",
        "_",
        "-",
        "dan",
        "kim_",
        "%s",
        "$(x)",
        "ex77-1",
    ]
)
STEMS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
WHO = st.sampled_from(["Aaa", "lea", "zzz", "dan\u200b", "kim ", "pia-2", "tom" + "x" * 100, "tom" + "x" * 101])
"""Students whose files come first, between and last, and whose names look like a neighbour's."""


def named(stem: str, suffix: str, who: str, nested: bool) -> str:
    """A path that a file system takes, which belongs to this student whatever is in it."""
    name = stem.replace("/", "_").replace("\0", "_")[:80] + suffix
    return f"{who}/{name}" if nested else f"{who}_ex99-1{suffix}"


# -- Contents ----------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [RIGHT, WRONG, "%time x = 1", "!ls", "a = = 1", "x?" + " " * 3000 + "x", "a0 = a1", "a1 = a0; a2 = a1", "import os"]
    + ["while True: pass", "raise SystemExit", "print('<' * 10**5)", "EXERCISE = 'ex99-1'", "# %%", "\f", "\u2028", "("]
    + ["def f():\n" + " " * 4 * depth + "pass" for depth in (1, 50)]
    + ["x = " + "(" * 300, "x = " + "-" * 5000 + "1", "0" * 5000, "import sys; sys.setrecursionlimit(10**8)"]
)
CODE = st.lists(LINES | st.text(max_size=40), max_size=6).map("\n".join)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TAGS = st.lists(st.sampled_from(["answer", "try", "setup", "check"]) | PLAIN, max_size=2)
CELLS = st.builds(
    lambda code, tags, split: {
        "cell_type": "code", "source": code.splitlines(True) if split else code, "metadata": {"tags": tags},
    },
    CODE, TAGS | PLAIN, st.booleans(),
)  # fmt: skip
NOTEBOOKS = st.lists(CELLS | PLAIN, max_size=4).map(lambda cells: json.dumps({"cells": cells, "metadata": {}}).encode())
CHAINS = st.integers(10, 600).map(
    lambda n: json.dumps({"cells": [{"cell_type": "code", "source": f"a{i} = a{i + 1}"} for i in range(n)]}).encode()
)


def packed(members: Files, kind: int, size: int | None) -> bytes:
    """A zip with these members, and a lie about the size of the last."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # two members of one name are what is wanted
        for name, data in members:
            archive.writestr(name.encode(errors="replace").decode() or "x", data)
        if size is not None and archive.filelist:
            archive.filelist[-1].file_size = size
    return out.getvalue()


KINDS = st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
INSIDE = st.sampled_from(
    ["ex99-1.py", "ex99-1.ipynb", "a/ex99-1 (2).py", "../ex99-1.py", "/ex99-1.py", "b.zip", "dan/"]
)
SIZES = st.none() | st.sampled_from([0, 1, 10**6, 2**31])
CONTENTS = CODE.map(lambda text: text.encode(errors="replace")) | NOTEBOOKS | st.just(bytes(2 * 10**6))
ARCHIVES = st.builds(packed, st.lists(st.tuples(INSIDE | STEMS, CONTENTS), max_size=4), KINDS, SIZES)


def damaged(data: bytes, cuts: list[tuple[float, bytes]]) -> bytes:
    """With some bytes replaced."""
    made = bytearray(data)
    for place, new in cuts:
        start = int(place * len(made))
        made[start : start + len(new)] = new
    return bytes(made)


CUTS = st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=20)), max_size=3)

# -- Replies -----------------------------------------------------------------------------------------------------------

PACKED: st.SearchStrategy[Any] = st.recursive(
    PLAIN | st.sampled_from([{"tensor": "0"}, {"complex": "0"}, {"ref": [2**70, "x"]}, {"text": 5}, 2**200]),
    lambda inner: st.builds(
        lambda kind, parts: {kind: parts},
        st.sampled_from(["list", "tuple", "set", "dict", "text", "tensor", "value"]),
        st.lists(inner | st.tuples(inner, inner), max_size=3),
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(["value", "error", "message", "where"])
REPLIES = st.dictionaries(FIELDS, PACKED, max_size=3).map(
    lambda fields: {"dict": [[{"text": name}, part] for name, part in fields.items()]}
)
MANY = st.sampled_from(
    [
        """'{"dict":[[{"text":"value"},{"set":[' + ",".join(str(k * (2**61 - 1)) for k in range(1, 60000)) + ']}]]}'""",
        """'{"dict":[[{"text":"value"},{"list":[' + ",".join(['{"tensor":"0"}'] * 100000) + ']}]]}'""",
        """'{"dict":[[{"text":"value"},{"list":[' + ",".join(['{"list":[]}'] * 300000) + ']}]]}'""",
        """'[' * 100000""",
        """'{"list":[1' + '0' * 10**6 + ']}'""",
    ]
)
BODIES = (REPLIES | PACKED).map(lambda value: repr(json.dumps(value))) | MANY
ZEROS = "__import__('torch').zeros(200, 200, dtype=__import__('torch').uint8)"
TENSORS = st.sampled_from(["b''", "b'x' * 40", "struct.pack('<Q', 2**40)", f"save({{'0': {ZEROS}}})"])
WHEN = st.sampled_from(["True", "hasattr(v.get('value'), 'shape')", "isinstance(v.get('value'), str)"])
FORGERIES = st.builds(
    lambda body, tensors, when: forging(
        f"from safetensors.torch import save\nBODY = ({body}).encode()\n"
        f"def evil(v):\n    return frame(BODY) + {tensors} if {when} else real(v)\nmain.codec.encode = evil\n"
    ).encode(),
    BODIES, TENSORS, WHEN,
)  # fmt: skip
WRITES = "main.Channel.send = lambda self, reply: __import__('os').write(self._replies, {!r})\n"
MESSAGES = st.binary(max_size=64).map(lambda data: forging(WRITES.format(data)).encode())
BURDENS = st.sampled_from(
    [
        b"import sys\ndef weights(x):\n    sys.stdout.kept = '<' * 4_100_000\n    return x.softmax(-1)\n",
        b"import torch\ndef weights(x):\n    return torch.zeros(16_000_000, dtype=torch.uint8)\n",
        b"def weights(x):\n    raise type('E' * 10**6, (ValueError,), {})('<' * 10**6)\n",
        b"import os\ndef weights(x):\n    os._exit(0)\n",
        b"import time\ntime.sleep(30)\n",
        b"import torch\ntorch.manual_seed(5); torch.use_deterministic_algorithms(True)\ndef weights(x): return x\n",
        b"def weights(x):\n    return [[[x] * 50] * 50] * 20\n",
    ]
)

SCRIPTS = st.tuples(
    st.just(".py"), CODE.map(lambda text: text.encode(errors="replace")) | FORGERIES | MESSAGES | BURDENS
)
PAPERS = st.tuples(st.just(".ipynb"), NOTEBOOKS | CHAINS)
ZIPS = st.tuples(st.just(".zip"), st.builds(damaged, ARCHIVES, CUTS))
OTHERS = st.tuples(st.sampled_from([".py", ".ipynb", ".zip", ".txt", ""]), st.binary(max_size=200))


@st.composite
def handed_in(draw: Callable[[Any], Any]) -> Files:
    """One to three hostile files, by their paths."""
    files = []
    for _ in range(draw(st.integers(1, 3))):
        suffix, data = draw(SCRIPTS | PAPERS | ZIPS | OTHERS)
        files.append((named(draw(STEMS), suffix, draw(WHO), draw(st.booleans())), data))
    return files


# -- The property ------------------------------------------------------------------------------------------------------


def put(folder: Path, files: Files) -> None:
    """A class folder with these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_dir():
            place.write_bytes(data)


NEIGHBOURS: Files = [(name, code.encode()) for name, code in CLASS.items()]
SCORES = [7, 0, 4, 0]
STUDENTS = ("dan", "kim", "pia", "tom")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder where classes are graded in forks."""
    top = tmp_path_factory.mktemp("neighbours")
    with pytest.MonkeyPatch.context() as patch:
        yield use_forks(patch, top)


@pytest.fixture(scope="module")
def alone(room: Path) -> dict[str, tuple[Any, ...]]:
    """What each neighbour gets alone."""
    found = {}
    for student, (name, data) in zip(STUDENTS, NEIGHBOURS, strict=True):
        put(room, [(name, data)])
        found[student] = marks(grade(room, room.parent / "alone", jobs=1, bounds=BOUNDS, fresh=True)[student])
    assert [found[name][0] for name in STUDENTS] == SCORES
    return found


def beside(room: Path, files: Files, jobs: int) -> dict[str, tuple[Any, ...]]:
    """What the neighbours get beside these files."""
    put(room, NEIGHBOURS + files)
    done = grade(room, room.parent / f"out{jobs}", jobs=jobs, bounds=BOUNDS, fresh=True)
    return {name: marks(done[name]) for name in STUDENTS}


@pytest.mark.parametrize("examples", [FEW, pytest.param(SEVERAL, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_neighbours_get_the_marks_that_they_get_alone(
    room: Path, alone: dict[str, tuple[Any, ...]], jobs: int, examples: int
) -> None:
    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip
    @given(files=handed_in())
    def holds(files: Files) -> None:
        assert beside(room, files, jobs) == alone

    holds()


def test_a_header_that_lies_about_everything(room: Path, alone: dict[str, tuple[Any, ...]]) -> None:
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 65535)
    assert beside(room, [("lea_ex99-1.zip", end), ("Aaa/ex99-1.zip", b"PK\x03\x04" + end)], 2) == alone
