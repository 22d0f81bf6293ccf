"""A file, an archive, a name or a reply harms its own student at most: a row with a reason, and the others go on."""

from __future__ import annotations

import io
import json
import os
import struct
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from annotated_grader.exercise.short_repr import short_repr
from annotated_grader.exercise.submission import CodeCell, Submission
from annotated_grader.feedback.report import described
from annotated_grader.instructor import remote
from annotated_grader.instructor.answers import read_answers
from annotated_grader.instructor.gradebook import Gradebook, Graded, shown_name
from annotated_grader.instructor.limited import Bounds, in_children
from annotated_grader.instructor.remote import RemoteStudent
from annotated_grader.instructor.submissions import collect
from annotated_grader.sandbox import process
from annotated_grader.sandbox.codec import CodecError, decode
from annotated_grader.sandbox.process import SandboxLimits
from tests.grader.instructor.forked import RIGHT, WRONG, forging, grade, use_forks

pytestmark = pytest.mark.process

FULL = 7


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of two, graded in forks."""
    folder = use_forks(monkeypatch, tmp_path)
    for name, code in (("ada", RIGHT), ("zoe", RIGHT)):
        (folder / f"{name}_ex99-1.py").write_text(code, encoding="utf-8")
    return folder


def graded_beside(room: Path, **more: Any) -> dict[str, Graded]:
    """Grade the class; the two keep their points."""
    done = grade(room, room.parent / "out", **more)
    assert (done["ada"].score, done["zoe"].score) == (FULL, FULL)
    return done


def zipped(**members: bytes) -> bytes:
    """A zip of these, deflated."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return packed.getvalue()


def test_a_damaged_archive_is_a_row(room: Path) -> None:
    data = bytearray(zipped(**{"ex99-1.py": os.urandom(2000).hex().encode()}))
    data[200:260] = bytes(60)
    (room / "ben_ex99-1.zip").write_bytes(data)
    assert "cannot be read" in graded_beside(room)["ben"].note


def test_only_stored_and_deflated_entries_are_unpacked(room: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("ex99-1.py", bytes(10**6))
    assert len(packed.getvalue()) < 1000
    (room / "ben_ex99-1.zip").write_bytes(packed.getvalue())
    assert "other than deflate" in graded_beside(room)["ben"].note


def test_digits_of_any_script_and_length_are_a_name(room: Path) -> None:
    names = ["ex99-1²", "ex99-1" + "9" * 200, "ex99-1 " + "9" * 200, "ex٠٩-١", "ex99-1\u200b"]
    for name in names:
        (room / f"ben_{name}.py").write_text(RIGHT, encoding="utf-8")
    with zipfile.ZipFile(room / "cleo.zip", "w") as archive:
        for name in (*names, "ex99-1 " + "9" * 400):
            archive.writestr(f"{name}.py", RIGHT)
    assert graded_beside(room)["cleo"].score == FULL


def test_reading_is_bounded_in_time(room: Path) -> None:
    (room / "ben_ex99-1.py").write_text(RIGHT + "x = = 1\n" + " " * 450_000 + "x\n", encoding="utf-8")
    chain = [{"cell_type": "code", "source": f"a{i} = a{i + 1}", "metadata": {}} for i in range(6000)]
    chain.insert(0, {"cell_type": "code", "source": RIGHT.replace("x.softmax", "a0 and x.softmax"), "metadata": {}})
    (room / "cleo_ex99-1.ipynb").write_text(json.dumps({"cells": chain, "metadata": {}}), encoding="utf-8")
    done = graded_beside(room, bounds=Bounds(cpu_seconds=2))
    assert {done[name].status for name in ("ben", "cleo")} <= {"ok", "student_error", "timeout"}


FORGED = {
    "colliding": """
def evil(v):
    if not hasattr(v.get("value"), "shape"): return real(v)
    numbers = ",".join(str(k * (2**61 - 1)) for k in range(1, 85001))
    return frame(('{"dict":[[{"text":"value"},{"set":[' + numbers + ']}]]}').encode())
""",
    "repeated": """
def evil(v):
    if not hasattr(v.get("value"), "shape"): return real(v)
    import torch
    whole = real({"value": [torch.randn(30, 30)]})
    n = struct.unpack(">I", whole[:4])[0]
    head = b'{"dict":[[{"text":"value"},{"list":[' + b",".join([b'{"tensor":"0"}'] * 200_000) + b']}]]}'
    return frame(head) + whole[4 + n:]
""",
    "tensor_for_a_mapping": "evil = lambda v: real(__import__('torch').zeros(3))\n",
    "list_for_a_mapping": "evil = lambda v: real(['value'])\n",
    "text_for_kinds": "evil = lambda v: real({'error': 'value', 'message': 3, 'where': []})\n",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name.startswith("list") else name for name in FORGED]
)
def test_a_forged_reply_costs_its_own_answer_only(room: Path, name: str) -> None:
    code = forging(FORGED[name] + "main.codec.encode = evil\n")
    (room / "ben_ex99-1.py").write_text(code, encoding="utf-8")
    ben = graded_beside(room)["ben"]
    # It forges from the second reply of a process on. The first reply of the second process is right: one point.
    assert (ben.score, ben.status) in ((1, "died"), (0, "died")), ben


