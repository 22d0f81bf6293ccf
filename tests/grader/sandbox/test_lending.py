"""Copies of a template: each is as closed, and as empty of what others did, as a worker that starts from nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from annotated_grader.exercise.submission import CodeCell, Submission
from annotated_grader.instructor.remote import RemoteStudent
from annotated_grader.sandbox import lending
from annotated_grader.sandbox.process import Process, SandboxLimits
from tests.grader.sandbox.test_process import needs

pytestmark = [pytest.mark.slow, pytest.mark.process]

LOOK = """
import os, random, sys
import numpy

def tried(look):
    try: return look()
    except OSError as error: return type(error).__name__

def is_open(file):
    try: os.fstat(file)
    except OSError: return False
    return True

def status():
    lines = open("/proc/self/status").read().splitlines()
    kinds = ("CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNew", "Sec", "Sig")
    return sorted(line for line in lines if line.startswith(kinds))

def look():
    folders = {place: sorted(os.listdir(place)) for place in ("/", "/tmp", "/grader", "/dev", "/dev/shm")}
    return {
        "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()), "folders": folders,
        "number": os.getpid(), "is root": os.getuid() == 0, "groups": os.getgroups(), "status": status(),
        "files": [number for number in range(256) if is_open(number)], "umask": os.umask(0o22), "place": os.getcwd(),
        "environment": dict(os.environ), "path": sys.path, "finders": [type(f).__name__ for f in sys.meta_path],
        "modules": sorted(set(sys.modules) - {"template"}), "limits": tried(lambda: open("/proc/self/limits").read()),
        "first": [tried(lambda: str(open(f"/proc/1/{name}", "rb").read(1))) for name in ("mem", "environ")],
        "mounts": sorted(line.split()[4] for line in open("/proc/self/mountinfo")),
    }

def is_copy():
    return "template" in sys.orig_argv

def leave():
    random.seed(1); open("/tmp/left", "w").write("x"); os.left = True; return sorted(os.listdir("/tmp"))

def draw():
    return [hasattr(os, "left"), random.random(), float(numpy.random.rand())]

def library():
    try:
        import annotated.model.masks
    except ImportError as error:
        return str(error)
    return "there"
"""


@pytest.fixture
def bubblewrap() -> None:
    needs("bubblewrap")


@pytest.fixture
def lent(bubblewrap: None) -> Iterator[int | None]:
    """The template's number."""
    with lending.started_once("bubblewrap") as template:
        yield template


def asked(*names: str, library: bool = False) -> list[Any]:
    """What an answer says when these functions of it are called."""
    with RemoteStudent(Submission((CodeCell(LOOK),)), ["look"], library=library) as student:
        return [student.call(name) for name in names]


def test_a_copy_is_in_every_way_like_a_worker_that_started_there(bubblewrap: None) -> None:
    from_nothing, started = asked("look", "is_copy")
    with lending.started_once("bubblewrap"):
        copy, lent = asked("look", "is_copy")
    assert (started, lent) == (False, True)
    for said in (from_nothing, copy):  # the bound of the user's threads is above those that run now
        said["limits"] = [line for line in said["limits"].splitlines() if "Max processes" not in line]
    assert copy["processes"] == ["1", "2"] and copy["limits"]
    del from_nothing["first"]  # of bubblewrap's own first process a grader who is not root shows more
    assert copy.pop("first") == ["PermissionError", "PermissionError"]
    assert {key: copy[key] for key in copy if copy[key] != from_nothing[key]} == {}


def test_copies_know_nothing_of_each_other(lent: None) -> None:
    (there,) = asked("leave")
    assert "left" in there
    empty = [name for name in there if name != "left"]  # of a checkout below /tmp its first folder is there
    (first, mine), (second, others) = asked("draw", "look"), asked("draw", "look")
    assert not first[0] and not second[0]
    assert first[1] != second[1] and first[2] != second[2]
    assert mine["folders"]["/tmp"] == others["folders"]["/tmp"] == empty


def test_each_copy_is_told_whether_it_may_have_the_library(lent: None) -> None:
    refused, had, again = asked("library"), asked("library", library=True), asked("library")
    assert had == ["there"]
    assert refused == again and "graded without the library" in refused[0]


def test_copies_that_run_at_once_do_not_see_each_other(lent: None) -> None:
    with Process("bubblewrap", SandboxLimits()) as one, Process("bubblewrap", SandboxLimits()) as two:
        assert {one.hello["powers"][name] for name in ("fork", "network", "root")} == {False}
        spaces = [
            {os.readlink(f"/proc/{process._worker}/ns/{name}") for name in ("pid", "mnt", "ipc", "net", "uts")}
            for process in (one, two)
        ]
        assert len(spaces[0]) == 5 and not spaces[0] & spaces[1]
        workers = [one._worker, two._worker]
    assert not [number for number in workers if os.path.exists(f"/proc/{number}")]


def test_nothing_is_left_when_the_block_ends(bubblewrap: None) -> None:
    with lending.started_once("bubblewrap"):
        process = Process("bubblewrap", SandboxLimits())
        worker = process._worker
        template = lending._lenders[-1]
    assert not lending.is_lending() and template.fileno() == -1
    process.close()
    assert not os.path.exists(f"/proc/{worker}")


def test_without_a_template_that_lives_a_worker_starts_from_nothing(lent: int) -> None:
    os.kill(lent, signal.SIGKILL)
    os.waitid(os.P_PID, lent, os.WEXITED | os.WNOWAIT)
    assert asked("is_copy") == [False]
