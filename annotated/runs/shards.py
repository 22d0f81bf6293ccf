"""Shards of a run's updates, one after the other; where it pays, each is prepared while the one before is computed.

On a GPU the processor has nothing to do during most of an update. To pad or lay out the next batch takes it some
milliseconds, which a large GPU would otherwise wait for. A thread does that, never more than one update ahead. It draws
no random numbers, and nothing that a checkpoint saves depends on how far it has come.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Self

import torch

from annotated.data.batch import Batch, Shard
from annotated.data.batching import DataPosition, TokenBatches
from annotated.data.buckets import Indices
from annotated.speed.machine.distributed import Processes


class TakenShard(NamedTuple):
    """What one process computes of an update, and where the data stand after it."""

    shard: Shard
    position: DataPosition


class ShardStream:
    """The shards of one process, for update after update. Leaving its context ends the thread.

    Parameters
    ----------
    batches
        Where they are taken from; nobody else takes any meanwhile.
    processes, micro_batches
        Who shares each batch, and in how many pieces each process computes its part.
    prepare
        What can be done with a batch before the device is free.
    ahead
        Prepare one shard ahead, in a thread; None for whether it pays, which it does on a GPU. On a CPU the model's
        own work needs the cores.
    """

    def __init__(
        self,
        batches: TokenBatches,
        processes: Processes,
        micro_batches: int,
        prepare: Callable[[Batch], Batch],
        ahead: bool | None = None,
    ) -> None:
        self._batches, self._processes, self._micro_batches = batches, processes, micro_batches
        self._prepare, device = prepare, processes.device
        self._pending: Future[TakenShard] | None = None
        self._pool: ThreadPoolExecutor | None = None
        if device.type == "cuda" if ahead is None else ahead:
            number = torch.cuda.current_device() if device.type == "cuda" and device.index is None else device.index
            self._pool = ThreadPoolExecutor(1, "next batch", _choose_gpu, (number,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)  # what was prepared and is not needed is dropped

    def next(self, last: bool = False) -> TakenShard:
        """The shard of the next update; meanwhile the one after it is begun.

        Parameters
        ----------
        last
            No other update follows, so nothing is begun.

        Raises
        ------
        Exception
            What went wrong while this shard, and no other one, was prepared.
        """
        pending, self._pending = self._pending, None
        taken = self._take() if pending is None else pending.result()
        if self._pool is not None and not last:
            self._pending = self._pool.submit(self._take)
        return taken

    def planned(self) -> list[Indices]:
        """All micro-batches of this process in the current pool, as positions in the store: before the first `next`."""
        processes = self._processes
        return self._batches.planned_pieces(processes.rank, processes.world_size, self._micro_batches)

    def _take(self) -> TakenShard:
        rank, world_size = self._processes.rank, self._processes.world_size
        shard = self._batches.next_shard(rank, world_size, self._micro_batches)
        return TakenShard(Shard([*map(self._prepare, shard.batches)], shard.target_tokens), self._batches.position)


def _choose_gpu(number: int | None) -> None:
    """Let a new thread pin memory for this process's GPU; every thread begins with the first one, which others use."""
    if number is not None:
        torch.cuda.set_device(number)
