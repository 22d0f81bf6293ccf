"""A training in a process of its own: found by its lock, stopped by a signal, taken up again, and never twice."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from annotated import DataConfig, ModelConfig, TrainingConfig
from annotated.cli.program import _command
from annotated.runs import LaunchError, TrainingMonitor, running, stop, train_command
from annotated.runs.launch import OUTPUT, last_words, launch
from annotated.runs.lock import LOCK, run_lock, run_lock_holder
from annotated.training import CheckpointError

pytestmark = pytest.mark.process

HOLD = """
import sys, time
from pathlib import Path
from annotated.runs.lock import run_lock
with run_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_command_line_says_all_that_differs_from_its_defaults():
    model = ModelConfig(d_model=16, num_heads=2, d_k=8, d_v=8, attention_bias=True, norm="pre", dropout=0.25)
    training = TrainingConfig(updates=7, clip_norm=1.5, compile=True, adam_betas=(0.9, 0.99), adam_epsilon=1e-8)
    data = DataConfig(train="a b.tsv", valid="c.tsv", vocab_size=300)
    words = train_command("a folder", model, training, data, ["The cat, it's.", "Who?"])
    asked = _command(words[1:])
    assert (asked.model, asked.training, asked.data) == (model, training, data)
    assert asked.samples == ("The cat, it's.", "Who?") and asked.out == Path("a folder")
    assert shlex.split(shlex.join(words)) == words
    with pytest.raises(ValueError, match="without a dash"):
        train_command("x", model, training, data, ["--new"])


def test_run_lock_holder_goes_by_the_lock_and_not_by_what_is_written_there(tmp_path):
    assert run_lock_holder(tmp_path) is None and not stop(tmp_path)
    (tmp_path / LOCK).write_text(f"{os.getpid()} left over\n")
    assert running(tmp_path) is None
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        assert running(tmp_path) == process.pid
        with pytest.raises(CheckpointError, match="another process is training"), run_lock(tmp_path):
            pass
        assert running(tmp_path) == process.pid, "a refused process leaves the owner's name"
        with pytest.raises(CheckpointError, match=f"process {process.pid} trains here already"):
            launch(tmp_path, ModelConfig(), TrainingConfig(), DataConfig())
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert running(tmp_path) is None


def test_whoever_looks_at_the_lock_keeps_nobody_out(tmp_path):
    with (tmp_path / LOCK).open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        release = subprocess.Popen(["sleep", "0.2"])
        import threading

        threading.Thread(target=lambda: (release.wait(), fcntl.flock(looking, fcntl.LOCK_UN))).start()
        with run_lock(tmp_path):
            assert running(tmp_path) == os.getpid()


def test_a_training_of_another_machine_is_not_sent_a_signal(tmp_path):
    with run_lock(tmp_path):
        (tmp_path / LOCK).write_text("1 elsewhere\n")
        with pytest.raises(CheckpointError, match="on elsewhere"):
            stop(tmp_path)


def test_a_process_that_fails_at_once_is_quoted(tmp_path, small):
    (tmp_path / OUTPUT).write_text("words of a run before\n")
    bad = small.data.replace(train=str(tmp_path / "missing.tsv"))
    with pytest.raises(LaunchError, match="missing.tsv") as caught:
        # The lock is taken before the corpus is opened, so this may also end a moment after the launch.
        launch(tmp_path, small.model, small.training, bad.replace(valid="classroom"))
    assert "status 2" in str(caught.value) and "words of a run before" not in str(caught.value)


def test_stopped_and_taken_up_again_it_ends_like_a_run_of_one_piece(tmp_path, small):
    small.train("whole", updates=240, checkpoint_every=60)
    training = small.training.replace(updates=240, checkpoint_every=60, validate_bleu=0)
    folder = tmp_path / "parts"
    launched = launch(folder, small.model, training, small.data, samples=["the cat sees one dog"], threads=1)
    assert running(folder) == launched.pid
    monitor, deadline = TrainingMonitor(folder), time.monotonic() + 300
    while monitor.poll().update < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert stop(folder)
    status = monitor.poll()
    assert status.phase == "stopped" and 12 <= status.update < 240 and running(folder) is None

    launch(folder, small.model, training, small.data, samples=["the cat sees one dog"], threads=1)
    while monitor.poll().phase != "finished" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "validation loss" in last_words(folder)
    one, other = (load_file(tmp_path / run / "model" / "model.safetensors") for run in ("whole", "parts"))
    assert all(one[name].equal(other[name]) for name in one), "launched with samples, and in two parts: the same model"


def test_a_new_process_is_not_taken_for_the_dead_one_whose_number_still_stands_there(tmp_path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    with (tmp_path / LOCK).open("w") as file:  # as in the moment between taking the lock and signing it
        file.write(f"{dead.pid} {socket.gethostname()}\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = run_lock_holder(tmp_path)
        assert holder is not None and holder.pid == 0
        with pytest.raises(CheckpointError, match="another machine"):
            stop(tmp_path)
