"""Bad moments: commands that are interrupted, hung up or not listened to leave the user's files and no half of theirs.

Each command is a process, and each process costs seconds: with the faults (`make full-run`), not among the tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from annotated.loading import load
from annotated.runs import list_checkpoints
from annotated.runs.checkpoint import check_checkpoint

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.spread,
    pytest.mark.skipif(os.name != "posix", reason="signals and terminals of other systems"),
]

SMALL = "--model.d-model=16 --model.d-ff=24 --model.num-heads=2 --model.d-k=8 --model.d-v=8".split()
TRAIN = ["train", "out", "--data.train=mine/text.tsv", "--data.valid=mine/text.tsv", *SMALL]
COMMANDS = {
    "data classroom": ["data", "classroom", "out", "--classroom-pairs", "20000"],
    "data prepare": ["data", "prepare", "out", "--data.train=mine/text.tsv", "--data.valid=mine/text.tsv"],
    "data show": ["data", "show", "mine/text.tsv", "--pairs", "100000"],
    "train": [*TRAIN, "--training.updates=100000", "--training.checkpoint-every=3"],
    "evaluate": ["evaluate", "mine/model", "--corpus", "mine/text.tsv", "--output", "out"],
    "export marian": ["export", "marian", "mine/model", "out"],
    "export ctranslate2": ["export", "ctranslate2", "mine/model", "out"],
    "info": ["info", "mine/model"],
    "doctor": ["doctor", "mine/model", "--json", "out"],
    "exercise list": ["exercise", "list"],
}
BEGIN = "import sys; from annotated.cli import main; open('ready', 'w').close(); sys.exit(main())"
"""The command, with a file that says when Python itself has begun: an interrupt before that is Python's own affair."""
PRINTS = {name: COMMANDS[name] for name in ("data show", "info", "exercise list")}
WHOLE = {"export marian": "model.safetensors", "export ctranslate2": "model.bin"}
"""What must be there if the folder is."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder to work in, with a folder of the user's."""
    mine = tmp_path / "mine"
    load("classroom").save_pretrained(mine / "model")
    lines = [f"sentence {n % 97} of {n % 31} words\tSatz {n % 97} von {n % 31} Worten\n" for n in range(3000)]
    (mine / "text.tsv").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def start(words: list[str], place: Path, **streams: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent), "OMP_NUM_THREADS": "1"}
    program = [sys.executable, "-c", BEGIN, *words]
    return subprocess.Popen(program, cwd=place, env=environment, stdin=subprocess.DEVNULL, **streams)  # type: ignore[call-overload]


def stderr_of(process: subprocess.Popen[bytes]) -> str:
    """What an interrupted process says. Python loses an interrupt that falls into a destructor: users press again."""
    try:
        return process.communicate(timeout=40)[1].decode()
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=80)[1].decode()


def assert_nothing_is_half_written(name: str, out: Path) -> None:
    if name == "data classroom":
        assert len([*out.glob("*.tsv")]) in (0, 4)
    if name in WHOLE and out.exists():
        assert (out / WHOLE[name]).is_file() and (out / "tokenizer.json").is_file()
    if name == "train":
        assert [check_checkpoint(path) for path in list_checkpoints(out)] == [None] * len(list_checkpoints(out))


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_at_a_random_moment(name: str, times: int, place: Path) -> None:
    """Ctrl-C before, in and after the imports, and while the command works."""
    chance = random.Random(f"{name} {time.time_ns()}")
    before = contents(place / "mine")
    for _ in range(times):
        delay = chance.uniform(0.0, 8.0)
        with start(COMMANDS[name], place, stdout=subprocess.DEVNULL, stderr=-1) as process:
            while not (place / "ready").exists():
                time.sleep(0.02)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            process.send_signal(signal.SIGINT)
            said = stderr_of(process)
        # The last: when it is done, and Python has already given the signal its own action back.
        assert process.returncode in (0, 130, -signal.SIGINT), (delay, said)
        if process.returncode == 130 and name != "train":  # which says what it has saved
            assert said.splitlines()[-1] == "annotated: interrupted", (delay, said)
        assert "Traceback" not in said, (delay, said)
        assert contents(place / "mine") == before, delay
        assert_nothing_is_half_written(name, place / "out")
        (place / "ready").unlink()
        if (place / "out").is_dir():
            shutil.rmtree(place / "out")
        (place / "out").unlink(missing_ok=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_that_is_closed(name: str, place: Path) -> None:
    """The terminal goes away and sends SIGHUP; a training saves a checkpoint, the others just end."""
    before = contents(place / "mine")
    ours, theirs = pty.openpty()
    process = start(COMMANDS[name], place, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    limit = time.monotonic() + (20 if name == "train" else 6)
    while name == "train" and time.monotonic() < limit and not list_checkpoints(place / "out"):
        time.sleep(0.2)
    time.sleep(3)
    os.close(ours)
    process.send_signal(signal.SIGHUP)
    status = process.wait(timeout=120)
    assert status in (0, 1, 129, -signal.SIGHUP, 141), status
    assert contents(place / "mine") == before
    assert_nothing_is_half_written(name, place / "out")


@pytest.mark.parametrize("name", PRINTS)
def test_a_pipe_that_nobody_reads(name: str, place: Path) -> None:
    with start(PRINTS[name], place, stdout=-1, stderr=-1) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        said = process.stderr.read().decode()
    assert (process.returncode, said) == (141, "")


@pytest.mark.parametrize("name", PRINTS)
def test_output_to_a_full_disk(name: str, place: Path) -> None:
    with open("/dev/full", "wb") as full, start(PRINTS[name], place, stdout=full, stderr=-1) as process:
        said = process.communicate()[1].decode()
    assert process.returncode == 1
    assert said.splitlines()[-1] == "annotated: No space left on device"
