"""Compiled micro-step: once for all batches where the layout is static, and on a GPU recorded and replayed.

A base model's micro-step is more than a thousand kernels. Told one by one, they keep a processor busy for longer than
a large GPU needs to run them. A CUDA graph is told once. It needs every tensor to stay where it was when it was
recorded: the batch is copied into the same memory each time, and gradients are added to the same tensors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer, forward_rows
from annotated.model.fast.tiles import require_flex_attention
from annotated.training.compilations import Compilation, Compilations
from annotated.training.cuda_graphs import CudaGraphs, GraphRecorder
from annotated.training.layout import static_problem
from annotated.training.loss import LogitsTerms, static_loss
from annotated.training.precision import Precision
from annotated.training.preparation import Prepare, prepare_packed, prepare_padded, uniform_rows
from annotated.training.recorded_optimizer import RecordedOptimizer
from annotated.training.static_layout import LaidOutBatch, StaticBatch, StaticShape
from annotated.training.update import MicroStep, make_micro_step

__all__ = ["CudaGraphs", "GraphRecorder", "StaticStep", "compile_terms", "compiled", "records", "recorded_optimizer"]


@contextlib.contextmanager
def compiled(
    model: Transformer,
    training: TrainingConfig,
    precision: Precision,
    longest: int,
    world_size: int = 1,
    tell: Callable[[Compilation], None] | None = None,
) -> Iterator[MicroStep]:
    """The micro-step to train with: compiled if the configuration says so, else `micro_step` itself.

    With the static layout it is a `StaticStep`, compiled or not. Else `micro_step` is given the model's pass in the
    layout, compiled, as `forward`, and the loss's `terms`; the model itself stays as it is. Validation and decoding are
    not compiled: they would need graphs of their own.

    Parameters
    ----------
    longest
        Tokens of the longest sentence, eos included.
    world_size
        Processes that share each batch.
    tell
        Called for each compilation and recording, which the training waits for.

    Raises
    ------
    ValueError
        If the static layout would be slow beyond use here; the message says what to use.
    RuntimeError
        If compiling or recording fails; the message says how to train without.
    """
    device, compilations = precision.device, Compilations(tell)
    with _compiler_errors(), compilations.watched() if training.compile else contextlib.nullcontext():
        if training.layout == "static":
            _require_kernel(model, training, device)
            if training.attention_kernel == "flex":
                require_flex_attention(model.config, training, device)
            shape = StaticShape.for_training(training, longest, world_size)
            recorder = CudaGraphs() if records(training, precision) else None
            step = StaticStep(model, training, precision, shape, device, recorder, compilations=compilations)
            step.zeroes = training.micro_batches(world_size) == 1
            yield step
        elif training.compile:
            whole: Any = forward_rows if training.layout == "packed" else Transformer.forward
            forward = compilations.of("forward pass", torch.compile(whole, dynamic=True))
            terms = (
                compilations.of("terms of the loss", compile_terms(precision.terms))
                if training.layout == "packed"
                else None
            )
            yield make_micro_step(model, training, precision, forward, terms)
        else:
            yield make_micro_step(model, training, precision)


def compile_terms(terms: LogitsTerms, **options: Any) -> LogitsTerms:
    """`terms`, such as `logits_terms`, compiled for any number of rows: one graph, in which only that is not fixed.

    Options are for `torch.compile`.
    """
    made = torch.compile(terms, dynamic=False, fullgraph=True, **options)

    def of_any_rows(logits: Tensor, gold: Tensor, *numbers: Any) -> tuple[Tensor, Tensor | None]:
        for tensor in (logits, gold):
            torch._dynamo.mark_dynamic(tensor, 0)
        return made(logits, gold, *numbers)

    return of_any_rows


def records(training: TrainingConfig, precision: Precision) -> bool:
    """True if the work of an update is recorded as CUDA graphs: static and compiled, on a GPU, without a scaler."""
    on_gpu = precision.device.type == "cuda"
    return training.layout == "static" and training.compile and on_gpu and precision.scaler is None


def recorded_optimizer(
    model: Transformer, optimizer: Optimizer, training: TrainingConfig, precision: Precision
) -> RecordedOptimizer | None:
    """Norm, clipping and step of the optimiser as CUDA graphs, for `update`; None where the micro-step is none."""
    if not records(training, precision) or not all(group.get("fused") for group in optimizer.param_groups):
        return None
    return RecordedOptimizer(optimizer, model.parameters(), training.clip_norm, precision, CudaGraphs())


def _require_kernel(model: Transformer, training: TrainingConfig, device: torch.device) -> None:
    if device.type == "cuda" and static_problem(training, model.config, device) is not None:
        raise ValueError(
            "the static layout needs, on a GPU, torch 2.11 or newer, precision bf16 or fp16, heads with d_k = d_v a "
            "multiple of 8 and at most 256, no attention_dropout, and a GPU for which torch has the kernel: without "
            "them attention would compare all rows of a batch with each other. Use layout 'packed', which makes the "
            "same updates"
        )


@contextlib.contextmanager
def _compiler_errors() -> Iterator[None]:
    try:
        yield
    except torch._dynamo.exc.TorchDynamoException as error:
        raise RuntimeError(
            f"torch.compile failed ({str(error).splitlines()[0]}). It needs a C++ compiler on a CPU and Triton on a "
            "GPU; train without it: compile=False gives the same model"
        ) from error


def preparation(micro_step: MicroStep, training: TrainingConfig, device: torch.device) -> Prepare:
    """What can be done with a batch of a training before a micro-step gets it: by a way of its own, if it has one."""
    own: Prepare | None = getattr(micro_step, "prepare", None)
    if own is not None:
        return own
    pin = device.type == "cuda"
    if training.layout == "padded":
        return functools.partial(prepare_padded, pin=pin)
    return functools.partial(prepare_packed, pin=pin, uniform=uniform_rows(training.compile, device))


class StaticStep:
    """Forward, loss and backward of micro-batches in one fixed shape, or in some dozens with `training.row_classes`.

    Parameters
    ----------
    model, training, precision
        What to train, how, and in which numbers.
    shape
        Room for the batches; one that needs more makes it grow, which compiles and records anew. With row classes
        only their sizes follow from it.
    device
        Of the model.
    recorder
        Records the work of each shape; None does it step by step. On a GPU only what is compiled can be recorded, as
        `CudaGraphs` explains.
    mode
        Of `torch.compile`, if `training.compile`.
    compilations
        Tells of compilations and recordings.

    Raises
    ------
    ValueError
        If work on a GPU is to be recorded without being compiled.
    """

    def __init__(
        self,
        model: Transformer,
        training: TrainingConfig,
        precision: Precision,
        shape: StaticShape,
        device: torch.device,
        recorder: GraphRecorder | None = None,
        mode: str | None = None,
        compilations: Compilations | None = None,
    ) -> None:
        if recorder is not None and device.type == "cuda" and not training.compile:
            raise ValueError("CUDA graphs are only recorded of a compiled step: set compile=True, or give no recorder")
        self.model, self.precision, self.shape, self.device = model, precision, shape, device
        self.smoothing = training.label_smoothing
        self.forward: Callable[..., Tensor] = forward_rows
        self.terms: LogitsTerms = precision.terms
        self.row_classes, self.compiles = training.row_classes, training.compile
        self.zeroes = False
        """Gradients begin at zero inside the recorded work. For updates of one micro-batch: with several, each shape
        would be recorded twice."""
        self._compilations = compilations or Compilations()
        if training.compile:
            options: dict[str, Any] = {"dynamic": False, "fullgraph": True, "mode": mode}
            self.forward = self._compilations.of("forward pass", torch.compile(self.forward, **options))
            terms = compile_terms(self.terms, mode=mode) if self.row_classes else torch.compile(self.terms, **options)
            self.terms = self._compilations.of("terms of the loss", terms)
        self._recorder = recorder
        self._recordings: dict[tuple[StaticShape, int, bool], _Recording] = {}
        self._parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._gradients: list[Tensor] = []

    @property
    def recordings(self) -> int:
        """How many shapes were recorded."""
        return len(self._recordings)

    def __call__(self, batch: Batch, tokens: float) -> Tensor:
        """Add the gradient of (loss sum / tokens); the loss sum, a scalar on the device.

        Parameters
        ----------
        batch
            On the CPU.
        tokens
            Target tokens of the whole update.
        """
        laid = batch if isinstance(batch, LaidOutBatch) else self.prepare(batch)
        if self._recorder is None:
            return self._work(laid.shape, laid.flat.to(self.device, non_blocking=True), tokens)
        key = laid.shape, len(laid.flat), self._keep_gradients()
        if key not in self._recordings:
            with self._compilations.recording(f"recording of {laid.shape.sides} rows, {len(laid.flat)} numbers"):
                self._recordings[key] = self._record(laid, from_zero=key[2])
        return self._recordings[key].play(laid.flat, tokens)

    def prepare(self, batch: Batch) -> LaidOutBatch:
        """Lay a batch out, which needs nothing of the device: a thread may do it beforehand, batch after batch."""
        if self.row_classes:
            shape = self.shape.class_of(batch)
        else:
            shape = self.shape = self.shape.grown_for(batch)
        return LaidOutBatch(**vars(batch), shape=shape, flat=shape.lay_out(batch, pin=self.device.type == "cuda"))

    def _work(self, shape: StaticShape, flat: Tensor, tokens: float | Tensor) -> Tensor:
        batch = shape.views(flat)
        if self.compiles:
            self._mark_sizes_that_differ(batch)
        with self.precision.autocast():
            parts = self.forward, self.terms, self.precision.products
            loss_sum = static_loss(self.model, batch, self.smoothing, *parts)
        self.precision.scale(loss_sum / tokens).backward()
        return loss_sum.detach()

    def _mark_sizes_that_differ(self, batch: StaticBatch) -> None:
        """Tell the compiler which sizes differ between batches: no reason to compile again."""
        rows = batch.source_rows, batch.target_rows
        sizes = [side.cu_seqlens for side in rows]
        if self.row_classes:
            sizes += [batch.source, batch.target_in, *(side.positions for side in rows)]
            sizes += [side.reach for side in rows if side.reach is not None]
        for tensor in sizes:
            torch._dynamo.mark_dynamic(tensor, 0)

    def _keep_gradients(self) -> bool:
        """Let `grad` be the same tensors as ever; where it was set to None, they begin at zero.

        True if all do and the recorded work is to set them to zero, which then has not been done here.
        """
        if not self._gradients:
            self._gradients = [torch.zeros_like(parameter) for parameter in self._parameters]
        missing = [g for p, g in zip(self._parameters, self._gradients, strict=True) if p.grad is not g]
        from_zero = self.zeroes and len(missing) == len(self._gradients)
        if missing and not from_zero:
            torch._foreach_zero_(missing)
        for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
            parameter.grad = gradient
        return from_zero

    def _record(self, laid: LaidOutBatch, from_zero: bool) -> _Recording:
        """Record the work on a batch, and leave gradients and random numbers as they were."""

        def work(flat: Tensor, tokens: Tensor) -> Tensor:
            if from_zero:
                torch._foreach_zero_(self._gradients)
            return self._work(laid.shape, flat, tokens)

        before = [gradient.clone() for gradient in self._gradients]
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            recording = _Recording(work, laid.flat.to(self.device, copy=True), self._recorder)
        torch._foreach_copy_(self._gradients, before)
        return recording


class _Recording:
    """The work of one shape, and the memory in which it happens."""

    def __init__(self, work: Callable[[Tensor, Tensor], Tensor], flat: Tensor, recorder: GraphRecorder | None) -> None:
        assert recorder is not None
        self.flat, self.tokens = flat, torch.ones((), device=flat.device)
        self.loss = torch.zeros((), device=flat.device)

        def again() -> None:
            self.loss.copy_(work(self.flat, self.tokens))

        self._replay = recorder(again)

    def play(self, flat: Tensor, tokens: float) -> Tensor:
        """Do the work on another batch of the same shape."""
        self.flat.copy_(flat, non_blocking=True)
        self.tokens.fill_(tokens)
        self._replay()
        return self.loss.clone()
