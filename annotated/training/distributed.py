"""Data parallelism by `torchrun`: every process has the whole model and its own share of each batch.

Each process computes the gradient of its sentences' summed loss, divided by the number of target tokens of
*all* processes. The sum of these gradients is then the gradient of the whole batch, exactly, however the
tokens are spread. So gradients are added up once for each update, and nothing else is exchanged.

Paper: section 5.2 (one machine with 8 GPUs)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from annotated.training.rendezvous import fresh_store

PREPARATION = timedelta(hours=3)
"""How long the others wait for the main process while it trains a tokenizer or encodes a large corpus."""
PEER_TIMEOUT = 600.0
"""Seconds to wait for the others in everything else, if no configuration says otherwise."""


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

    def sum(self, values: Sequence[float]) -> list[float]:
        """Add up some numbers over all processes, in float64."""
        if self.world_size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return total.tolist()

    def sum_tensor(self, values: Tensor) -> Tensor:
        """Add up a tensor over all processes, in its own memory; a GPU's numbers stay there, and nothing waits."""
        if self.world_size > 1:
            dist.all_reduce(values)
        return values

    def sum_gradients(self, model: nn.Module) -> None:
        """Replace each gradient by its sum over all processes, in one exchange."""
        if self.world_size == 1:
            return
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        for parameter in parameters:
            if parameter.grad is None:  # this process had no sentence: it adds nothing, in the same shape
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, summed in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(summed.view_as(gradient))

    def same_start(self, tensors: Sequence[Tensor]) -> None:
        """Give every process the main process's values."""
        if self.world_size > 1:
            for tensor in tensors:
                dist.broadcast(tensor, src=0)

    def share(self, value: Any) -> Any:
        """The main process's value, in every process; the others' is ignored."""
        if self.world_size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def wait(self) -> None:
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
            self.wait()
        elif self.is_main:
            self.store.set(what, "done")
        else:
            self.store.wait([what], PREPARATION)


def choose_device(name: str, local_rank: int = 0) -> torch.device:
    """The device of a name from `TrainingConfig.device`.

    Raises
    ------
    ValueError
        If a GPU is asked for and there is none.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device {name!r} was asked for, but torch sees no GPU here; use device 'cpu' or 'auto'")
    return torch.device("cuda", local_rank) if device.type == "cuda" and device.index is None else device


@contextlib.contextmanager
def process_group(device: str = "auto", timeout: float = PEER_TIMEOUT) -> Iterator[Processes]:
    """Join the processes that `torchrun` started, or stand alone if it did not.

    `torchrun` describes the group in the environment (RANK, WORLD_SIZE, LOCAL_RANK). A group that exists
    already is used and left open. GPUs talk through NCCL, CPUs through gloo.

    Parameters
    ----------
    device
        As `TrainingConfig.device`.
    timeout
        Seconds. An exchange that takes longer ends with an error: somebody is lost, and all have to begin again from
        the last checkpoint, which is what `torchrun` then does. Only `Processes.wait_for_main` waits for longer.

    Raises
    ------
    ValueError
        If a GPU is asked for and there is none.

    Paper: section 5.2
    """
    rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    chosen = choose_device(device, int(os.environ.get("LOCAL_RANK", 0)))
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if world_size == 1:
        yield Processes(device=chosen)
        return
    if dist.is_initialized():
        yield Processes(rank, world_size, chosen)
        return
    backend, store = "nccl" if chosen.type == "cuda" else "gloo", fresh_store(rank, world_size)
    patience = timedelta(seconds=timeout)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=patience)
    try:
        yield Processes(rank, world_size, chosen, dist.PrefixStore("notes", store))
    except BaseException:
        if backend == "gloo":  # NCCL may still wait for a lost process; it goes when this one ends
            dist.destroy_process_group()
        raise
    dist.destroy_process_group()
