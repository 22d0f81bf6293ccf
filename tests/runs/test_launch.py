"""A training in a process of its own: found by its lock, stopped by a signal, taken up again, and never twice."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from annotated import DataConfig, ModelConfig, TrainingConfig
from annotated.cli.program import _command
from annotated.runs import LaunchError, TrainingMonitor, running, stop, train_command
from annotated.runs.launch import OUTPUT, last_words, launch
from annotated.runs.lock import LOCK, run_lock, run_lock_holder
from annotated.training import CheckpointError

pytestmark = pytest.mark.process

FORK = multiprocessing.get_context("fork")


def hold(folder: Path, held: Any) -> None:
    """In a process of its own: hold the lock until somebody kills it."""
    with run_lock(folder):
        held.set()
        time.sleep(600)


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
    process = FORK.Process(target=hold, args=(tmp_path, held := FORK.Event()))
    process.start()
    try:
        assert held.wait(60)
        assert running(tmp_path) == process.pid
        with pytest.raises(CheckpointError, match="another process is training"), run_lock(tmp_path):
            pass
        assert running(tmp_path) == process.pid, "a refused process leaves the owner's name"
        with pytest.raises(CheckpointError, match=f"process {process.pid} trains here already"):
            launch(tmp_path, ModelConfig(), TrainingConfig(), DataConfig())
    finally:
        process.kill()
        process.join()
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


def test_a_process_that_fails_at_once_is_quoted(tmp_path, small, monkeypatch):
    (tmp_path / OUTPUT).write_text("annotated.runs.launch: annotated train\nwords of a run before\n")
    interpreter = tmp_path / "python"
    interpreter.write_text('#!/bin/sh\necho "$2 $3: missing.tsv: no such file" >&2\nexit 2\n')
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    with pytest.raises(LaunchError, match="annotated train: missing.tsv: no such file") as caught:
        launch(tmp_path, small.model, small.training, small.data)
    assert "status 2" in str(caught.value) and "words of a run before" not in str(caught.value)


@pytest.mark.slow
def test_stopped_and_taken_up_again_it_ends_like_a_run_of_one_piece(tmp_path, small):
    endless = small.training.replace(updates=100_000, validate_bleu=0)
    folder = tmp_path / "parts"
    launched = launch(folder, small.model, endless, small.data, samples=["the cat sees one dog"], threads=1)
    assert running(folder) == launched.pid
    monitor, deadline = TrainingMonitor(folder), time.monotonic() + 900
    while monitor.poll().update < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert stop(folder)
    status = monitor.poll()
    assert status.phase == "stopped" and status.update >= 12 and running(folder) is None
    assert f"stopped by SIGTERM after update {status.update}, which is saved" in last_words(folder)

    for run in ("parts", "whole"):
        small.train(run, updates=status.update + 12)  # however late the stop came
    assert monitor.poll().phase == "finished"
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
