"""Doors that the sandbox shuts: what works all the same, and what is said where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.run import CheckResult, ExerciseResult, Failure, missing_modules
from annotated_grader.exercise.submission import read
from annotated_grader.instructor.remote import grade_code
from annotated_grader.sandbox import isolation, lending
from annotated_grader.sandbox.interpreter import AnswerError, Interpreter

pytestmark = pytest.mark.process
BEFORE = f"{find('ex05-1').solution_code}\nimport asyncio, os, torch\nright = attention\n"
WRONG = find("ex05-1").solution_code.replace("math.sqrt(q.size(-1))", "1.0")
WORKS = {
    "an event loop": """
async def soon(*args):
    await asyncio.sleep(0)
    return await asyncio.to_thread(right, *args)
def attention(q, k, v, mask=None):
    return asyncio.run(soon(q, k, v, mask))
""",
    "workers of a loader": """
rows = list(range(4))
named = torch.utils.data.DataLoader(rows, batch_size=2, num_workers=2, prefetch_factor=2, persistent_workers=True)
placed = torch.utils.data.DataLoader(rows, 2, False, None, None, 1)
def attention(q, k, v, mask=None):
    assert [batch.tolist() for batch in named] == [batch.tolist() for batch in placed] == [[0, 1], [2, 3]]
    return right(q, k, v, mask)
""",
    "a command at the top": "import subprocess\nsubprocess.run(['nvidia-smi'])\n",
}
SHUT = {
    "import subprocess as s\ns.run(['ls'])": "PermissionError: the grader starts no other processes",
    "import multiprocessing\nmultiprocessing.Pool(1)": "PermissionError: the grader starts no other processes",
    "os.fork()": "PermissionError: the grader starts no other processes",
    "import urllib.request\nurllib.request.urlopen('http://localhost')": "URLError: the grader has no network",
    "open('missing.txt')": "FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'",
}


@pytest.fixture(scope="module", autouse=True)
def lent() -> Iterator[None]:
    """Torch is loaded once for all answers here, where that can be done."""
    with lending.started_once("bubblewrap") if isolation.available("bubblewrap").works else nullcontext():
        yield


def graded(code: str) -> tuple[int, str, set[str], tuple[str, ...]]:
    """Points, status, the messages of lost checks, and notes."""
    try:
        level = isolation.best_level()
    except isolation.NotIsolated as error:
        pytest.skip(str(error))
    result, status, _ = grade_code(find("ex05-1"), read((BEFORE + code).encode(), "a.py"), None, level)
    messages = {check.failure.message for check in result.checks if check.failure}
    return result.score, status, messages, result.notes


@pytest.mark.parametrize("code", WORKS.values(), ids=list(WORKS))
def test_what_can_be_done_otherwise_works(code: str) -> None:
    assert graded(code) == (10, "ok", set(), ())


def test_what_cannot_is_said() -> None:
    tries = [f"def try_{number}():\n    {code.replace(chr(10), '; ')}" for number, code in enumerate(SHUT)]
    tries.append("def attention(q, k, v, mask=None):\n    errors = []")
    for number in range(len(SHUT)):
        tries.append(f"    try: try_{number}()\n    except OSError as error: errors.append(error)")
    for number, said in enumerate(SHUT.values()):
        score, _, messages, _ = graded("\n".join([*tries, f"    raise errors[{number}]"]))
        assert (score, messages) == (0, {said})


def test_a_package_that_is_not_here_is_nobodys_mistake() -> None:
    code = "from no_such_package.parts import scale\ndef attention(*args, **kwargs):\n    return scale(*args)\n"
    score, status, _, notes = graded(code)
    said = "`no_such_package` is not available to the grader; without it the answer earns 0 of 10"
    assert (score, status, notes[0]) == (0, "not_available", said)
    below = WRONG.replace("def attention", "check()\ndef attention")  # earns something, and was not what was checked
    assert graded(f"{code}{below}")[1] == "not_available"
    assert graded("try:\n    import no_such_package\nexcept ImportError:\n    pass\n")[:2] == (10, "ok")
    assert graded("def attention(*args, **kwargs):\n    import annotated\n")[1] == "ok"


def test_a_hidden_check_names_no_module() -> None:
    exercise = find("ex05-1")
    failure = Failure("ModuleNotFoundError: No module named 'v0_7315'", error=True)
    named = [
        missing_modules(ExerciseResult(exercise, (CheckResult(exercise.checks[0], hidden, failure),)), {})
        for hidden in (False, True)
    ]
    assert named == [["v0_7315"], []]


def test_on_a_learners_own_machine_no_door_is_shut() -> None:
    interpreter = Interpreter({})
    interpreter.load("import socket\ndef ask():\n    socket.create_connection(('127.0.0.1', 1), timeout=5)\n")
    with pytest.raises(AnswerError) as caught:
        interpreter.perform({"op": "call", "name": "ask"})
    assert "the grader" not in str(caught.value) and "ConnectionRefusedError" in caught.value.kinds
