"""Time of one exchange of gradients between the processes that train together, in each type that can be exchanged.

It decides whether more processes pay: the time to compute an update is divided by their number, the exchange is not.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist

from annotated.config import ModelConfig, TrainingConfig
from annotated.runs.preflight.start import count_weights
from annotated.speed.machine.distributed import Processes, process_group
from annotated.speed.steps.exchange import SUMS

REPEATS = 5
"""Exchanges of each kind, after one that makes connections; their median counts."""
BYTES_PER_GRADIENT = 4


@dataclass(frozen=True)
class ExchangeTimes:
    """What one exchange of a model's gradients takes, measured."""

    processes: int
    nodes: int
    gradient_bytes: int
    """Of the gradients in float32."""
    seconds: dict[str, float]
    """Over all processes, by `TrainingConfig.gradient_exchange`."""
    node_seconds: dict[str, float] = field(default_factory=dict)
    """The same between the processes of one node, all nodes at once; empty if there is one node."""

    @property
    def processes_of_node(self) -> int:
        """How many processes a node has."""
        return self.processes // self.nodes


def count_nodes(world_size: int) -> int:
    """Nodes of this group, as torchrun describes it: LOCAL_WORLD_SIZE processes are on each; else one."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", world_size))
    return world_size // local if local and world_size % local == 0 else 1


def time_exchange(processes: Processes, weights: int) -> ExchangeTimes | None:
    """Sum as many numbers as a model has gradients over all processes, a few times. All processes call this.

    Parameters
    ----------
    weights
        Numbers in the model's weights.

    Returns
    -------
    ExchangeTimes or None
        None for one process, which exchanges nothing.
    """
    if processes.world_size == 1:
        return None
    nodes = count_nodes(processes.world_size)
    flat = torch.zeros(weights, device=processes.device)
    inside = {}
    if nodes > 1:
        local = processes.world_size // nodes
        # Every process takes part in making every group, its own or not.
        groups = [dist.new_group(list(range(first, first + local))) for first in range(0, processes.world_size, local)]
        own = groups[processes.rank // local]
        inside = {name: _seconds(begin, flat, own) for name, begin in SUMS.items()}
    everywhere = {name: _seconds(begin, flat, None) for name, begin in SUMS.items()}
    return ExchangeTimes(processes.world_size, nodes, BYTES_PER_GRADIENT * weights, everywhere, inside)


def measure_exchange(model_config: ModelConfig, training: TrainingConfig) -> ExchangeTimes | None:
    """Join the processes that torchrun started, time an exchange of this model's gradients, and leave them again."""
    with process_group(training.device, training.peer_timeout) as processes:
        return time_exchange(processes, count_weights(model_config))


def _seconds(begin: Callable[..., Any], flat: torch.Tensor, group: Any) -> float:
    took = []
    for _ in range(REPEATS + 1):
        dist.barrier()
        _wait(flat)
        began = time.perf_counter()
        under_way = begin(flat, group)
        under_way.advance()
        under_way.result()
        _wait(flat)
        took.append(time.perf_counter() - began)
    return statistics.median(took[1:])


def _wait(tensor: torch.Tensor) -> None:
    if tensor.is_cuda:
        torch.cuda.synchronize(tensor.device)
