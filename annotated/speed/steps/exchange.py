"""Exchange of gradients: their sum over all processes, in one piece after the backward pass or in buckets during it.

In float32 the sum is one all-reduce. In bf16, at half the bytes, it is two exchanges: every process gets its shard of
everybody's gradients, rounded to bf16 once, adds them up in float32, and the sums, rounded once more, go to all. An
all-reduce in bf16 moves as many bytes, but rounds after every addition: with N processes N - 1 times, so that the
error grows with their number. Here it does not: of gradients g it is at most 2^-8 * (sum |g| + |sum g|).

Buckets of about 25 MB are exchanged while the backward pass still computes the gradients of layers below.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.speed.machine.distributed import Processes

BUCKET_BYTES = 25_000_000
"""Of float32 gradients exchanged at one time, if they are exchanged during the backward pass: enough for the rate of a
link, and few enough for the first to be on its way early."""
_gather: Any = getattr(dist, "all_gather_single", None) or getattr(dist, "all_gather_into_tensor", None)
"""Its second name is older, and 2.13 warns of it."""


class RunningSum(Protocol):
    """The sum of one flat tensor over all processes, under way."""

    def advance(self) -> None:
        """Wait for what was begun, and begin the next part if there is one."""
        ...

    def result(self) -> Tensor:
        """The sum, flat, in the type that was exchanged."""
        ...


class Float32Sum:
    """One all-reduce of float32 numbers.

    Parameters
    ----------
    flat
        float32 `[n]`; becomes the sum.
    group
        Of processes; None for all.
    """

    def __init__(self, flat: Tensor, group: Any = None) -> None:
        self._flat = flat
        self._work = dist.all_reduce(flat, group=group, async_op=True)

    def advance(self) -> None:
        """Nothing: there is one part."""

    def result(self) -> Tensor:
        """float32 `[n]`"""
        self._work.wait()
        return self._flat


class Bfloat16Sum:
    """Shards to their owners in bf16, float32 sums there, and the sums to all in bf16.

    Every process ends with the same bits: the owner of a shard too takes its sum rounded.

    Parameters
    ----------
    flat
        float32 `[n]`
    group
        Of processes; None for all.
    """

    def __init__(self, flat: Tensor, group: Any = None) -> None:
        self._size, self._group, self._processes = len(flat), group, dist.get_world_size(group)
        padding = -self._size % self._processes
        sent = nn.functional.pad(flat, (0, padding)).to(torch.bfloat16)
        self._received, self._sent = torch.empty_like(sent), sent  # kept: they are read until the exchange is over
        self._work = dist.all_to_all_single(_bytes(self._received), _bytes(sent), group=group, async_op=True)

    def advance(self) -> None:
        """Add up this process's shard, and send the sum to all."""
        self._work.wait()
        shards = self._received.view(self._processes, -1)
        self._mine = shards.sum(dim=0, dtype=torch.float32).to(torch.bfloat16)
        self._all, mine = self._sent, self._mine  # what was sent is no longer needed: its memory takes the sums
        self._work = _gather(_bytes(self._all), _bytes(mine), group=self._group, async_op=True)

    def result(self) -> Tensor:
        """bf16 `[n]`"""
        self._work.wait()
        return self._all[: self._size]


def _bytes(tensor: Tensor) -> Tensor:
    """As bytes, which every backend of every release can move."""
    return tensor.view(torch.uint8)


SUMS: dict[str, Any] = {"fp32": Float32Sum, "bf16": Bfloat16Sum}
"""By `TrainingConfig.gradient_exchange`."""


def plan_buckets(parameters: Sequence[nn.Parameter], limit: int) -> list[list[nn.Parameter]]:
    """Parameters in backward order, last ones first, in buckets of at most `limit` bytes; a larger one is alone."""
    buckets: list[list[nn.Parameter]] = []
    filled = limit
    for parameter in reversed(parameters):
        size = parameter.numel() * parameter.element_size()
        if filled + size > limit:
            buckets.append([])
            filled = 0
        buckets[-1].append(parameter)
        filled += size
    return buckets


class GradientExchange:
    """Sums the gradients of a model over all processes, once for each update.

    Parameters
    ----------
    model
        Its trainable parameters.
    processes
        Who shares the batch; None for nobody, and nothing is exchanged.
    sent
        'fp32' or 'bf16', as `TrainingConfig.gradient_exchange`.
    overlap
        Exchange buckets during the backward pass of the last micro-batch, as `TrainingConfig.overlap_exchange`. A
        backward pass that is replayed from a CUDA graph calls no hooks: then all is exchanged after it.
    bucket_bytes
        Limit of a bucket; None for `BUCKET_BYTES`.

    Paper: section 5.2 (one machine with 8 GPUs)
    """

    def __init__(
        self,
        model: nn.Module,
        processes: Processes | None = None,
        sent: str = TrainingConfig.gradient_exchange,
        overlap: bool = TrainingConfig.overlap_exchange,
        bucket_bytes: int | None = None,
    ) -> None:
        self._alone = processes is None or processes.world_size == 1
        self._begin = SUMS[sent]
        self._buckets: list[list[nn.Parameter]] = []
        self._running: list[RunningSum] = []
        self._missing: list[int] = []
        self._armed = False
        if self._alone:
            return
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._buckets = plan_buckets(parameters, bucket_bytes or BUCKET_BYTES) if overlap else [parameters]
        for number, bucket in enumerate(self._buckets if overlap else ()):
            for parameter in bucket:
                parameter.register_post_accumulate_grad_hook(functools.partial(self._complete, number))

    @property
    def begun(self) -> int:
        """How many buckets are on their way."""
        return len(self._running)

    def watch(self, micro_batches: Sequence[Batch]) -> Iterator[Batch]:
        """The micro-batches, in their order: the gradients that the last one completes are sent as they come."""
        for number, batch in enumerate(micro_batches, start=1):
            if number == len(micro_batches):
                self._armed, self._missing = True, [len(bucket) for bucket in self._buckets]
            yield batch
        self._armed = False

    def sum_gradients(self) -> None:
        """Replace each gradient by its sum over all processes; what is not on its way yet is sent now."""
        self._armed = False
        while self.begun < len(self._buckets):
            self._send_next()
        running, self._running = self._running, []
        for one in running:
            one.advance()
        for bucket, one in zip(self._buckets, running, strict=True):
            summed = one.result().split([parameter.numel() for parameter in bucket])
            for parameter, values in zip(bucket, summed, strict=True):
                assert parameter.grad is not None
                parameter.grad.copy_(values.view_as(parameter))

    def _complete(self, bucket: int, _: Tensor) -> None:
        """A gradient of the bucket is there. Buckets are sent in one order everywhere, so an early one waits."""
        if not self._armed:
            return
        if bucket < self.begun:
            raise RuntimeError(
                "a gradient grew after it had been sent: with overlap_exchange the last micro-batch of an update may "
                "have one backward pass only. Train with overlap_exchange=False"
            )
        self._missing[bucket] -= 1
        while self.begun < len(self._buckets) and self._missing[self.begun] == 0:
            self._send_next()

    def _send_next(self) -> None:
        bucket = self._buckets[self.begun]
        for parameter in bucket:
            if parameter.grad is None:  # this process had no sentence: it adds nothing, in the same shape
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad.flatten() for parameter in bucket if parameter.grad is not None]
        self._running.append(self._begin(torch.cat(gradients)))
