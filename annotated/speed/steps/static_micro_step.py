"""Micro-steps in few fixed shapes: compiled once for all batches, and on a GPU recorded and replayed.

A base model's micro-step is more than a thousand kernels. Told one by one, they keep a processor busy for longer than
a large GPU needs to run them. A CUDA graph is told once. It needs every tensor to stay where it was when it was
recorded: the batch is copied into the same memory each time, and gradients are added to the same tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data.batch import Batch, collate
from annotated.data.buckets import Indices
from annotated.data.store import TokenStore
from annotated.model import Transformer
from annotated.speed.layouts import forward_rows
from annotated.speed.layouts.static_batch import Extent, LaidOutBatch, StaticBatch, StaticShape
from annotated.speed.steps.compilations import Compilations, compile_terms
from annotated.speed.steps.cuda_graphs import GraphRecorder
from annotated.speed.steps.loss import LogitsTerms, static_loss
from annotated.speed.steps.precision import Precision


class StaticMicroStep:
    """Forward, loss and backward of micro-batches in rows of one number, or in some dozens with `training.row_classes`.

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
        return self._recording_of(laid).play(laid.flat, tokens)

    def record(self, store: TokenStore, pieces: Iterable[Indices]) -> None:
        """Record the work for each shape that some micro-batches will have, as far as there is a recorder.

        Between two updates: gradients that are there get lost.

        Parameters
        ----------
        store
            That the training takes its batches from.
        pieces
            The micro-batches to come, as positions in it. Their shapes follow from lengths alone, so of each shape one
            batch is made.
        """
        if self._recorder is None:
            return
        sizes = [(piece, Extent.of(*(side.tolist() for side in store.lengths(piece)))) for piece in pieces]
        for _, extent in sizes:
            self._shape_for(extent)  # which may grow: what was recorded before would be of no use
        one_of: dict[tuple[StaticShape, int], Indices] = {}
        for piece, extent in sizes:
            shape = self._shape_for(extent)
            one_of.setdefault((shape, shape.numbers(extent)), piece)
        for _, piece in sorted(one_of.items(), key=lambda one: -one[0][0].width):  # a table of positions grows once
            self.model.zero_grad(set_to_none=True)  # as every update begins
            self._recording_of(self.prepare(collate(store, piece)))
        self.model.zero_grad(set_to_none=True)

    def _recording_of(self, laid: LaidOutBatch) -> _Recording:
        key = laid.shape, len(laid.flat), self._keep_gradients()
        if key not in self._recordings:
            with self._compilations.recording(f"recording of {laid.shape.sides} rows, {len(laid.flat)} numbers"):
                self._recordings[key] = self._record(laid, from_zero=key[2])
        return self._recordings[key]

    def prepare(self, batch: Batch) -> LaidOutBatch:
        """Lay a batch out, which needs nothing of the device: a thread may do it beforehand, batch after batch."""
        shape = self._shape_for(Extent.of(batch.source_lengths, batch.target_lengths))
        return LaidOutBatch(**vars(batch), shape=shape, flat=shape.lay_out(batch, pin=self.device.type == "cuda"))

    def _shape_for(self, extent: Extent) -> StaticShape:
        if self.row_classes:
            return self.shape.class_of(extent)
        self.shape = self.shape.grown_for(extent)
        return self.shape.narrowed_for(extent)

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
        sizes = [side.cu_seqlens for side in rows] + [side.reach for side in rows if side.reach is not None]
        if self.row_classes:
            sizes += [batch.source, batch.target_in, *(side.positions for side in rows)]
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
        recording.reads = list(self.model.buffers())
        torch._foreach_copy_(self._gradients, before)
        return recording


class _Recording:
    """The work of one shape, and the memory in which it happens."""

    def __init__(self, work: Callable[[Tensor, Tensor], Tensor], flat: Tensor, recorder: GraphRecorder | None) -> None:
        assert recorder is not None
        self.reads: list[Tensor] = []
        """Tensors whose memory a graph knows, and that others may replace: a longer sentence makes another table of
        positions."""
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
