"""Submissions that try to cheat, to break out, or to break the grader; and a class in which they sit among honest ones.

`python -m tests.grader.sandbox.attacks` grades them and prints what came of each; with `landlock`, at the weaker
level.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from annotated_grader.sandbox.process import SandboxLimits

EXERCISE = "ex99-1"
FULL = 7
LIMITS = SandboxLimits(call_seconds=3, total_seconds=20, restarts=0, memory=3 * 2**29)
SECRET = "secret-that-no-answer-may-read"

PRELUDE = '''
import os, struct, sys, torch

def attempt(what, action):
    """Say whether something that must not work works."""
    try:
        action()
        print("REACHED", what)
    except BaseException as error:
        print("stopped", what, type(error).__name__)

def names(folder):
    try: return sorted(os.listdir(folder))
    except OSError: return []

def honest(x):
    return torch.softmax(x, -1)

def forging(make):
    """From now on a reply with a tensor is `make(real, reply)`, bytes, with the worker's own encoder."""
    codec = sys.modules["__main__"].codec
    real = codec.encode
    codec.encode = lambda reply: make(real, reply) if hasattr(reply.get("value"), "shape") else real(reply)

def value_of(text, rest=b""):
    """The bytes of a reply whose value is written like this."""
    header = ('{"dict": [[{"text": "value"}, ' + text + "]]}").encode()
    return struct.pack(">I", len(header)) + header + rest

'''

HONEST = "def weights(x):\n    return x.softmax(-1)\n"

CHECKS = '''
import torch
from annotated_grader import expect, graded

@graded(points=3, hidden=2, levels=2)
def values(student, case):
    """The softmax over the last axis."""
    x = case.normal(case.between(2, 3), 4)
    expect.close(student.call("weights", x), torch.softmax(x, -1), "the weights", x=x)

@graded(points=1, hidden=1, levels=1)
def sums(student, case):
    """Each row sums to one."""
    x = case.normal(2, 5)
    got = expect.shape(student.call("weights", x), x.shape, "the weights", x=x)
    expect.close(got.sum(-1), torch.ones(2), "the sums", x=x)
