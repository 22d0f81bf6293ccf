"""The step of a training run as it is made fast: in 16 bits, without padding, compiled, recorded, by many processes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.data.buckets import Indices, Layout
from annotated.data.store import TokenStore
from annotated.model import Transformer
from annotated.speed.layouts import forward_rows
from annotated.speed.layouts.auto import batch_layout, resolve_layout, static_problem
from annotated.speed.layouts.prefetch import prepare_packed, prepare_padded, uniform_rows
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.layouts.tiles import require_flex_attention
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps.compilations import Compilation, Compilations, compile_terms
from annotated.speed.steps.cuda_graphs import CudaGraphs, GraphRecorder
from annotated.speed.steps.exchange import GradientExchange
from annotated.speed.steps.loss import layout_loss, packed_loss
from annotated.speed.steps.precision import Precision, resolve_precision
from annotated.speed.steps.recorded_optimizer import RecordedOptimizer
from annotated.speed.steps.static_micro_step import StaticMicroStep
from annotated.training.loss import batch_loss
from annotated.training.optimizer import clip_gradients, gradient_norm
from annotated.training.update import Step, UpdateMetrics


class FastStep(Step):
    """A step that computes what `annotated.training.update.Step` does, in the fastest of the ways configured.

    Parameters
    ----------
    model
        On the processes' device.
    training
        Its layout may be 'auto', which is decided here. `compile` takes effect inside `compiled`.
    processes
        Who shares each batch; None for this process alone, on the model's device.
    optimizer
        None for the paper's Adam.

    Raises
    ------
    ValueError
        If the device cannot compute in the precision asked for.

    Paper: sections 5.1-5.4
    """

    def __init__(
        self,
        model: Transformer,
        training: TrainingConfig,
        processes: Processes | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        self.processes = processes or Processes(device=model.output_weight.device)
        training = resolve_precision(training, self.processes.device)
        training, _ = resolve_layout(training, model.config, self.processes.device)
        super().__init__(model, training, optimizer)
        self.precision = Precision(training, self.processes.device)
        self.exchange = GradientExchange(model, self.processes, training.gradient_exchange, training.overlap_exchange)
        self.forward: Callable[..., Tensor] | None = None
        """The model's pass in the layout, compiled; None as long as it is not."""
        self.terms = self.precision.terms
        self.recorded: RecordedOptimizer | None = None
        """The gradient's norm, clipping and the optimiser's step as CUDA graphs; None where nothing is recorded."""
        self.static: StaticMicroStep | None = None
        """The micro-step of the static layout."""
        self.together: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
        """A block for the micro-batches of an update, from which no process goes on alone to the exchange."""
        if training.layout == "static":
            growing = StaticShape(0, 0, tiles=training.attention_kernel == "flex")
            self.static = StaticMicroStep(model, training.replace(compile=False), self.precision, growing, self.device)

    @property
    def device(self) -> torch.device:
        """Where batches are computed."""
        return self.processes.device

    @property
    def layout(self) -> Layout:
        """Of the loss that is measured, not trained: nothing is compiled there, so 'static' has nothing to give."""
        return "padded" if batch_layout(self.training) == "padded" else "packed"

    def loss(self, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
        """As `Step.loss`, in the layout and the precision of the training, not compiled."""
        with self.precision.autocast():
            return layout_loss(self.model, batch.to(self.device), smoothing, self.layout)

    def micro_step(self, batch: Batch, tokens: float) -> Tensor:
        """As `Step.micro_step`; a batch that `prepare` has seen spares it that work."""
        if self.static is not None:
            return self.static(batch, tokens)
        smoothing = self.training.label_smoothing
        with self.precision.autocast():
            here = batch.to(self.device)
            if self.training.layout == "padded":
                model: Any = self.model if self.forward is None else functools.partial(self.forward, self.model)
                loss_sum, _ = batch_loss(model, here, smoothing)
            else:
                parts = self.forward, self.terms, self.precision.products
                loss_sum, _ = packed_loss(self.model, here, smoothing, *parts)
        self.precision.scale(loss_sum / tokens).backward()
        return loss_sum.detach()

    def gradients(self, micro_batches: Sequence[Batch], tokens: float) -> list[Tensor]:
        """As `Step.gradients`, summed over all processes."""
        self.optimizer.zero_grad(set_to_none=True)
        alone = self.together is contextlib.nullcontext  # else nothing may be sent before all have come to the end
        with self.together():
            watched = self.exchange.watch(micro_batches) if alone else micro_batches
            losses = [self.micro_step(batch, tokens) for batch in watched]
        self.exchange.sum_gradients()
        self.precision.unscale(self.optimizer)
        return losses

    def gradient_norm(self) -> Tensor:
        """As `Step.gradient_norm`."""
        return gradient_norm(self.model.parameters()) if self.recorded is None else self.recorded.gradient_norm()

    def apply(self, metrics: UpdateMetrics, must_be_finite: Tensor | None = None) -> None:
        """As `Step.apply`; whether the numbers are finite is decided on the device, and nobody waits for it.

        They need a fused optimiser, and with fp16 they are not looked at: its scaler decides.
        """
        if self.recorded is not None:
            self.recorded.step(metrics.rate, must_be_finite)
            return
        if self.training.clip_norm is not None:
            clip_gradients(self.model.parameters(), metrics.gradient_norm, self.training.clip_norm)
        self.precision.step(self.optimizer, must_be_finite)

    def prepare(self, batch: Batch) -> Batch:
        """What can be done with a batch before the device is free for it: a thread may, batch after batch."""
        if self.static is not None:
            return self.static.prepare(batch)
        pin = self.device.type == "cuda"
        if self.training.layout == "padded":
            return prepare_padded(batch, pin)
        return prepare_packed(batch, pin, uniform_rows(self.training.compile, self.device))

    def record(self, store: TokenStore, pieces: Iterable[Indices]) -> None:
        """Record the work of micro-batches to come, on a GPU, so that no update waits for that later.

        Parameters
        ----------
        store, pieces
            As `StaticMicroStep.record`.
        """
        if self.static is not None:
            self.static.record(store, pieces)

    @contextlib.contextmanager
    def compiled(self, longest: int, tell: Callable[[Compilation], None] | None = None) -> Iterator[None]:
        """Compile, and on a GPU record, what this block trains, if the configuration says so.

        The model itself stays as it is. Validation and decoding are not compiled: they would need graphs of their own.

        Parameters
        ----------
        longest
            Tokens of the longest sentence, eos included.
        tell
            Called for each compilation and recording, which the training waits for.

        Raises
        ------
        ValueError
            If the static layout would be slow beyond use here; the message says what to use.
        RuntimeError
            If compiling or recording fails; the message says how to train without.
        """
        training, compilations = self.training, Compilations(tell)
        with _compiler_errors(), compilations.watched() if training.compile else contextlib.nullcontext():
            if training.layout == "static":
                self._make_static(longest, compilations)
            elif training.compile:
                whole: Any = forward_rows if training.layout == "packed" else Transformer.forward
                self.forward = compilations.of("forward pass", torch.compile(whole, dynamic=True))
                if training.layout == "packed":
                    self.terms = compilations.of("terms of the loss", compile_terms(self.precision.terms))
            yield

    def _make_static(self, longest: int, compilations: Compilations) -> None:
        training, device = self.training, self.device
        _require_kernel(self.model, training, device)
        if training.attention_kernel == "flex":
            require_flex_attention(self.model.config, training, device)
        shape = StaticShape.for_training(training, longest, self.processes.world_size)
        recorder = self._recorder()
        self.static = StaticMicroStep(
            self.model, training, self.precision, shape, device, recorder, compilations=compilations
        )
        self.static.zeroes = training.micro_batches(self.processes.world_size) == 1
        recorder = self._recorder()
        if recorder is not None and all(group.get("fused") for group in self.optimizer.param_groups):
            parameters, clip_norm = self.model.parameters(), training.clip_norm
            self.recorded = RecordedOptimizer(self.optimizer, parameters, clip_norm, self.precision, recorder)

    def _recorder(self) -> GraphRecorder | None:
        """Records work as CUDA graphs: what is compiled, on a GPU, unless fp16's scaler has to be asked each time."""
        on_gpu = self.device.type == "cuda"
        return CudaGraphs() if self.training.compile and on_gpu and self.precision.scaler is None else None


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
    except (torch._dynamo.exc.TorchDynamoException, RuntimeError) as error:
        if "BF16 is not supported" in str(error):
            raise RuntimeError("this GPU does not compute in bf16: use --training.precision fp16") from error
        if not isinstance(error, torch._dynamo.exc.TorchDynamoException):
            raise
        raise RuntimeError(
            f"torch.compile failed ({str(error).splitlines()[0]}). It needs a C++ compiler on a CPU and Triton on a "
            "GPU; train without it: compile=False gives the same model"
        ) from error
