"""Processes that start together agree on a name, whatever those before them left in the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from annotated.training.distributed import fresh_prefix

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")


def meet(store: torch.distributed.Store, world_size: int) -> list[str]:
    with ThreadPoolExecutor(world_size) as pool:  # the last first: rank 0 need not be early
        waiting = [pool.submit(fresh_prefix, store, rank, world_size, 20.0) for rank in reversed(range(world_size))]
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
        first = pool.submit(fresh_prefix, store, 1, 3, 0.5)
        with pytest.raises(TimeoutError, match="process 2 of this training did not come"):
            fresh_prefix(store, 0, 3, 0.2)
        first.result()
