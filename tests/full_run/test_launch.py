"""Several processes, started from a notebook: found, stopped through any of them, and taken up by another number."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest
import torch

from annotated.runs import TrainingMonitor, list_checkpoints, read_records, running, stop
from annotated.runs.launch import launch
from annotated.runs.lock import run_lock_holder
from annotated.training import CheckpointError
from tests.full_run.processes import Setting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]


def until(condition: Callable[[], bool], seconds: float = 900.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_launched_together_stopped_by_one_and_taken_up_by_another_number(setting: Setting):
    folder = setting.folder / "run"
    training = setting.training.replace(updates=2000, validate_every=1000, checkpoint_every=500)
    configs = (setting.model, training, setting.data)

    def update() -> int:
        return TrainingMonitor(folder).poll().update

    try:
        launched = launch(folder, *configs, processes=2, threads=1)
        assert launched.command.startswith("torchrun --standalone") and "--nproc-per-node 2" in launched.command
        assert running(folder) == launched.pid
        with pytest.raises(CheckpointError, match=f"process {launched.pid} trains here already"):
            launch(folder, *configs)
        until(lambda: update() >= 10)
        holder = run_lock_holder(folder)
        assert holder is not None and holder.signal_pid == launched.pid != holder.pid
        os.kill(holder.pid, signal.SIGTERM)  # one of them, not torchrun
        until(lambda: running(folder) is None)
        status = TrainingMonitor(folder).poll()
        assert status.phase == "stopped" and status.update < 2000
        assert list_checkpoints(folder)[-1].name == f"update-{status.update:09d}"
        assert [r["kind"] for r in read_records(folder)].count("start") == 1, "torchrun has not started them again"

        launch(folder, *configs, processes=3, threads=1)
        until(lambda: update() >= status.update + 5)
        assert stop(folder) and running(folder) is None
        assert [r["processes"] for r in read_records(folder) if r["kind"] == "start"] == [2, 3]
    finally:
        stop(folder)
