"""Processes share the batch of an update, and the updates are those of one process, however many there are."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

import annotated.runs.loop as loop
import annotated.runs.observer as observer
from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import TokenBatches
from annotated.data.store import TokenStore
from annotated.runs import list_checkpoints, read_records, train
from annotated.runs.random_states import seed_dropout
from annotated.speed.steps import FastStep

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not torch.distributed.is_available() or "fork" not in multiprocessing.get_all_start_methods(),
        reason="needs torch.distributed with gloo, and fork",
    ),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _one_of_them(rank: int, group: dict[str, str], configs, folder: Path) -> None:
    torch.set_num_threads(1)
    os.environ.update(group, RANK=str(rank), LOCAL_RANK=str(rank))
    train(*configs, folder, quiet=True)


def train_in_processes(small, folder: str, count: int, **changes) -> None:
    assert exit_codes(small, folder, count, **changes) == [0] * count


def exit_codes(small, folder: str, count: int, **changes) -> list[int | None]:
    """What torchrun does: the same program `count` times, with the group described in the environment."""
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(count)}
    configs = (small.model, small.training.replace(**changes), small.data)
    context = multiprocessing.get_context("fork")  # a fresh interpreter would have to import torch
    processes = [
        context.Process(target=_one_of_them, args=(rank, group, configs, small.folder / folder))
        for rank in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=600)
    return [process.exitcode for process in processes]


def shares_without_sentences(folder: Path, training: TrainingConfig, world_size: int) -> int:
    """How often a process had nothing to compute."""
    store = TokenStore.open(folder / "data" / "train")
    batches = TokenBatches(store, training.batch_tokens, seed=training.seed, pool_pairs=100)
    states = [batches.state_dict() for _ in range(training.updates) if next(batches)]
    empty = 0
    for state in states:
        for rank in range(world_size):
            batches.load_state_dict(state)
            empty += not batches.next_shard(rank, world_size).batches
    return empty


def test_with_dropout_too_a_resumed_run_of_two_processes_is_the_run_that_was_not_stopped(small):
    assert small.model.dropout > 0
    small.training = small.training.replace(updates=6, checkpoint_every=6, log_every=1, batch_tokens=300)
    train_in_processes(small, "whole", 2)
    train_in_processes(small, "stopped", 2, updates=4)
    train_in_processes(small, "stopped", 2)
    ends = [list_checkpoints(small.folder / run)[-1] for run in ("whole", "stopped")]
    whole, stopped = (load_file(end / "model.safetensors") for end in ends)
    for name in whole:
        assert torch.equal(whole[name], stopped[name]), name


def test_a_process_draws_the_same_masks_in_the_same_update_and_others_in_any_other():
    def drawn(rank: int, update: int) -> list[float]:
        seed_dropout(7, rank, update, torch.device("cpu"))
        return torch.rand(3).tolist()

    with torch.random.fork_rng():
        all_of_them = [drawn(rank, update) for rank in (1, 2) for update in (1, 2, 3)]
        assert len(set(map(tuple, all_of_them))) == 6
        assert drawn(2, 3) == all_of_them[-1]


# 300 tokens are enough for every process; in 60 there are two or three pairs, and at times none for one of three.
@pytest.mark.parametrize("batch_tokens", [300, 60])
def test_any_number_of_processes_makes_the_same_updates(small, batch_tokens):
    small.model = small.model.replace(dropout=0.0)
    small.training = small.training.replace(
        updates=6, checkpoint_every=3, validate_every=3, log_every=1, batch_tokens=batch_tokens
    )
    small.train("one")
    train_in_processes(small, "many", 3, updates=3)
    if batch_tokens == 60:
        assert shares_without_sentences(small.folder / "many", small.training, 3) > 0
        small.train("many", micro_batch_tokens=25)  # resumed by one process, in three micro-batches
    else:
        train_in_processes(small, "many", 2)  # resumed by two
    for one, other in zip(*(list_checkpoints(small.folder / run) for run in ("one", "many")), strict=True):
        weights = load_file(one / "model.safetensors"), load_file(other / "model.safetensors")
        for name in weights[0]:
            torch.testing.assert_close(weights[1][name], weights[0][name], rtol=1e-4, atol=2e-6)
        positions = [json.loads((path / "state.json").read_text())["data"] for path in (one, other)]
        assert positions[0] == positions[1]
    logs = [read_records(small.folder / run) for run in ("one", "many")]
    for kind, field in (("train", "loss"), ("train", "tokens_seen"), ("valid", "valid_loss")):
        values = [[r[field] for r in log if r["kind"] == kind and not r.get("averaged")] for log in logs]
        assert len(values[0]) == (6 if kind == "train" else 2)
        assert values[0] == pytest.approx(values[1], rel=1e-5)


@pytest.fixture
def memory_of_the_second_is_small(monkeypatch) -> None:
    """It has room for 100 target tokens, and notices only when it has made their gradients."""
    micro_step = FastStep.micro_step

    def limited(step: FastStep, batch: Batch, tokens: float) -> torch.Tensor:
        loss = micro_step(step, batch, tokens)
        if step.processes.rank == 1 and batch.target_tokens > 100:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return loss

    monkeypatch.setattr(FastStep, "micro_step", limited)


@pytest.mark.parametrize("overlap", [False, True], ids=["exchanged at the end", "exchanged meanwhile"])
@pytest.mark.usefixtures("memory_of_the_second_is_small")
def test_where_memory_of_one_process_is_full_all_take_smaller_pieces(small, monkeypatch, overlap):
    """300 tokens in two processes, 150 in each, are more than there is room for; halves fit."""
    monkeypatch.setattr(loop, "LEAST_TOKENS", 50)
    same = {"updates": 4, "checkpoint_every": 4, "overlap_exchange": overlap, "peer_timeout": 60.0}
    train_in_processes(small, "cut", 2, **same)
    train_in_processes(small, "asked", 2, **same, micro_batch_tokens=75)
    cut, asked = (load_file(list_checkpoints(small.folder / run)[-1] / "model.safetensors") for run in ("cut", "asked"))
    assert all(torch.equal(cut[name], tensor) for name, tensor in asked.items())


@pytest.mark.usefixtures("memory_of_the_second_is_small")
def test_where_no_smaller_pieces_are_of_use_no_process_waits_for_the_one_without_memory(small, capfd):
    assert exit_codes(small, "run", 2, updates=4, peer_timeout=600.0) == [1, 1]
    assert capfd.readouterr().err.count("OutOfMemoryError: CUDA out of memory in another process") == 1


def end(folder: Path) -> tuple[int, bool, str | None]:
    record = read_records(folder)[-1]
    assert record["kind"] == "end"
    return record["update"], record["finished"], record["stopped_by"]


def test_the_first_process_whose_time_is_over_ends_all_after_the_same_update(small, monkeypatch):
    """35 seconds, at ten an update, are over in the fourth by the second one's clock; the first one's stands still."""
    clock = SimpleNamespace(now=0.0)
    rate = loop.learning_rate

    def passing(*numbers) -> float:
        clock.now += 10 * int(os.environ["RANK"])
        return rate(*numbers)

    monkeypatch.setattr(loop, "learning_rate", passing)
    monkeypatch.setattr(observer, "time", SimpleNamespace(monotonic=lambda: clock.now))
    train_in_processes(small, "run", 2, max_seconds=35.0)
    assert end(small.folder / "run") == (4, False, "max_seconds")


def test_processes_that_were_started_again_run_out_of_patience_together(small, monkeypatch):
    """After update 8 no validation has a lower loss. Only the main process reads in the log that 12 was the first."""
    small.training = small.training.replace(validate_every=4, validate_bleu=0)
    for updates, losses in ((12, [2.0, 1.0, 1.5, 0.9]), (24, [1.5, 0.9])):
        coming = iter(losses)
        monkeypatch.setattr(observer, "validation_loss", lambda *_, coming=coming: next(coming))
        train_in_processes(small, "run", 2, updates=updates, patience=2)
    assert end(small.folder / "run") == (16, True, "patience")
