"""The sandbox: what its levels promise, what becomes of an answer that dies, and who is not to blame if it breaks."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from annotated_grader.exercise.catalogue import exercises_folder
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.exercise.submission import CodeCell, Submission
from annotated_grader.instructor.remote import RemoteStudent
from annotated_grader.sandbox import isolation, process, seccomp
from annotated_grader.sandbox.interpreter import AnswerError
from annotated_grader.sandbox.isolation import Availability, NotIsolated
from annotated_grader.sandbox.process import GraderBroken, Level, OutOfTime, Process, SandboxLimits

pytestmark = pytest.mark.process


def needs(level: Level) -> None:
    """Skip, with the reason, where a level does not work."""
    if not (found := isolation.available(level)).works:
        pytest.skip(f"{level} does not work here: {found.reason}")


def answer(*cells: str) -> Submission:
    """These cells."""
    return Submission(tuple(CodeCell(code, f"cell {i}") for i, code in enumerate(cells, 1)))


WITH_LIBRARY = """
import os, tempfile
from annotated.model.masks import causal_mask
from annotated_grader import check
check("ex05-1")
def opened(path):
    try: return open(path).read()
    except OSError as error: return type(error).__name__
def imported(name):
    try: return __import__(name).__name__
    except ImportError as error: return "ImportError"
def place():
    return tempfile.gettempdir()
def scratch():
    with tempfile.TemporaryFile("w+") as file:
        file.write("kept"); file.seek(0)
        return file.read()
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_the_library_can_be_had_without_its_grading(level: Level) -> None:
    needs(level)
    grader = Path(process.__file__).parents[1]
    with RemoteStudent(answer(WITH_LIBRARY), library=True, level=level) as student:
        assert not student.problems
        assert torch.equal(student.call("causal_mask", 3).reshape(3, 3), torch.ones(3, 3).tril().bool())
        runner, readme = grader / "exercise" / "run.py", exercises_folder() / "README.md"
        for place in (runner, readme, Path("/etc/passwd")):
            assert student.call("opened", str(place)) in ("FileNotFoundError", "PermissionError")
        for inside in ("exercise/run.py", "exercise/exercise.py"):
            assert student.call("opened", f"/library/annotated_grader/{inside}") in (
                "FileNotFoundError",
                "PermissionError",
            )
        assert student.call("imported", "annotated_grader.exercise.run") == "ImportError"
        assert student.call("imported", "annotated.doctor.mutants") == "ImportError"
        assert student.call("scratch") == "kept"
        scratch = Path(student.call("place"))
    assert level == "bubblewrap" or not scratch.exists()


MODULE = """
import torch
class Scale(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(1.0, n + 1))
    def forward(self, x):
        return x * self.weight, x.sum()
"""


def test_a_sandboxed_module_behaves_as_a_local_one() -> None:
    needs("bubblewrap")
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with RemoteStudent(answer(MODULE)) as remote:
        seen = []
        for student in (remote, LocalStudent.of_code(MODULE)):
            scale = student.construct("Scale", 2)
            scale.load({"weight": torch.tensor([10.0, 20.0])})
            (by_input,), by_parameter = scale.gradient(x, wrt=0, output=0)
            seen.append([scale(x)[0], by_input, by_parameter["weight"]])
    # d(sum of x w)/dx is w in each row, and d/dw the sum of x's columns.
    expected = [[[10.0, 40.0], [30.0, 80.0]], [[10.0, 20.0], [10.0, 20.0]], [4.0, 6.0]]
    assert [[part.tolist() for part in parts] for parts in seen] == [expected, expected]


def test_an_answer_that_dies_is_started_again_a_few_times_without_the_cell_that_hangs() -> None:
    needs("bubblewrap")
    limits = SandboxLimits(call_seconds=3, restarts=1)
    code = ("import os\ndef good(): return 1\ndef bad(): os._exit(0)", "while True: pass", "def late(): return 2")
    with RemoteStudent(answer(*code), limits=limits) as student:
        assert (student.status, student.status_of_cells) == ("ok", "timeout"), "a cell costs no restart"
        assert student.call("late") == 2  # the second process ran the cells but for the one that hung
        with pytest.raises(AnswerError, match="the process ended"):
            student.call("bad")
        assert student.call("good") == 1
        with pytest.raises(AnswerError, match="the process ended"):
            student.call("bad")
        with pytest.raises(AnswerError, match="the process ended"):
            student.call("good")  # no more tries
    assert student.problems["cell 2"].kinds == ("TimeoutError",)


def test_a_name_whose_cell_failed_says_why_and_lines_count_through_all_cells() -> None:
    needs("bubblewrap")
    code = ("a = 1\n", "f = 1 / 0\ndef k(): return 1", "def g(:\n    pass", "def h():\n    return a + None")
    with RemoteStudent(answer(*code)) as student:
        with pytest.raises(AnswerError, match="ZeroDivisionError") as caught:
            student.call("f")
        assert caught.value.where == "line 2: f = 1 / 0"
        with pytest.raises(AnswerError, match="SyntaxError"):
            student.call("g")
        with pytest.raises(AnswerError, match="TypeError") as caught:
            student.call("h")
        assert caught.value.where == "line 7: return a + None"
        assert student.value("a") == 1 and student.call("k") == 1


