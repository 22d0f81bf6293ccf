"""Compiled micro-step: once for all batches where the layout is static, and on a GPU recorded and replayed.

A base model's micro-step is more than a thousand kernels. Told one by one, they keep a processor busy for longer than
a large GPU needs to run them. A CUDA graph is told once. It needs every tensor to stay where it was when it was
recorded: the batch is copied into the same memory each time, and gradients are added to the same tensors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer, forward_rows
from annotated.model.fast.fused import has_varlen_kernel
from annotated.model.fast.tiles import require_flex_attention
from annotated.training.loss import LogitsTerms, logits_terms, static_loss
from annotated.training.precision import Precision
from annotated.training.static_layout import StaticShape
from annotated.training.update import MicroStep, make_micro_step

GraphRecorder = Callable[[Callable[[], None]], Callable[[], None]]
"""From work on the device to a function that repeats it in the same memory."""

_WARM_UPS = 3  # compiling, choosing kernels, first allocations: none of it may happen while a graph is recorded


@contextlib.contextmanager
def compiled(
    model: Transformer, training: TrainingConfig, precision: Precision, longest: int, world_size: int = 1
) -> Iterator[MicroStep]:
    """The micro-step to train with: compiled if the configuration says so, else `micro_step` itself.

    With the static layout it is a `StaticStep`, compiled or not. Else `micro_step` is given the model's pass in the
    layout, compiled, as `forward`; the model itself stays as it is.

    Parameters
    ----------
    longest
        Tokens of the longest sentence, eos included.
    world_size
        Processes that share each batch.

    Raises
    ------
    ValueError
        If the static layout would be slow beyond use here; the message says what to use.
    RuntimeError
        If compiling or recording fails; the message says how to train without.
    """
    device = precision.device
    with _compiler_errors():
        if training.layout == "static":
            _require_kernel(model, training, device)
            if training.attention_kernel == "flex":
                require_flex_attention(model.config, training, device)
            shape = StaticShape.for_training(training, longest, world_size)
            recorder = CudaGraphs() if training.compile and device.type == "cuda" and not precision.scaler else None
            yield StaticStep(model, training, precision, shape, device, recorder)
        elif training.compile:
            forward: Any = forward_rows if training.layout == "packed" else Transformer.forward
            yield make_micro_step(model, training, precision, torch.compile(forward, dynamic=True))
        else:
            yield make_micro_step(model, training, precision)


def _require_kernel(model: Transformer, training: TrainingConfig, device: torch.device) -> None:
    config = model.config
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(training.precision, torch.float32)
    known = has_varlen_kernel(device, dtype, config.d_k, config.d_v) and config.attention_dropout == 0
    if device.type == "cuda" and not known:
        raise ValueError(
            "the static layout needs, on a GPU, torch 2.13 or newer, precision bf16 or fp16, heads with d_k = d_v a "
            "multiple of 8 and at most 256, and no attention_dropout: without them attention would compare all rows of "
            "a batch with each other. Use layout 'packed', which makes the same updates"
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


class StaticStep:
    """Forward, loss and backward of micro-batches in one fixed shape.

    Parameters
    ----------
    model, training, precision
        What to train, how, and in which numbers.
    shape
        Room for the batches; one that needs more makes it grow, which compiles and records anew.
    device
        Of the model.
    recorder
        Records the work of each shape; None does it step by step.
    mode
        Of `torch.compile`, if `training.compile`.
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
    ) -> None:
        self.model, self.precision, self.shape, self.device = model, precision, shape, device
        self.smoothing = training.label_smoothing
        self.forward: Callable[..., Tensor] = forward_rows
        self.terms: LogitsTerms = logits_terms
        self.compiles = training.compile
        if training.compile:
            options: dict[str, Any] = {"dynamic": False, "fullgraph": True, "mode": mode}
            self.forward = torch.compile(self.forward, **options)
            self.terms = torch.compile(self.terms, **options)
        self._recorder = recorder
        self._recordings: dict[tuple[StaticShape, int], _Recording] = {}
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
        self.shape = self.shape.grown_for(batch)
        flat = self.shape.lay_out(batch, pin=self.device.type == "cuda")
        if self._recorder is None:
            return self._work(flat.to(self.device, non_blocking=True), tokens)
        self._keep_gradients()
        key = self.shape, len(flat)
        if key not in self._recordings:
            self._recordings[key] = self._record(flat)
        return self._recordings[key].play(flat, tokens)

    def _work(self, flat: Tensor, tokens: float | Tensor) -> Tensor:
        batch = self.shape.views(flat)
        if self.compiles:
            for rows in (batch.source_rows, batch.target_rows):
                torch._dynamo.mark_dynamic(rows.cu_seqlens, 0)  # the only size that differs: no reason to compile again
        with self.precision.autocast():
            loss_sum = static_loss(self.model, batch, self.smoothing, self.forward, self.terms)
        self.precision.scale(loss_sum / tokens).backward()
        return loss_sum.detach()

    def _keep_gradients(self) -> None:
        """Let `grad` be the same tensors as ever; where it was set to None, they begin at zero."""
        if not self._gradients:
            self._gradients = [torch.zeros_like(parameter) for parameter in self._parameters]
        missing = [g for p, g in zip(self._parameters, self._gradients, strict=True) if p.grad is not g]
        if missing:
            torch._foreach_zero_(missing)
        for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
            parameter.grad = gradient

    def _record(self, flat: Tensor) -> _Recording:
        """Record the work on a batch, and leave gradients and random numbers as they were."""
        before = [gradient.clone() for gradient in self._gradients]
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            recording = _Recording(self._work, flat.to(self.device, copy=True), self._recorder)
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


class CudaGraphs:
    """Records work on a GPU as CUDA graphs that share their memory, for only one of them runs at a time."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Do the work a few times, record it, and return what repeats it.

        Raises
        ------
        RuntimeError
            If it cannot be recorded; the message says how to train without.
        """
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        try:
            # 'thread_local': other threads (NCCL's, one that writes a checkpoint) may go on with their work meanwhile.
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                work()
        except RuntimeError as error:
            raise RuntimeError(
                f"recording a CUDA graph failed ({str(error).splitlines()[0]}). Train without it: layout 'packed' with "
                "compile gives the same model, more slowly; a run begun like this goes on with compile=False"
            ) from error
        return graph.replay
