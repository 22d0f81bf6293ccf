"""Shards prepared one ahead, in a thread: the same updates, the same checkpoints, and an end without a trace."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import random
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import annotated.runs.loop as loop
from annotated.data.batch import Batch, BatchingError, Shard
from annotated.data.batching import TokenBatches
from annotated.data.store import TokenStore
from annotated.runs import list_checkpoints, read_records
from annotated.runs.random_states import random_states
from annotated.runs.shards import ShardStream
from annotated.speed.machine.distributed import Processes

pytestmark = pytest.mark.process


def plan() -> TokenBatches:
    rng = np.random.default_rng(0)
    pairs = [([4 + i] * int(rng.integers(1, 20)), [5] * int(rng.integers(1, 20))) for i in range(150)]
    return TokenBatches(TokenStore.from_ids(pairs), 90, seed=1, pool_pairs=40)


def unchanged(batch: Batch) -> Batch:
    return batch


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("next batch")]


@pytest.mark.parametrize(("rank", "world_size", "pieces"), [(0, 1, 1), (0, 1, 3), (1, 2, 2), (7, 8, 1)])
def test_ahead_or_not_the_shards_and_positions_are_the_same(rank, world_size, pieces):
    plain, processes = plan(), Processes(rank, world_size)
    batches = plan()
    with ShardStream(batches, processes, pieces, unchanged, ahead=True) as stream:
        for _ in range(120):  # three epochs
            taken, expected = stream.next(), plain.next_shard(rank, world_size, pieces)
            assert [b.indices for b in taken.shard.batches] == [b.indices for b in expected.batches]
            assert taken.shard.target_tokens == expected.target_tokens
            assert taken.position == plain.position
            assert batches.state_dict(taken.position) == plain.state_dict()
    assert plain.epoch >= 2


class Watched(TokenBatches):
    """Batches that say how many were taken, and by whom, and that may fail."""

    fails_at = 0

    def __init__(self) -> None:
        self.by: list[str] = []
        self.one_more = threading.Semaphore(0)
        rng = np.random.default_rng(0)
        pairs = [([4 + i] * int(rng.integers(1, 20)), [5] * int(rng.integers(1, 20))) for i in range(150)]
        super().__init__(TokenStore.from_ids(pairs), 90, seed=1, pool_pairs=40)

    def next_shard(self, rank: int = 0, world_size: int = 1, micro_batches: int = 1) -> Shard:
        self.by.append(threading.current_thread().name)
        self.one_more.release()
        if len(self.by) == self.fails_at:
            raise BatchingError("the disk is gone")
        return super().next_shard(rank, world_size, micro_batches)

    def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert self.one_more.acquire(timeout=300)


def test_one_shard_ahead_and_never_two():
    batches = Watched()
    with ShardStream(batches, Processes(), 1, unchanged, ahead=True) as stream:
        for number in range(1, 5):
            stream.next()
            batches.wait_for(2 if number == 1 else 1)
            assert len(batches.by) == number + 1
            assert len(threads()) == 1
        stream.next(last=True)
    assert len(batches.by) == 5 and not batches.one_more.acquire(blocking=False)
    assert batches.by[0] == "MainThread" and all(name.startswith("next batch") for name in batches.by[1:])
    assert not threads()


def test_where_it_does_not_pay_there_is_no_thread():
    batches = Watched()
    with ShardStream(batches, Processes(), 1, unchanged) as stream:
        stream.next()
        stream.next()
    assert batches.by == ["MainThread"] * 2


@pytest.mark.parametrize("name", ["cuda:3", "cuda"])
def test_on_a_gpu_the_thread_begins_with_the_gpu_of_its_process(monkeypatch, name):
    """Every thread begins with GPU 0: memory pinned there would cost each process a context on it.

    A device without a number is the process's current one; `set_device` refuses it as it is.
    """
    chosen = []
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(
        torch.cuda, "set_device", lambda device: chosen.append((device, threading.current_thread().name))
    )
    with ShardStream(plan(), Processes(3, 8, torch.device(name)), 1, unchanged) as stream:
        for _ in range(3):
            stream.next()
    assert len(chosen) == 1 and chosen[0][0] == 3 and chosen[0][1].startswith("next batch")


@pytest.mark.parametrize("fails_at", [1, 2, 4])
def test_an_error_is_that_of_the_update_it_belongs_to(fails_at):
    batches, got = Watched(), 0
    batches.fails_at = fails_at
    with (
        pytest.raises(BatchingError, match="the disk is gone"),
        ShardStream(batches, Processes(), 1, unchanged, ahead=True) as stream,
    ):
        while True:
            stream.next()
            got += 1
    assert got == fails_at - 1 and not threads()


def test_an_error_in_preparing_ends_there_too():
    def failing(batch: Batch) -> Batch:
        raise MemoryError("no pinned memory left")

    with (
        pytest.raises(MemoryError, match="no pinned memory"),
        ShardStream(plan(), Processes(), 1, failing, ahead=True) as stream,
    ):
        stream.next()
    assert not threads()


def test_whatever_ends_the_training_no_thread_is_left():
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), ShardStream(Watched(), Processes(), 1, unchanged, ahead=True) as stream:
            stream.next()
            raise error
        assert not threads()


def test_random_numbers_are_left_alone():
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    before = random_states()
    with ShardStream(plan(), Processes(), 2, unchanged, ahead=True) as stream:
        for _ in range(60):
            stream.next()
    assert random_states() == before


@pytest.fixture
def ahead(monkeypatch):
    """Prepare ahead, as on a GPU."""
    monkeypatch.setattr(loop, "ShardStream", functools.partial(ShardStream, ahead=True))


def assert_same_checkpoints(one: Path, other: Path) -> None:
    """Weights, moments, random states and positions of all checkpoints, bit for bit."""
    names = [path.name for path in list_checkpoints(one)]
    assert names == [path.name for path in list_checkpoints(other)] and len(names) > 1
    for name in names:
        first, second = one / "checkpoints" / name, other / "checkpoints" / name
        for file in ("model.safetensors", "optimizer.safetensors"):
            tensors, theirs = load_file(first / file), load_file(second / file)
            assert tensors.keys() == theirs.keys() and all(tensors[key].equal(theirs[key]) for key in tensors)
        states = [json.loads((path / "state.json").read_text()) for path in (first, second)]
        for key in ("update", "tokens_seen", "data", "random", "valid_loss", "interim"):
            assert states[0][key] == states[1][key], key


def numbers(folder: Path) -> list[tuple]:
    """What the log says, apart from times."""
    wanted = ("kind", "update", "epoch", "tokens_seen", "loss", "valid_loss")
    return [tuple(r.get(name) for name in wanted) for r in read_records(folder) if r["kind"] in ("train", "valid")]


@pytest.mark.parametrize("layout", ["packed", pytest.param("padded", marks=pytest.mark.nightly), "static"])
def test_a_training_with_shards_ahead_is_the_same_training(small, request, layout):
    settings = {"layout": layout, "micro_batch_tokens": 160, "updates": 8, "checkpoint_every": 3, "validate_every": 4}
    small.model = small.model.replace(dropout=0.1)
    small.train("at once", **settings)
    request.getfixturevalue("ahead")
    small.train("ahead", **settings)
    assert_same_checkpoints(small.folder / "at once", small.folder / "ahead")
    assert numbers(small.folder / "at once") == numbers(small.folder / "ahead")
    assert not threads()


def test_stopped_and_resumed_with_shards_ahead(small, monkeypatch, ahead):
    settings = {"updates": 24, "checkpoint_every": 9, "validate_every": 7}
    small.trained("whole", **settings)
    rate = loop.learning_rate

    def interrupting(update: int, *others) -> float:
        if update == 14:  # also the update of a validation, in mid-epoch
            os.kill(os.getpid(), signal.SIGTERM)
        return rate(update, *others)

    monkeypatch.setattr(loop, "learning_rate", interrupting)
    stopped = small.train("halves", **settings)
    assert (stopped.finished, stopped.update) == (False, 14) and not threads()
    state = json.loads((list_checkpoints(stopped.folder)[-1] / "state.json").read_text())
    assert state["data"]["position"] > 0, "in mid-epoch"
    monkeypatch.setattr(loop, "learning_rate", rate)
    assert small.train("halves", **settings).finished
    assert_same_checkpoints(small.folder / "whole", small.folder / "halves")


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_killed_and_resumed_with_shards_ahead(small, ahead):
    settings = {"updates": 24, "checkpoint_every": 9, "validate_every": 7}
    small.trained("whole", **settings)

    def dies() -> None:
        rate = loop.learning_rate

        def killing(update: int, *others) -> float:
            if update == 13:
                while not list_checkpoints(small.folder / "killed"):  # another thread writes it
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGKILL)
            return rate(update, *others)

        loop.learning_rate = killing
        small.train("killed", **settings)

    process = multiprocessing.get_context("fork").Process(target=dies)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert [path.name for path in list_checkpoints(small.folder / "killed")] == ["update-000000009"]
    small.train("killed", **settings)
    assert_same_checkpoints(small.folder / "whole", small.folder / "killed")
