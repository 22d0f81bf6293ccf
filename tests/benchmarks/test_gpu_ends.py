"""How the GPU benchmark ends: no process outlives it, whatever ends it, and its status says whether it measured."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks.gpu import children, command, lent, runner

pytestmark = pytest.mark.process

SIDE = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)"


def benchmark(folder: Path, mode: list[str]) -> None:
    """The command, in a fork of this process, with a side that only waits."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, and a shell's background jobs, are told to ignore these
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stderr = (folder / "said").open("w", encoding="utf-8", buffering=1)

    def side(*_: object) -> None:
        children.run([sys.executable, "-c", SIDE, str(folder / "new")], 600, folder / "log")

    runner.run = lent.run = side
    command.main(["--device", "cpu", "--shapes", "tiny", *mode])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
@pytest.mark.parametrize(
    ("ending", "mode"),
    [
        (signal.SIGTERM, []),
        (signal.SIGHUP, []),
        (signal.SIGKILL, []),
        (signal.SIGINT, ["--lent"]),
    ],
)
def test_no_side_outlives_the_benchmark(ending: signal.Signals, mode: list[str], tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=benchmark, args=(tmp_path, mode))
    process.start()
    assert process.pid
    side = None
    try:
        side = int(wait_for(lambda: (tmp_path / "new").exists() and (tmp_path / "new").read_text()))
        os.kill(process.pid, ending)
        process.join(300)
        wait_for(lambda: not running(side))
    finally:
        process.kill()
        if side is not None and running(side):
            os.kill(side, signal.SIGKILL)
    assert "Traceback" not in (tmp_path / "said").read_text(encoding="utf-8")
    assert process.exitcode == (-ending if ending == signal.SIGKILL else 128 + ending)


def wait_for(found):  # type: ignore[no-untyped-def]
    """What it finds, within five minutes."""
    until = time.monotonic() + 300
    while not (answer := found()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return answer


def running(process: int) -> bool:
    """Whether there is such a process, and it is not one that waits for its status to be read."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_benchmark_that_measured_nothing_fails(tmp_path, monkeypatch, capsys):
    out = tmp_path / "g.json"
    with pytest.raises(SystemExit) as caught:
        command.main(["--device", "cpu", "--shapes", "tiny", "--sides", "fp32", "--minutes", "0.1", "--out", str(out)])
    said = str(caught.value)  # a text, which Python prints, and exits with status 1
    assert "nothing was measured" in said and "tiny/fp32" in said and "more --minutes" in said


def test_without_a_gpu_the_benchmark_says_why(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(command, "explain_missing_gpu", lambda: "The driver is too old")
    monkeypatch.setattr(runner, "run", None)
    with pytest.raises(SystemExit, match="sees no GPU here. The driver is too old; `--device cpu"):
        command.main([])
