"""Data parallelism by `torchrun`: every process has the whole model and its own shard of each batch.

Each process computes the gradient of its sentences' summed loss, divided by the number of target tokens of
*all* processes. The sum of these gradients is then the gradient of the whole batch, exactly, however the
tokens are spread. So gradients are added up once for each update (`annotated.speed.steps.exchange`), and nothing else
is exchanged.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from annotated.speed.machine.nvidia_driver import explain_missing_gpu

PREPARATION = timedelta(hours=3)
"""How long the others wait for the main process while it trains a tokenizer or encodes a large corpus."""
_PAUSE = 0.02  # seconds between two looks into the store
_KEYS = "annotated"


@dataclass(frozen=True)
class Processes:
    """This process among the `world_size` that train together; one process alone is rank 0 of 1."""

    rank: int = 0
    world_size: int = 1
    device: torch.device = torch.device("cpu")
    store: dist.Store | None = None
    """Where the processes leave notes for each other; None if there is one process."""

    @property
    def is_main(self) -> bool:
        """True in the process that writes files and speaks to the user."""
        return self.rank == 0

    def all_reduce_numbers(self, values: Sequence[float]) -> list[float]:
        """Add up some numbers over all processes, in float64."""
        if self.world_size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return total.tolist()

    def all_reduce(self, values: Tensor) -> Tensor:
        """Add up a tensor over all processes, in its own memory; a GPU's numbers stay there, and nothing waits."""
        if self.world_size > 1:
            dist.all_reduce(values)
        return values

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Give every process the main process's values."""
        if self.world_size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def broadcast_object(self, value: Any) -> Any:
        """The main process's value, in every process; the others' is ignored."""
        if self.world_size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def barrier(self) -> None:
        """Go on only when all processes have come this far; none may be later than the group's time-out."""
        if self.world_size > 1:
            dist.barrier()

    def wait_for_main(self, what: str) -> None:
        """Go on when the main process has come this far, which may take it hours.

        Parameters
        ----------
        what
            What it does, in a word; another one for each wait.

        Raises
        ------
        RuntimeError
            In the others, after `PREPARATION`.
        """
        if self.store is None:
            self.barrier()
        elif self.is_main:
            self.store.set(what, "done")
        else:
            self.store.wait([what], PREPARATION)


def choose_device(name: str, local_rank: int = 0) -> torch.device:
    """The device of a name from `TrainingConfig.device`.

    Parameters
    ----------
    name
        'auto', 'cpu', 'cuda' for the GPU of this process, 'cuda:1' for one GPU.
    local_rank
        Number of this process on its machine, from 0.

    Raises
    ------
    ValueError
        If there is no device of that name, or a GPU is asked for that is not there; the message says why torch sees
        none, and what to do.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:  # torch lists seventeen kinds, of which most are not here
        raise ValueError(f"no device {name!r}: take 'auto', 'cpu', 'cuda', or of several GPUs 'cuda:1'") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device {name!r} is asked for, but torch sees no GPU here. {explain_missing_gpu()}")
    if device.type == "cuda":
        index, there = local_rank if device.index is None else device.index, torch.cuda.device_count()
        if index >= there:
            raise ValueError(
                f"process {local_rank} of this machine asks for GPU {index}, but torch sees {there} here, counted from "
                f"0: start at most {there} processes (torchrun --nproc-per-node {there}), or look at "
                "CUDA_VISIBLE_DEVICES"
            )
        return torch.device("cuda", index)
    return device


@contextlib.contextmanager
def process_group(device: str, timeout: float) -> Iterator[Processes]:
    """Join the processes that `torchrun` started, or stand alone if it did not.

    `torchrun` describes the group in the environment (RANK, WORLD_SIZE, LOCAL_RANK). A group that exists
    already is used and left open. GPUs talk through NCCL, CPUs through gloo.

    Parameters
    ----------
    device
        As `TrainingConfig.device`.
    timeout
        Seconds, as `TrainingConfig.peer_timeout`. A start or an exchange that takes longer ends with an error: somebody
        is lost, and all have to begin again from the last checkpoint, which is what `torchrun` then does. Only
        `Processes.wait_for_main` waits for longer.

    Raises
    ------
    ValueError
        If a GPU is asked for and there is none, or one for several processes.
    TimeoutError
        If not all processes came; the message names the missing.

    Paper: section 5.2 (one machine with 8 GPUs)
    """
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    chosen = choose_device(device, int(os.environ.get("LOCAL_RANK", 0)))
    here = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    if here > 1 and device.startswith("cuda:"):
        raise ValueError(f"device {device!r} would be the GPU of all {here} processes here; 'cuda' gives each its own")
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if world_size == 1:
        yield Processes(device=chosen)
        return
    if dist.is_initialized():
        yield Processes(rank, world_size, chosen)
        return
    backend, limit = "nccl" if chosen.type == "cuda" else "gloo", timedelta(seconds=timeout)
    store, _, _ = next(iter(dist.rendezvous("env://", rank, world_size, timeout=limit)))
    store = dist.PrefixStore(fresh_prefix(store, rank, world_size, timeout), store)
    own_gpu = chosen if chosen.type == "cuda" else None  # or NCCL guesses whose GPU is whose, and warns of it
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=limit, device_id=own_gpu)
    try:
        yield Processes(rank, world_size, chosen, dist.PrefixStore("notes", store))
    except BaseException:
        if backend == "gloo":  # NCCL may still wait for a lost process; it goes when this one ends
            dist.destroy_process_group()
        raise
    dist.destroy_process_group()


def fresh_prefix(store: dist.Store, rank: int, world_size: int, timeout: float) -> str:
    """A name that exactly the processes of this start know, whatever the store holds from earlier ones.

    `torchrun` starts all processes again when one of them dies, and they exchange addresses through a store that its
    agent keeps. Since torch 2.5 that store lives as long as the agent, so it still holds the addresses of the processes
    before: who reads before the owner has written anew calls an address that nobody answers, and the new start fails
    too (https://github.com/pytorch/pytorch/issues/135712). So the processes first agree on a prefix that is new.
    torch 2.13 still needs this: the issue is closed, but its agents, static and c10d, keep one store through restarts.
    The function can go, and `dist.init_process_group` can make the store, once the oldest supported torch is one whose
    agents make a new store or a new prefix for every restart.

    Each process but the first writes a random word under its rank. Rank 0 answers every word it finds there, an old one
    too, which harms nobody; the answer is the prefix, random as well. It stops when all have signed under that prefix:
    a signature can only come from one who was answered just now.

    Parameters
    ----------
    timeout
        Seconds to wait for the others.

    Raises
    ------
    TimeoutError
        If not all processes came; the message names the missing.
    """
    word, deadline = uuid.uuid4().hex, time.monotonic() + timeout
    if rank:
        store.set(f"{_KEYS}/{rank}", word)
        answer = f"{_KEYS}/answer/{word}"
        while not store.check([answer]):
            _pause(deadline, "process 0")
        prefix = store.get(answer).decode()
        store.set(f"{_KEYS}/{prefix}/{rank}", "here")
        return prefix
    for other in range(1, world_size):
        while not store.check([f"{_KEYS}/{word}/{other}"]):
            if store.check([f"{_KEYS}/{other}"]):
                store.set(f"{_KEYS}/answer/{store.get(f'{_KEYS}/{other}').decode()}", word)
            _pause(deadline, f"process {other}")
    return word


def _pause(deadline: float, who: str) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError(f"{who} of this training did not come; torchrun's output on its machine says why")
    time.sleep(_PAUSE)