def test_a_forged_output_is_cut(room: Path) -> None:
    code = "import sys\ndef weights(x):\n    sys.stdout.kept = '<' * 4_100_000\n    return x.softmax(-1)\n"
    (room / "ben_ex99-1.py").write_text(code, encoding="utf-8")
    done = graded_beside(room)
    assert (done["ben"].score, len(done["ben"].output)) == (FULL, 20_000)
    assert (room.parent / "out" / "results" / "ben_ex99-1.html").stat().st_size < 200_000


def test_what_hidden_checks_ask_is_not_shown(room: Path) -> None:
    code = (
        "seen = []\ndef weights(x):\n    print('ASKED', len(seen)); seen.append(x)\n    raise ValueError(f'at {x}')\n"
    )
    (room / "ben_ex99-1.py").write_text(code, encoding="utf-8")
    ben = graded_beside(room)["ben"]
    # The public checks ask until the first error: one question of each.
    assert ben.output == "ASKED 0\nASKED 1\n"
    assert [bool("tensor" in check["message"]) for check in ben.checks] == [True, True, False, False]
    written = [(room.parent / "out" / "results" / f"ben_ex99-1{end}").read_text() for end in (".html", ".json")]
    assert all("ASKED 2" not in text for text in written)
    assert "values:hidden: ValueError: at tensor" in (room.parent / "out" / "run.log").read_text()


def test_an_unreadable_folder_is_set_aside(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (room / "ben").mkdir()
    listed = os.scandir

    def refused(folder: Any) -> Any:
        if Path(folder).name == "ben":  # root may read every folder
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "scandir", refused)
    assert ("ben", "the folder cannot be read: Permission denied") in collect(room).skipped


def test_every_file_has_a_row_or_a_reason(room: Path) -> None:
    for name in ("ben_ex99-1.ipynb.txt", "cleo_ex99-1.tar.gz", "page.html", "noname", "dan/ex99-1", "eve/photo.png"):
        (room / name).parent.mkdir(exist_ok=True)
        (room / name).write_bytes(b"x")
    (room / "finn.zip").write_bytes(zipped())
    (room / "gil.zip").write_bytes(zipped(a__zip=zipped(b__zip=zipped(c__zip=zipped(ex__py=b"x")))))
    (room / "hana.zip").write_bytes(zipped(**{"b.zip": b"", "ex99-1.py": RIGHT.encode()}))
    found = collect(room)
    rows = {file.student: bool(file.refused) for file in found.submissions}
    assert rows == {"ada": False, "ben": True, "cleo": True, "dan": True, "hana": False, "zoe": False}
    aside = dict(found.skipped)
    assert set(aside) == {
        "page.html",
        "noname",
        "eve/photo.png",
        "finn.zip",
        "gil.zip/a.zip/b.zip/c.zip",
        "hana.zip/b.zip",
    }
    assert "in 3 others" in aside["gil.zip/a.zip/b.zip/c.zip"] and "holds no .ipynb" in aside["finn.zip"]


