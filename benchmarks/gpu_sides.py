"""What `python -m benchmarks gpu` sets beside each other: every mode of ours, and the peers at their best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data.buckets import by_length, cut
from annotated.model import Transformer, forward_rows
from annotated.training.compiled import CudaGraphs, StaticStep
from annotated.training.optimizer import make_optimizer
from annotated.training.precision import Precision
from annotated.training.static_layout import StaticShape
from annotated.training.update import MicroStep, UpdateMetrics, make_micro_step, update
from benchmarks.peers import registry, workload
from benchmarks.peers.project import library_batch, model_config
from benchmarks.peers.workload import Pair, Shape, WorkBatch

LONGEST = 256
"""Tokens of the longest sentence that a training keeps by default; the static shape has room for it."""


@dataclass(frozen=True)
class Mode:
    """How our model is trained; the fields are those of `TrainingConfig`, and what a GPU adds."""

    precision: Literal["fp32", "bf16"] = "bf16"
    layout: Literal["packed", "static"] = "packed"
    compile: bool = False
    tf32: bool = False
    graphs: bool = False
    autotune: bool = False
    """Let the compiler try out kernels for the matrix products; minutes at the start."""


MODES = {
    "fp32": Mode(precision="fp32"),
    "tf32": Mode(precision="fp32", tf32=True),
    "bf16": Mode(),
    "bf16_compiled": Mode(compile=True),
    "bf16_static": Mode(layout="static"),
    "bf16_static_compiled": Mode(layout="static", compile=True),
    "bf16_static_graphs": Mode(layout="static", compile=True, graphs=True),
    "bf16_static_graphs_autotuned": Mode(layout="static", compile=True, graphs=True, autotune=True),
}
PEERS = {
    "torch_nn": "torch_nn_bucketed_same_dropout_fused_adam",
    "hf_marian": "hf_marian_same_dropout_fused_adam",
}
SIDES = (*MODES, *(f"{peer}{how}" for peer in PEERS for how in ("", "_compiled")))


@dataclass
class Side:
    """Something that trains: one step for each of its batches, and what the batches hold."""

    step: Callable[[int], Tensor]
    """Makes an update with batch number i; the loss a target token stays on the device."""
    batches: list[WorkBatch]
    norm: Callable[[], Tensor] | None = None
    """The gradient's norm of the last step, where it is known."""

    @property
    def tokens(self) -> int:
        """Real tokens of all batches."""
        return sum(batch.tokens for batch in self.batches)

    def flops(self, shape: Shape) -> float:
        """Operations that the real tokens need."""
        return sum(workload.train_flops(shape, b.source_lengths, b.target_lengths) for b in self.batches)


def packed_batches(pairs: Sequence[Pair], tokens: int) -> list[WorkBatch]:
    """Batches as our loader makes them for rows without padding: at most `tokens` real tokens a side."""
    source, target = (np.array([len(pair[side]) for pair in pairs], dtype=np.int64) for side in (0, 1))
    order = by_length(source, target, None)
    parts = cut(source[order], target[order], tokens, "packed")
    return [workload.collate([pairs[index] for index in order[part]]) for part in parts]


def build(
    name: str,
    shape: Shape,
    pairs: Sequence[Pair],
    tokens: int,
    count: int,
    device: str,
    precision: Literal["fp32", "bf16"] = "bf16",
) -> Side:
    """A side of `SIDES`, with `count` batches at even quantiles of size; `precision` takes the place of bf16.

    Raises
    ------
    PeerAbsent
        If its package is not installed.
    """
    if name in MODES:
        mode = MODES[name] if MODES[name].precision == "fp32" else replace(MODES[name], precision=precision)
        return _ours(mode, shape, workload.sample(packed_batches(pairs, tokens), count), tokens, device)
    peer, compiled = name.removesuffix("_compiled"), name.endswith("_compiled")
    batches = workload.sample(workload.token_buckets(pairs, max_tokens=tokens), count)
    return _peer(PEERS[peer], shape, batches, device, compiled, precision)


def _peer(name: str, shape: Shape, batches: list[WorkBatch], device: str, compiled: bool, precision: str) -> Side:
    registry.require(name)
    torch.manual_seed(0)
    peer = registry.create(name)
    with torch.device(device):
        peer.build(shape)
    peer.model.train()
    if compiled:
        peer.model.compile(dynamic=True)
    ready = [peer.prepare(batch.to(device)) for batch in batches]

    def step(number: int) -> Tensor:
        peer.optimiser.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = peer.loss(ready[number])
        loss.backward()
        peer.optimiser.step()
        return loss.detach()

    return Side(step, batches)


def _ours(mode: Mode, shape: Shape, batches: list[WorkBatch], tokens: int, device_name: str) -> Side:
    """An update as the training loop makes it: laid out on the CPU, copied, checked on the device, never waited for."""
    device = torch.device(device_name)
    torch.manual_seed(0)
    model = Transformer(model_config(shape)).to(device).train()
    training = TrainingConfig(
        batch_tokens=tokens,
        precision=mode.precision,
        layout=mode.layout,
        compile=mode.compile,
    )
    optimizer, precision = make_optimizer(model, training), Precision(mode.precision, device)
    micro_step = _micro_step(mode, model, training, precision, device)
    ours = [library_batch(batch) for batch in batches]
    last = [torch.zeros(())]

    def before_step(metrics: UpdateMetrics) -> Tensor | None:
        last[0] = metrics.gradient_norm
        return last[0] if device.type == "cuda" else None

    def step(number: int) -> Tensor:
        batch = ours[number]
        with _tf32(mode.tf32):
            made = update(
                model,
                optimizer,
                [batch],
                batch.target_tokens,
                rate=1e-4,
                micro_step=micro_step,
                precision=precision,
                before_step=before_step,
            )
        return made.losses[0] / batch.target_tokens

    return Side(step, batches, lambda: last[0])


def _micro_step(
    mode: Mode, model: Transformer, training: TrainingConfig, precision: Precision, device: torch.device
) -> MicroStep:
    if mode.layout == "static":
        recorder = None
        if mode.graphs:  # without a GPU the same work is done again: it tries the path, and is no faster
            recorder = CudaGraphs() if device.type == "cuda" else lambda work: work
        shape = StaticShape.for_training(training, min(LONGEST, training.batch_tokens))
        autotune = "max-autotune-no-cudagraphs" if mode.autotune and device.type == "cuda" else None
        return StaticStep(model, training, precision, shape, device, recorder, autotune)
    forward = torch.compile(forward_rows, dynamic=True) if mode.compile else None
    return make_micro_step(model, training, precision, forward)


class _tf32(nullcontext[None]):  # noqa: N801 (a context, used as one)
    """TF32 for products in float32, in this block only."""

    def __init__(self, wanted: bool) -> None:
        super().__init__()
        self.wanted = wanted

    def __enter__(self) -> None:
        self.before = torch.get_float32_matmul_precision()
        if self.wanted:
            torch.set_float32_matmul_precision("high")

    def __exit__(self, *error: object) -> None:
        torch.set_float32_matmul_precision(self.before)


def paper_shapes(name: str) -> Shape:
    """Base and big with the paper's 37,000 entries; others as they are."""
    if name == "big":
        return Shape(d_model=1024, heads=16, d_ff=4096, vocab=37_000, dropout=0.3)
    shape = workload.SHAPES[name]
    return replace(shape, vocab=37_000) if name == "base" else shape
