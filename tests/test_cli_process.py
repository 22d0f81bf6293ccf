"""Commands as processes: what they import, Ctrl-C at any moment, streams that are closed or full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

posix = pytest.mark.skipif(os.name != "posix", reason="signals and streams of other systems")
PROGRAM = [sys.executable, "-m", "annotated"]
BEGIN = "import sys; from annotated.cli import main; print(flush=True); sys.exit(main())"


def imported(code: str) -> set[str]:
    """The modules that a Python of its own has imported when this code is done."""
    code += "\nimport sys; print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_library_costs_what_torch_costs() -> None:
    modules = imported("import annotated; annotated.Transformer, annotated.beam_search, annotated.model.masks")
    assert "torch" in modules
    assert not modules & {"torch._dynamo", "torch._inductor", "sympy", "pandas", "altair", "sacrebleu"}


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["exercise", "--help"], ["--version"], []])
def test_help_needs_no_torch(words: list[str]) -> None:
    modules = imported(f"from annotated.cli import main; main({words})")
    assert "annotated.cli.program" in modules
    assert not modules & {"torch", "numpy", "pandas", "rich"}


@posix
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(2, 8))])
def test_an_interrupt_at_any_moment_is_one_line(seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{seed} {time.time_ns()}")
    words = chance.choice([["translate"], ["data", "prepare", "run"], ["evaluate"], ["train", "run"]])
    delay = chance.uniform(0.05, 2.0)
    command = [sys.executable, "-c", BEGIN, *words]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, cwd=tmp_path) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()  # main is called now
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
    last = said.splitlines()[-1:]
    assert process.returncode == 130, (words, delay, said)
    assert last == ["annotated: interrupted"] and "Traceback" not in said and "Error" not in said, (words, delay, said)


@posix
@pytest.mark.parametrize(
    ("words", "stream", "message"),
    [
        (["translate"], "<&-", "standard input is closed"),
        (["--help"], ">&-", "standard output is closed"),
        (["--help"], ">/dev/full", "No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full_are_named(words: list[str], stream: str, message: str) -> None:
    line = " ".join([*PROGRAM, *words, stream])
    done = subprocess.run(line, shell=True, stderr=-1, stdin=subprocess.DEVNULL, text=True)
    assert done.returncode == 1 and done.stderr == f"annotated: {message}\n"


@posix
def test_a_reader_of_the_help_may_leave() -> None:
    with subprocess.Popen([*PROGRAM, "--help"], stdout=-1, stderr=-1) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


STUCK = """
import hashlib
from annotated.cli.interrupts import CommandInterrupts
with CommandInterrupts(until_exit=True):
    print(flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes of compiled code that does not look for signals
raise SystemExit(130)
"""


@posix
def test_compiled_code_that_does_not_listen_is_interrupted_too() -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=-1, stderr=-1) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"annotated: interrupted\n"
    assert process.returncode == 130


DROPS = """
import time
from annotated.cli import interrupts
interrupts._PATIENCE = interrupts._SWALLOWED = 0.2
with interrupts.CommandInterrupts(until_exit=True):
    try:
        print(flush=True)
        time.sleep(600)
    except BaseException:
        print("dropped", flush=True)
    time.sleep(600)
raise SystemExit(130)
"""


@posix
def test_an_interrupt_that_a_library_drops_is_sent_again() -> None:
    with subprocess.Popen([sys.executable, "-c", DROPS], stdout=-1, stderr=-1) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"dropped\n"
        assert process.stderr.read() == b"annotated: interrupted\n"
    assert process.returncode == 130