@pytest.mark.parametrize(
    ("best", "others"),
    [
        (
            "ex99-1.ipynb",
            ["ex99-1-Copy1.ipynb", "old/ex99-1.py", "zz_ex99-1.py", "ex99-1.ipynb.txt", "z/ex99-1 (7).py"],
        ),
        ("ex99-1 (10).py", ["ex99-1 (9).py", "ex99-1.py", "ex99-1-Copy3.py", "ex99-1 (11) old.py"]),
        ("ex99-1-3.py", ["ex99-1.py", "ex99-1-2.py"]),
        ("ben_ex99-1.py", ["my_ex99-1.py", "deep/ben_ex99-1 (2).py"]),
        ("a/b/ex99-1.py", ["ex99-1_final.py", "x/y/z/ex99-1.py"]),
        ("ex99-1.ipynb", ["ex99-1.py"]),
    ],
)
def test_the_exact_name_nearest_the_top_counts(tmp_path: Path, best: str, others: list[str]) -> None:
    for name in (best, *others):
        (tmp_path / "ben" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ben" / name).write_text("x = 1\n", encoding="utf-8")
    found = collect(tmp_path)
    assert [file.path for file in found.submissions] == [f"ben/{best}"]
    assert {why for _, why in found.skipped} == {f"replaced by ben/{best}"} and len(found.skipped) == len(others)


def test_a_file_is_read_once(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, opened = room / "ben_ex99-1.py", os.open
    place.write_text(WRONG, encoding="utf-8")

    def swap(path: Any, *arguments: Any, **more: Any) -> int:
        descriptor = opened(path, *arguments, **more)
        if Path(str(path)).name == place.name:  # another file is there as soon as this one has been opened
            place.unlink()
            place.write_text(RIGHT, encoding="utf-8")
        return descriptor

    monkeypatch.setattr(os, "open", swap)
    assert graded_beside(room)["ben"].score == 0
    monkeypatch.setattr(os, "open", opened)
    assert graded_beside(room)["ben"].score == FULL
    place.write_text(WRONG, encoding="utf-8")
    assert graded_beside(room)["ben"].score == 0


def test_names_that_look_alike_have_results_of_their_own(tmp_path: Path) -> None:
    long = "a" * 100
    names = ["ben", "ben\u200b", "ben\u200c", long + "b", long + "c", long, "a b", "a\nb", "a\udcffb", "a\udcfeb"]
    names += [shown_name("ben\u200b"), Gradebook(tmp_path).place("a b", "ex99-1").name.removesuffix("_ex99-1")]
    assert len({shown_name(name) for name in names}) == len(names)
    assert len({Gradebook(tmp_path).place(shown_name(name), "ex99-1") for name in names}) == len(names)
    assert shown_name("Ada Lovelace") == "Ada Lovelace"


def test_similarity_passes_over_what_it_cannot_read(room: Path) -> None:
    (room / "ben_ex77-1.py").write_text(RIGHT, encoding="utf-8")
    (room / "cleo_ex99-1.ipynb").write_text("{", encoding="utf-8")
    answers, skipped = read_answers(room)
    assert set(answers["ex99-1"]) == {"ada", "zoe"}
    assert [path for path, _ in skipped] == ["ben_ex77-1.py", "cleo_ex99-1.ipynb"]


def hungry() -> None:
    """Use all memory that there is."""
    parts = []
    while True:
        parts.append(bytearray(2**24))


def busy() -> None:
    """Use all time that there is."""
    while True:
        pass


def test_a_child_that_meets_a_bound_says_which_and_the_others_go_on() -> None:
    works = [
        ("memory", hungry), ("time", busy), ("ended", lambda: os._exit(3)), ("killed", lambda: os.kill(os.getpid(), 9)),
        ("large", lambda: "x" * 2**21), ("raised", lambda: 1 // 0), ("right", lambda: [1, "two"]),
    ]  # fmt: skip
    # three seconds, so that a slow machine has filled the memory before the time is up
    ended = dict(in_children(works, 2, Bounds(memory=2**25, cpu_seconds=3, result=2**20)))
    assert {key: one.how for key, one in ended.items()} == {
        "memory": "exhausted", "time": "exhausted", "ended": "exhausted", "killed": "failed", "large": "exhausted",
        "raised": "failed", "right": "done",
    }  # fmt: skip
    assert ended["right"].value == [1, "two"] and "memory" in ended["memory"].reason and "time" in ended["time"].reason
    assert ended["raised"].reason == "ZeroDivisionError: integer division or modulo by zero"


def test_children_have_users_of_their_own_for_their_sandboxes() -> None:
    works = [(i, lambda: [next(process._uids) for _ in range(3)]) for i in range(4)]
    drawn = [number for _, ended in in_children(works, 2) for number in ended.value]
    assert len(set(drawn)) == 12


def test_the_graders_own_work_costs_the_answer_no_time(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(data: bytes) -> Any:
        time.sleep(0.7)
        return decode(data)

    monkeypatch.setattr(remote, "decode", slowly)
    limits = SandboxLimits(call_seconds=2, total_seconds=2, restarts=0)
    with RemoteStudent(Submission((CodeCell(RIGHT),)), level="none", limits=limits) as student:
        for _ in range(3):
            assert student.call("weights", torch.zeros(1)).tolist() == [1.0]


def header(text: str) -> bytes:
    return struct.pack(">I", len(text)) + text.encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"list": [1' + "0" * 50 + "]}",
        '{"set": [36893488147419103232]}',
        '{"dict": [[{"list": []}, 1]]}',
        '{"set": [' + ",".join(map(str, range(10_001))) + "]}",
        '{"text": 5}',
        '{"list": {"text": "a"}}',
        '{"ref": [1, 2, 3]}',
    ],
)
def test_replies_that_take_long_to_read_are_refused(text: str) -> None:
    with pytest.raises(CodecError):
        decode(header(text))


def test_a_value_is_written_no_further_than_it_is_shown() -> None:
    big = torch.zeros(8, 8, 8, 8)
    loop = [[[[big] * 1000] * 1000] * 1000] * 1000  # 10^12 parts
    assert short_repr(loop, 60) == "[[[[float32 tensor [8, 8, 8, 8], float32 tensor [8, 8, 8,..."
    assert described(loop).endswith("...") and len(described(loop)) == 300
    for value in (1, "a'b", [1, (2,), {"a": {3}}], set(), {}, (), None, True, [1.5, float("inf")]):
        assert short_repr(value) == repr(value)
    assert short_repr("x" * 10**7, 20) == "'" + "x" * 16 + "..."
    assert described([torch.tensor(2.5), torch.zeros(2)]) == "[2.5, float32 tensor [2]]"
