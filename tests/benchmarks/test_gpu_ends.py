"""How the GPU benchmark ends: no process outlives it, whatever ends it, and its status says whether it measured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks.gpu import command, runner
from benchmarks.gpu.children import ROOT

pytestmark = pytest.mark.process

SIDE = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)"
MAIN = """
import pathlib, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, and a shell's background jobs, are told to ignore these
signal.signal(signal.SIGINT, signal.default_int_handler)
from benchmarks.gpu import children, command, first_ten_minutes, runner
folder = pathlib.Path(sys.argv[1])
def side(*_):
    children.run([sys.executable, "-c", sys.argv[2], str(folder / "new")], 600, folder / "log")
runner.run = first_ten_minutes.main = side
command.main(["--device", "cpu", "--shapes", "tiny", *sys.argv[3:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
@pytest.mark.parametrize(
    ("ending", "mode"),
    [
        (signal.SIGTERM, []),
        (signal.SIGHUP, []),
        (signal.SIGKILL, []),
        (signal.SIGINT, ["--first-ten-minutes"]),
    ],
)
def test_no_side_outlives_the_benchmark(ending: signal.Signals, mode: list[str], tmp_path: Path) -> None:
    asked = [sys.executable, "-c", MAIN, str(tmp_path), SIDE, *mode]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(asked, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    side = None
    try:
        side = int(wait_for(lambda: (tmp_path / "new").exists() and (tmp_path / "new").read_text()))
        process.send_signal(ending)
        said = process.communicate(timeout=300)[1]
        wait_for(lambda: not running(side))
    finally:
        process.kill()
        if side is not None and running(side):
            os.kill(side, signal.SIGKILL)
    assert "Traceback" not in said
    assert process.returncode == (-ending if ending == signal.SIGKILL else 128 + ending)


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
