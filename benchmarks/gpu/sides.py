"""Sides of the GPU benchmark: something that trains, ours by the library's own update, and the peers at their best."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data.store import TokenStore
from annotated.model import Transformer
from annotated.runs.shards import ShardStream
from annotated.speed.layouts import forward_rows
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps import FastStep
from annotated.speed.steps.loss import logits_terms
from annotated.training.update import UpdateMetrics, update
from benchmarks.gpu.modes import COMPILED, MODES, NO_CUDNN, PEERS, Mode
from benchmarks.gpu.pairs import LONGEST, Work, our_batches, our_work, padded_work
from benchmarks.peers import registry, workload
from benchmarks.peers.project import model_config
from benchmarks.peers.workload import Shape

RATE = 1e-4


@dataclass
class Side:
    """Something that trains: `take` gives its next batch, `step` makes an update with one."""

    take: Callable[[], Work]
    step: Callable[[Work], Tensor]
    """The loss a target token; it stays on the device."""
    loads_in_time: bool
    """True if taking a batch belongs to the time of a step: ours, as in a training. The peers' lie there already."""
    probe: Work | None = None
    """The batch of the first step, the same for all modes of ours; None for the first that is taken."""
    norm: Callable[[], Tensor] | None = None
    """The gradient's norm of the last step, where it is known."""
    recordings: Callable[[], int] = lambda: 0
    """CUDA graphs recorded so far."""


def paper_shapes(name: str) -> Shape:
    """Base and big with the paper's 37,000 entries; others as they are."""
    if name == "big":
        return Shape(d_model=1024, heads=16, d_ff=4096, vocab=37_000, dropout=0.3)
    shape = workload.SHAPES[name]
    return dataclasses.replace(shape, vocab=37_000) if name == "base" else shape


def use_cudnn_attention(wanted: bool) -> None:
    """Let PyTorch's attention choose cuDNN's kernels, or not (torch 2.5 and newer have the switch).

    Compiled code is kept on the disk under a key that does not know the switch: sides that differ in nothing else would
    get each other's kernels. So the key says it.
    """
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(wanted)
    settings = getattr(torch.compiler, "config", None)
    if hasattr(settings, "cache_key_tag"):
        settings.cache_key_tag = f"benchmark, cuDNN attention {'on' if wanted else 'off'}"


@contextlib.contextmanager
def open_side(
    name: str, shape: Shape, store: TokenStore, tokens: int, device: str, precision: str = "bf16"
) -> Iterator[Side]:
    """A side of `SIDES`, ready for its first batch; `precision` takes the place of bf16.

    Raises
    ------
    PeerAbsent
        If its package is not installed.
    """
    if name not in MODES:
        use_cudnn_attention(not name.endswith(NO_CUDNN))
        yield _peer(name, shape, store, tokens, device, precision)
        return
    with open_mode(MODES[name], shape, store, tokens, device, precision) as side:
        yield side


@contextlib.contextmanager
def open_mode(
    mode: Mode, shape: Shape, store: TokenStore, tokens: int, device: str, precision: str = "bf16"
) -> Iterator[Side]:
    """Our training in a mode, as `open_side`."""
    use_cudnn_attention(mode.cudnn_attention)
    fields = {**mode.training, "precision": mode.precision if mode.precision == "fp32" else precision}
    training = TrainingConfig(**{"batch_tokens": tokens, "device": device, **fields})
    torch.manual_seed(0)
    model = Transformer(model_config(shape))
    with _tf32(mode.tf32), open_training(model, training, store, mode) as side:
        yield side


@contextlib.contextmanager
def open_training(
    model: Transformer, training: TrainingConfig, store: TokenStore, mode: Mode | None = None
) -> Iterator[Side]:
    """Training of a model of ours as the loop of a run does it: its loader, its compiled step, no waiting.

    The model is moved to the configuration's device, and left in training mode.
    """
    mode = mode or Mode(training.to_dict())
    device = torch.device(training.device)
    model.to(device).train()
    ours = FastStep(model, training, Processes(device=device))
    batches = our_batches(store, training.batch_tokens)
    last = [torch.zeros(())]

    def observe(metrics: UpdateMetrics) -> Tensor | None:
        last[0] = metrics.gradient_norm
        return last[0] if device.type == "cuda" else None

    with ours.compiled(min(LONGEST, training.batch_tokens)), contextlib.ExitStack() as opened:
        shards = opened.enter_context(ShardStream(batches, ours.processes, 1, ours.prepare))
        adapt(ours, mode)
        ours.record(store, shards.planned())

        def step(work: Work) -> Tensor:
            batch = work.ready
            made = update(ours, [batch], batch.target_tokens, RATE, observe)
            return made.losses[0] / batch.target_tokens

        static = ours.static
        recordings = (lambda: 0) if static is None else (lambda: static.recordings)
        probe = our_work(next(our_batches(store, training.batch_tokens)))
        yield Side(
            take=lambda: our_work(shards.next().shard.batches[0]),
            step=step,
            loads_in_time=True,
            probe=probe,
            norm=lambda: last[0],
            recordings=recordings,
        )


def adapt(ours: FastStep, mode: Mode) -> None:
    """What a mode has that no training has: no graphs, the compiler's trials; on a CPU, graphs that calculate again."""
    if not (mode.graphs and mode.recorded_optimizer):
        ours.recorded = None
    micro_step, device = ours.static, ours.device
    if micro_step is None or not mode.compiles:
        return
    if not mode.graphs:
        micro_step._recorder = None
    elif device.type != "cuda":  # the same work is done again: it tries the path, and is no faster
        micro_step._recorder = lambda work: work
    if mode.autotune and device.type == "cuda":
        how: dict[str, Any] = {"dynamic": False, "fullgraph": True, "mode": "max-autotune-no-cudagraphs"}
        micro_step.forward = torch.compile(forward_rows, **how)
        micro_step.terms = torch.compile(logits_terms, **how)


def _peer(name: str, shape: Shape, store: TokenStore, tokens: int, device: str, precision: str) -> Side:
    """A peer with everything compiled that its user could compile: model and loss, in one graph for all shapes."""
    plain = name.removesuffix(NO_CUDNN)
    adapter = PEERS[plain.removesuffix(COMPILED)]
    registry.require(adapter)
    torch.manual_seed(0)
    peer = registry.create(adapter)
    with torch.device(device):
        peer.build(shape)
    peer.model.train()
    loss_of: Callable[[Any], Tensor] = peer.loss
    if plain.endswith(COMPILED):
        loss_of = torch.compile(peer.loss, dynamic=True)
    batches = padded_work(store, tokens)

    def take() -> Work:
        batch, work = next(batches)
        return dataclasses.replace(work, ready=peer.prepare(batch.to(device)))

    def step(work: Work) -> Tensor:
        peer.optimiser.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = loss_of(work.ready)
        loss.backward()
        peer.optimiser.step()
        return loss.detach()

    return Side(take, step, False)


@contextlib.contextmanager
def _tf32(wanted: bool) -> Iterator[None]:
    """TF32 for products in float32, in this block only."""
    before = torch.get_float32_matmul_precision()
    if wanted:
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def flops(shape: Shape, works: Sequence[Work]) -> float:
    """Operations that the real tokens of some batches need."""
    return sum(workload.train_flops(shape, work.source_lengths, work.target_lengths) for work in works)
