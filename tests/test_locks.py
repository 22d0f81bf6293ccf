"""File locks: kept by one process, waited for by others, told by the lock and not by what is written in its file."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from annotated import locks
from annotated.locks import Locked, LockHolder, exclusive_lock, last_lock_holder, lock_holder

pytestmark = pytest.mark.process

LOAD = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("locks", "annotated/locks.py")
locks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(locks)
"""
"""The module stands alone, so a process need not import the library, which takes seconds."""
HOLD = """
with locks.exclusive_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_keeps_others_out_and_ends_with_its_process(tmp_path, repository):
    path = tmp_path / "new" / "lock"
    assert lock_holder(path) is None and last_lock_holder(path) is None
    command = [sys.executable, "-c", LOAD + HOLD, str(path)]
    process = subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        holder = lock_holder(path)
        assert holder is not None and holder.pid == process.pid and holder.is_here and not holder.is_gone
        refused = f"{path}: held by process {process.pid} on"
        with pytest.raises(Locked, match=refused) as caught, exclusive_lock(path, 0.1):
            pass
        assert caught.value.holder == holder == lock_holder(path), "a refused process leaves the holder's name"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lock_holder(path) is None and last_lock_holder(path) == holder and holder.is_gone
    with exclusive_lock(path, 0):
        assert lock_holder(path) == LockHolder(os.getpid(), socket.gethostname())


def test_a_lock_is_waited_for(tmp_path):
    seen = []

    def wait() -> None:
        with exclusive_lock(tmp_path / "lock"):
            seen.append("second")

    with exclusive_lock(tmp_path / "lock", agent=7):
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.2)
        seen.append("first")
        holder = lock_holder(tmp_path / "lock")
        assert holder is not None and (holder.agent, holder.signal_pid) == (7, 7)
    waiting.join(timeout=300)
    assert seen == ["first", "second"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_was_forked_under_a_lock_does_not_keep_it(tmp_path):
    with exclusive_lock(tmp_path / "lock"):
        child = os.fork()
        if not child:
            time.sleep(600)
            os._exit(0)
    try:
        assert lock_holder(tmp_path / "lock") is None
        with exclusive_lock(tmp_path / "lock", 0):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_who_holds_a_lock_goes_by_the_lock_and_not_by_what_is_written_there(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(locks, "_UNSIGNED_SECONDS", 0.1)
    path, dead = tmp_path / "lock", subprocess.Popen(["true"])
    dead.wait()
    path.write_text(f"{os.getpid()} {socket.gethostname()}\n")
    assert lock_holder(path) is None, "left over"
    with path.open("r+") as file:  # as in the moment between taking the lock and signing it
        fcntl.flock(file, fcntl.LOCK_EX)
        for text in (f"{dead.pid} {socket.gethostname()}\n", "left over\n", ""):
            path.write_text(text)
            assert lock_holder(path) == (0, "", 0) and str(lock_holder(path)) == "another process"
        path.write_text("1 elsewhere 5\n")
        assert lock_holder(path) == (1, "elsewhere", 5)


def test_whoever_looks_at_a_lock_keeps_nobody_out_and_is_not_taken_for_its_holder(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "lock"
    path.write_text(f"{os.getpid()} {socket.gethostname()}\n")
    path.chmod(0o444)  # of a run of somebody else
    with path.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert lock_holder(path) is None
        path.chmod(0o644)
        threading.Timer(0.2, fcntl.flock, (looking, fcntl.LOCK_UN)).start()
        with exclusive_lock(path, 30):
            assert lock_holder(path) == (os.getpid(), socket.gethostname(), 0)


def test_the_module_imports_filelock_only_when_a_lock_is_taken(repository):
    code = LOAD + "sys.exit('filelock' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=repository, check=False).returncode == 0