'''

MASTER = """---
exercise:
  id: ex99-1
  title: A softmax
  line: Give back what is asked for
  chapter: attention/scaled_dot_product
  paper: ["3.2.1"]
  kind: write
  minutes: 5
  answers: [weights]
  hints: [one, two, three]
  quiz: []
---
Write it.

```{code-cell} ipython3
:tags: [answer]
def weights(x):
    ### BEGIN SOLUTION
    return x.softmax(-1)  # THE-SOLUTION
    ### END SOLUTION
```
"""


@dataclass(frozen=True)
class Attack:
    """A submission's code, what it tries, and the points that it has earned all the same."""

    name: str
    tries: str
    code: str
    score: int = 0
    weaker: bool = True
    """Whether the weaker level, landlock, claims to stop it too."""


def _attacks() -> list[Attack]:
    """Those of `attacks.txt`, which says how it is laid out."""
    text = Path(__file__).with_name("attacks.txt").read_text(encoding="utf-8")
    made = []
    for part in re.split(r"^### ", text, flags=re.M)[1:]:
        head, _, code = part.partition("\n")
        name, tries, *rest = (field.strip() for field in head.split("|"))
        score = next((int(field) for field in rest if field.isdigit()), 0)
        code = code.replace("<100,000 minus signs>", "-" * 100_000)
        made.append(Attack(name, tries, code, score, "bubblewrap" not in rest))
    return made


ATTACKS = _attacks()

FILES = {
    "not_json": "a notebook that is not JSON",
    "half_written": "a half-written notebook",
    "wrong_form": "JSON that is no notebook",
    "binary": "bytes that are no text",
    "empty": "an empty file",
    "deep_json": "JSON nested without end",
    "link": "a symbolic link to the checks",
    "pipe": "a pipe that nobody writes to",
    "zip_path": "an archive with a path that leads outside",
    "zip_link": "an archive with a symbolic link",
    "zip_bomb": "an archive that unpacks to more than it may",
    "no_zip": "an archive that is none",
    "zip_damaged": "an archive that was damaged on its way",
    "zip_bzip2": "an archive that says 1,000 bytes, and holds a gigabyte, by bzip2",
    "zip_encrypted": "an archive with a password",
    "sparse": "a file of 8 GB, all holes",
    "nul": "a file with a NUL in it",
    "utf_16": "a file in UTF-16 without a mark",
    "=formula()": "a student's name that is a formula",
}
"""Attacks that lie in the file itself: the student's name and what is tried. None of them has an answer."""


def make_exercise(folder: Path) -> Path:
    """A small exercise, and the folder to be named in ANNOTATED_EXERCISES."""
    place = folder / "ex99_1_softmax"
    place.mkdir(parents=True)
    (place / "exercise.md").write_text(MASTER, encoding="utf-8")
    (place / "checks.py").write_text(CHECKS, encoding="utf-8")
    (place / "bank.yaml").write_text("[]\n", encoding="utf-8")
    return folder


def make_class(folder: Path, known: dict[str, object]) -> dict[str, int]:
    """Write all attacks into a folder, an honest submission after every eighth; the scores that they must get."""
    folder.mkdir(parents=True)
    facts = "".join(f"{name} = {value!r}\n" for name, value in known.items())
    expected = {}
    for number, attack in enumerate(ATTACKS):
        # Of a file only what the answer needs is run: an attack that stands beside its answer must not be left out.
        whole = f"exec({PRELUDE + facts + attack.code!r})\n"
        (folder / f"{attack.name}_{EXERCISE}.py").write_text(whole, encoding="utf-8")
        expected[attack.name] = attack.score
        if number % 8 == 7:
            name = f"{attack.name}+honest"
            (folder / f"{name}_{EXERCISE}.py").write_text(HONEST, encoding="utf-8")
            expected[name] = FULL
    _make_files(folder, Path(str(known["CHECKS_FILE"])))
    return expected | {name: 0 for name in FILES}


def _make_files(folder: Path, checks: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "def weights(x): return x.softmax(-1)"}
    whole = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    notebooks = {
        "not_json": b"this is no notebook", "half_written": whole[: len(whole) * 2 // 3].encode(), "empty": b"",
        "wrong_form": b"[1, 2]", "binary": bytes(range(128, 256)), "deep_json": b"[" * 100_000,
        "=formula()": b"{}",
    }  # fmt: skip
    for name, content in notebooks.items():
        (folder / f"{name}_{EXERCISE}.ipynb").write_bytes(content)
    (folder / f"link_{EXERCISE}.py").symlink_to(checks)
    os.mkfifo(folder / f"pipe_{EXERCISE}.py")
    (folder / f"no_zip_{EXERCISE}.zip").write_bytes(b"PK\x03\x04 nothing")
    (folder / f"nul_{EXERCISE}.py").write_bytes(HONEST.encode() + b"\0\n")
    (folder / f"utf_16_{EXERCISE}.py").write_bytes(HONEST.encode("utf-16-be"))
    with (folder / f"sparse_{EXERCISE}.py").open("wb") as sparse:
        sparse.truncate(2**33)
    _make_archives(folder)


def _make_archives(folder: Path) -> None:
    members = {
        "zip_path": zipfile.ZipInfo(f"../../{EXERCISE}.py"), "zip_link": zipfile.ZipInfo(f"{EXERCISE}.py"),
        "zip_bomb": zipfile.ZipInfo(f"{EXERCISE}.py"),
    }  # fmt: skip
    members["zip_link"].external_attr = (stat.S_IFLNK | 0o777) << 16
    for name, member in members.items():
        with zipfile.ZipFile(folder / f"{name}_{EXERCISE}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, bytes(2**27) if name == "zip_bomb" else "/etc/passwd")
    for name, kind, content in (
        ("zip_damaged", zipfile.ZIP_DEFLATED, os.urandom(50_000).hex().encode()),
        ("zip_bzip2", zipfile.ZIP_BZIP2, bytes(2**30)),
        ("zip_encrypted", zipfile.ZIP_STORED, HONEST.encode()),
    ):
        place = folder / f"{name}_{EXERCISE}.zip"
        with zipfile.ZipFile(place, "w", kind) as archive:
            archive.writestr(f"{EXERCISE}.py", content)
        place.write_bytes(_spoiled(name, bytearray(place.read_bytes())))


def _spoiled(name: str, archive: bytearray) -> bytes:
    """An archive of one member with the fault that its name says; numbers are offsets in the two headers of a zip."""
    directory = archive.index(b"PK\x01\x02")
    if name == "zip_damaged":
        archive[10_000:10_100] = bytes(100)
    elif name == "zip_bzip2":
        for place in (22, directory + 24):
            archive[place : place + 4] = (1000).to_bytes(4, "little")
    else:
        for place in (6, directory + 8):
            archive[place] |= 1
    return bytes(archive)


def table(results: dict[str, dict[str, object]]) -> str:
    """What was tried, what came of it, and the score, in Markdown; `results` are the JSON results by student."""
    rows = ["| attack | what happened | score |", "|---|---|---:|"]
    tries = {attack.name: attack.tries for attack in ATTACKS} | FILES
    for name, what in tries.items():
        result = results[name]
        checks: list[dict[str, str]] = result["checks"]  # type: ignore[assignment]
        message = result["note"] or next((check["message"] for check in checks if check["message"]), "")
        stopped = [line for line in str(result["output"]).splitlines() if line.startswith("stopped")]
        happened = str(message) or (f"{len(stopped)} attempts refused" if stopped else "nothing")
        happened = happened[:110].replace("|", "/")
        rows.append(f"| {what} | {result['status']}: {happened} | {result['score']}/{result['maximum']} |")
    return "\n".join(rows)


def main() -> None:
    """Grade the attacks in a temporary folder, and print the table."""
    from annotated_grader.exercise import catalogue
    from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
    from annotated_grader.sandbox.isolation import best_level
    from annotated_grader.sandbox.process import Level

    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        top = Path(name)
        os.environ[catalogue.PLACE] = str(make_exercise(top / "exercises"))
        make_class(top / "class", facts_for(top, server.getsockname()[1]))
        level: Level = "landlock" if "landlock" in sys.argv else best_level()
        options = GradingOptions(level, salt=SECRET, limits=LIMITS)
        graded = grade_folder(top / "class", top / "out", options)
        print(f"isolation: {level}; {len(graded.graded)} submissions in {graded.seconds:.0f} s\n")
        print(table({one.student: one.__dict__ for one in graded.graded}))


def facts_for(top: Path, port: int) -> dict[str, object]:
    """What the attacks are told, so that nothing is left to luck: where everything lies."""
    import annotated_grader

    return {
        "PORT": port, "GRADER": os.getpid(), "SECRET": SECRET,
        "OUTSIDE": str(top / "outside"), "SALT": str(top / "out" / "salt.txt"),
        "CHECKS_FILE": str(top / "exercises" / "ex99_1_softmax" / "checks.py"),
        "CLASSMATE": str(top / "class" / f"daemon+honest_{EXERCISE}.py"),
        "GRADING": str(Path(annotated_grader.__file__).parent),
    }  # fmt: skip


if __name__ == "__main__":
    main()
