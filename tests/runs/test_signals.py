"""Who asked for the stop, and who else has to know; what an error of an exchange or of a disk says."""

from __future__ import annotations

import errno
import io
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
import torch.distributed as dist

import annotated.runs.lock as lock
import annotated.runs.signals as signals
from annotated.runs import list_checkpoints, log, read_records, running
from annotated.runs.errors import PeerLostError, translate_errors
from annotated.runs.lock import LOCK, run_lock, run_lock_holder
from annotated.runs.loop import train
from annotated.runs.signals import GracefulStop, stop_bypassed_agent
from annotated.speed.machine.distributed import Processes
from annotated.training import CheckpointError, DiskFull

pytestmark = pytest.mark.process


class Group:
    """What this process is told when it adds up: first the processes of each machine, then those that were asked."""

    def __init__(self, others: list[tuple[int, bool]]) -> None:
        self.counted = iter([[(node, True) for node, _ in others], others])

    def all_reduce_numbers(self, values: list[float]) -> list[float]:
        others = next(self.counted)
        return [mine + sum(n == node and says for n, says in others) for node, mine in enumerate(values)]


@pytest.mark.parametrize(
    ("mine", "others", "nodes", "expected"),
    [
        (True, [(0, True)], 1, False),  # the agent told both
        (True, [(0, False)], 1, True),  # somebody told me alone
        (False, [(0, True)], 1, True),  # or the other
        (True, [(0, True), (1, False), (1, False)], 2, False),  # the agent of one machine told both there
        (True, [(0, False), (1, False), (1, False)], 2, True),
        (True, [(1, False)], 2, False),  # one process on each machine: nobody can know, so the agent may be it
    ],
)
def test_whether_an_agent_asked(monkeypatch, mine, others, nodes, expected):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    monkeypatch.setenv("GROUP_WORLD_SIZE", str(nodes))
    monkeypatch.setenv("GROUP_RANK", "0")
    stop = GracefulStop()
    stop.name = "SIGTERM" if mine else None
    assert stop_bypassed_agent(Group(others), stop) is expected  # type: ignore[arg-type]


def test_without_torchrun_there_is_no_agent():
    stop = GracefulStop()
    stop.name = "SIGTERM"
    assert not stop_bypassed_agent(Processes(), stop)


def test_under_torchrun_a_request_may_come_twice(monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    with GracefulStop() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.name == "SIGTERM"


WAITS = """
import ctypes, sys, threading
from annotated.runs.signals import GracefulStop

def tell():
    may_tell.acquire()  # and this thread runs only once the other has left Python
    print("waits", flush=True)

with GracefulStop(hung_after=float(sys.argv[1])):
    may_tell = threading.Semaphore(0)
    threading.Thread(target=tell, daemon=True).start()
    if sys.argv[2] == "hangs":
        lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
        lock(mutex)  # zeros are a mutex; who locks it twice waits, whatever the signal
        sys.setswitchinterval(600)
        may_tell.release()
        lock(mutex)
    may_tell.release()
    while not sys.stdin.read(1):
        pass
print("saved", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a mutex of zeros is that of Linux")
@pytest.mark.parametrize("does", ["hangs", "works"])
def test_a_process_that_hears_no_signal_is_gone_and_one_that_works_saves(does):
    command = [sys.executable, "-c", WAITS, "0.3", does]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGTERM)
        if does == "works":
            time.sleep(1)  # longer than a process may be deaf
        said, complaint = process.communicate("x", timeout=60)
    if does == "works":
        assert (process.returncode, said, complaint) == (0, "saved\n", "")
    else:
        assert process.returncode == 128 + signal.SIGTERM and said == ""
        assert "SIGTERM" in complaint and "goes on from the last checkpoint" in complaint


def test_the_first_process_of_a_machine_tells_its_agent(monkeypatch):
    told, ignored = [], []
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    monkeypatch.setattr(signals.os, "kill", lambda *call: told.append(call))
    monkeypatch.setattr(signals.signal, "signal", lambda *call: ignored.append(call))
    for rank in ("0", "1"):
        monkeypatch.setenv("LOCAL_RANK", rank)
        signals.end_agent()
    assert told == [(os.getppid(), signal.SIGTERM)]
    assert (signal.SIGTERM, signal.SIG_IGN) in ignored


def test_while_torchrun_starts_its_processes_again_the_folder_is_taken(tmp_path, monkeypatch):
    agent = os.getppid()  # some process that lives
    (tmp_path / LOCK).write_text(f"1 {socket.gethostname()} {agent}\n")  # its process is dead: nobody holds this
    assert running(tmp_path) is None, "not torchrun"
    monkeypatch.setattr(lock, "_is_torchrun", lambda pid: pid == agent)
    assert running(tmp_path) == agent
    with pytest.raises(CheckpointError, match="another process is training"), run_lock(tmp_path):
        pass
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")  # now this process is one of its own
    with run_lock(tmp_path):
        holder = run_lock_holder(tmp_path)
        assert holder == (os.getpid(), socket.gethostname(), agent) and holder.signal_pid == agent


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_says_what_to_do_whatever_was_written(tmp_path, number):
    file = tmp_path / "deep" / "log.jsonl"
    with pytest.raises(DiskFull, match=f"the disk is full: {file}.*Free some space"), translate_errors(tmp_path):
        raise OSError(number, os.strerror(number), str(file))
    with pytest.raises(PermissionError), translate_errors(tmp_path):
        raise PermissionError(errno.EACCES, "no")


def test_a_lost_peer_says_what_to_do(tmp_path):
    gloo = "[/pytorch/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:17306: Connection reset by peer"
    kinds = [RuntimeError, dist.DistBackendError] if hasattr(dist, "DistBackendError") else [RuntimeError]
    for kind in kinds:
        with pytest.raises(PeerLostError, match=r"is gone.*--max-restarts.*Read error"), translate_errors(tmp_path):
            raise kind(gloo)
    with pytest.raises(RuntimeError, match="^shapes") as other, translate_errors(tmp_path):
        raise RuntimeError("shapes [2, 3] and [4] do not fit")
    assert other.type is RuntimeError


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a signal of other systems")
def test_a_closed_terminal_asks_to_stop_unless_it_is_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
    try:
        with GracefulStop() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGHUP)  # shell and kernel may both send it
            assert stop.name == "SIGHUP"
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        with GracefulStop() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert stop.name is None
    finally:
        signal.signal(signal.SIGHUP, before)


class Closed(io.StringIO):
    """A console whose reader leaves after three lines, as `head -3` does."""

    lines = 0

    def write(self, text):
        self.lines += text.count("\n")
        if self.lines > 3:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        return len(text)


def test_a_reader_who_leaves_stops_the_training_with_a_checkpoint(small, monkeypatch):
    console = log.TrainingConsole(file=Closed())
    monkeypatch.setattr(log, "TrainingConsole", lambda **_: console)
    monkeypatch.setattr(os, "dup2", lambda *_: None)  # pytest's own stderr stays
    result = train(small.model, small.training.replace(log_every=1), small.data, small.folder / "run")
    assert result.stopped_by == "SIGPIPE" and not result.finished
    assert 0 < result.update < small.training.updates
    assert list_checkpoints(result.folder)[-1].name.endswith(f"{result.update}")
    assert read_records(result.folder)[-1]["stopped_by"] == "SIGPIPE"