def test_a_sandbox_that_does_not_start_is_the_graders_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    without_packages = replace(process.sandbox_paths(), sites=())
    monkeypatch.setattr(process, "sandbox_paths", lambda library: without_packages)
    with pytest.raises(GraderBroken, match="No module named"):
        Process("none", SandboxLimits())


def test_a_sandbox_with_an_open_door_is_refused(tmp_path: Path) -> None:
    needs("landlock")
    with pytest.raises(GraderBroken, match=re.escape(os.__file__)):
        Process("landlock", SandboxLimits(), hidden=(os.__file__,))


def test_without_isolation_strangers_code_needs_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "available", lambda level: Availability(level, False, "forbidden here"))
    with pytest.raises(NotIsolated, match="bubblewrap: forbidden here.*--trust"):
        isolation.best_level()
    assert isolation.best_level(trust=True) == "none"


@pytest.mark.parametrize("starved", [False, True])
def test_the_clock_stands_while_others_have_the_processor(starved: bool) -> None:
    class Silent:
        """A process that says nothing, and was kept from computing all the time, or never."""

        waited = 0.0

        def delayed(self) -> float:
            return time.monotonic() if starved else 0.0

        def count_files(self) -> None:
            """It has none."""

    silent, (reading, writing) = Silent(), os.pipe()
    start = time.monotonic()
    with pytest.raises(OutOfTime):
        process._Clock(silent, 0.05).wait([reading], [])  # type: ignore[arg-type]
    took = time.monotonic() - start
    os.close(reading)
    os.close(writing)
    # Its 0.05 seconds; or where it never had a processor, ten times as long, for nothing is waited for without end.
    assert (took >= 0.49 and silent.waited < 0.02) if starved else silent.waited >= 0.045


# The same doors in C's numbers: F_SETOWN 8, F_SETSIG 10, F_SETOWN_EX 15, F_SETLEASE 1024, F_NOTIFY 1026.
BY_OWNER = """
import ctypes, errno, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def refused(call, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, call)(*arguments)
    return result == -1 and ctypes.get_errno() == errno.EPERM
reader, writer = os.pipe()
def doors(grader):
    owner = ctypes.create_string_buffer(struct.pack("ii", 1, grader))
    number = ctypes.byref(ctypes.c_int(grader))
    requests = [("fcntl", reader, 8, grader), ("fcntl", reader, 10, 9), ("fcntl", reader, 15, owner),
                ("fcntl", reader, 1024, 0), ("fcntl", reader, 1026, 1), ("ioctl", reader, 0x8901, number),
                ("ioctl", reader, 0x8902, number), ("prctl", 1, 0, 0, 0, 0), ("inotify_init1", 0)]
    return [refused(*request) for request in requests]
def what_is_needed():
    flags = fcntl.fcntl(reader, fcntl.F_GETFL)
    fcntl.fcntl(reader, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    name = ctypes.create_string_buffer(16)
    return [fcntl.fcntl(reader, fcntl.F_GETFL) & os.O_NONBLOCK != 0, libc.prctl(16, name, 0, 0, 0)]
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_no_signal_leaves_by_the_owner_of_a_file_and_no_answer_outlives_its_grader(level: Level) -> None:
    needs(level)
    with RemoteStudent(answer(BY_OWNER), level=level) as student:
        assert student.call("doors", os.getpid()) == [True] * 9
        assert student.call("what_is_needed") == [True, 0]


FOLDERS = """
import itertools, os
def some(count):
    for i in range(count): os.mkdir(f"/tmp/{i}")
    return sum(name.isdigit() for name in os.listdir("/tmp"))  # others may write there too
def endless():
    for i in itertools.count(): os.mkdir(f"/tmp/more{i}")
"""


def test_folders_without_end_are_stopped_and_a_few_are_not() -> None:
    needs("bubblewrap")
    with RemoteStudent(answer(FOLDERS), limits=SandboxLimits(restarts=0, files=2000)) as student:
        assert student.call("some", 1500) == 1500
        with pytest.raises(AnswerError, match="it made more than 2,000 files and folders"):
            student.call("endless")


@pytest.mark.parametrize(
    ("machine", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_of_system_calls_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip(f"no {header} here")
    text = Path(header).read_text(encoding="utf-8")
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", text)}
    column = 1 if machine == "x86_64" else 2
    table = seccomp._REFUSED + seccomp._OWNERS_AND_MODES
    ours = {
        part.split()[0]: int(part.split()[column])
        for line in table.splitlines()
        for part in line.split("|")
        if part.strip()
    }
    calls = (line.split() for line in seccomp._REFUSED_REQUESTS.strip().splitlines()[::2])
    ours |= {call[0]: int(call[column]) for call in calls}
    ours |= {"clone": seccomp._CLONE[machine], "clone3": seccomp._CLONE3, "prlimit64": seccomp._PRLIMIT[machine]}
    common = {name: number for name, number in ours.items() if number and name in known}
    assert len(common) > 60
    assert common == {name: known[name] for name in common}
