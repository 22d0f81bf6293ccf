"""Two processes with half of each batch are one process with all of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from annotated.training import read_log

CHILD = """
import json, sys
from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.training import train

spec = json.loads(sys.argv[1])
configs = [kind.from_dict(spec[kind.__name__]) for kind in (ModelConfig, TrainingConfig, DataConfig)]
train(*configs, spec["folder"], quiet=True)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def train_in_processes(small, folder: str, count: int, **changes) -> None:
    """What torchrun does: the same program `count` times, with the group described in the environment."""
    spec = {
        "folder": str(small.folder / folder),
        "ModelConfig": small.model.to_dict(),
        "TrainingConfig": small.training.replace(**changes).to_dict(),
        "DataConfig": small.data.to_dict(),
    }
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(count)}
    command = [sys.executable, "-c", CHILD, json.dumps(spec)]
    processes = [
        subprocess.Popen(
            command, env={**os.environ, **group, "RANK": str(r), "LOCAL_RANK": str(r), "OMP_NUM_THREADS": "1"}
        )
        for r in range(count)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0] * count


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")
def test_two_processes_are_one(small):
    small.model = small.model.replace(dropout=0.0)
    small.training = small.training.replace(
        updates=6, checkpoint_every=3, validate_every=3, log_every=1, batch_tokens=400
    )
    # One process with two micro-batches sees the same sentences in each update.
    small.train("one", accumulate=2)
    train_in_processes(small, "two", 2, updates=3)
    train_in_processes(small, "two", 2)  # resumed
    for update in (3, 6):
        path = f"checkpoints/update-{update:09d}/model.safetensors"
        one, two = load_file(small.folder / "one" / path), load_file(small.folder / "two" / path)
        for name in one:
            torch.testing.assert_close(two[name], one[name], rtol=1e-4, atol=2e-6)
    logs = [read_log(small.folder / run) for run in ("one", "two")]
    for kind, field in (("train", "loss"), ("train", "tokens_seen"), ("valid", "valid_loss")):
        values = [[r[field] for r in log if r["kind"] == kind and not r.get("averaged")] for log in logs]
        assert values[0] == pytest.approx(values[1], rel=1e-5)
