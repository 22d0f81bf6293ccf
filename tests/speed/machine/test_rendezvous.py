"""Processes that start together agree on a name, whatever those before them left in the store."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import torch

from annotated.speed.machine.distributed import fresh_prefix, process_group

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
]


def meet(store: torch.distributed.Store, world_size: int) -> list[str]:
    with ThreadPoolExecutor(world_size) as pool:  # the last first: rank 0 need not be early
        waiting = [pool.submit(fresh_prefix, store, rank, world_size, 600.0) for rank in reversed(range(world_size))]
        return [one.result() for one in waiting]


@pytest.mark.parametrize("world_size", [1, 2, 5])
def test_each_start_has_one_name_of_its_own(world_size):
    store = torch.distributed.HashStore()
    names = [set(meet(store, world_size)) for _ in range(4)]
    assert all(len(one) == 1 for one in names) and len(set.union(*names)) == 4


def test_one_that_died_while_it_waited_deceives_nobody():
    store = torch.distributed.HashStore()
    with pytest.raises(TimeoutError, match="process 0 of this training did not come"):
        fresh_prefix(store, 1, 2, 0.05)  # it has left its word, and nobody waits for the answer
    (name,) = set(meet(store, 2))
    assert set(meet(store, 2)) != {name}


def test_who_does_not_come_is_named():
    store = torch.distributed.HashStore()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fresh_prefix, store, 1, 3, 600.0)
        with pytest.raises(TimeoutError, match="process 2 of this training did not come"):
            fresh_prefix(store, 0, 3, 3.0)  # in which the other thread answers
        first.result()


def test_the_configured_timeout_limits_the_start_too(monkeypatch):
    """The store is the agent's and answers; the other process does not come."""
    store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    group = {
        "RANK": "0",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
    }
    for name, value in group.items():
        monkeypatch.setenv(name, value)
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.append(now.pop() + seconds))
    monkeypatch.setattr("annotated.speed.machine.distributed.time", clock)
    with pytest.raises(TimeoutError, match="process 1 of this training did not come"), process_group("cpu", 0.3):
        pass
    assert 0.3 < now[0] < 1, "of pauses"


def test_the_timeout_has_one_default():
    """It is the configuration's; whoever joins processes names it."""
    for function in (process_group, fresh_prefix):
        assert inspect.signature(function).parameters["timeout"].default is inspect.Parameter.empty
