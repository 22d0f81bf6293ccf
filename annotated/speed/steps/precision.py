"""Precision of training: float32 as the paper, or today's 16-bit types through autocast, with one interface."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.speed.kernels.residual import residual_stream
from annotated.speed.steps.fp8 import Fp8Products, fp8_logits_terms, require_fp8
from annotated.speed.steps.loss import LibraryProducts, LogitsTerms, ProductsFactory, logits_terms

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
_SMALLEST_SCALE = 2.0**-24
FIRST_WITH_BF16 = (8, 0)
"""Compute capability of the first GPUs that compute in bf16: Ampere."""


def has_bf16(device: torch.device) -> bool:
    """True on a CPU, and on a GPU that computes in bf16. Older ones emulate it, slowly, and compile nothing in it."""
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= FIRST_WITH_BF16


def resolve_precision(training: TrainingConfig, device: torch.device) -> TrainingConfig:
    """The training with a precision that this device computes in, if it asks for 'auto'; any other stays as it is."""
    if training.precision != "auto":
        return training
    return training.replace(precision="fp32" if device.type == "cpu" else "bf16" if has_bf16(device) else "fp16")


def bf16_problem(training: TrainingConfig, device: torch.device) -> str | None:
    """Why this training's first update would fail, which compiles bf16 for a GPU without it; None if it does not."""
    if training.precision != "bf16" or not training.compile or has_bf16(device):
        return None
    major, minor = torch.cuda.get_device_capability(device)
    return (
        f"torch.compile makes no kernels in bf16 for this GPU of compute capability {major}.{minor}: the first that "
        "compute in bf16 have 8.0. Use --training.precision fp16"
    )


class Precision:
    """What a precision changes in the loop: the forward pass, and for fp16 the scale of the gradients.

    Parameters and Adam's moments stay float32 in every case. fp16 has few exponents, so its loss is multiplied
    by a scale that adapts itself: an update whose gradients overflow is skipped, and the scale halved.

    Parameters
    ----------
    training
        Its `precision`, which is decided, `vocabulary_precision` and `residual_precision`.
    device
        Where batches are computed.

    Raises
    ------
    ValueError
        If this device or release cannot compute in fp16, not in FP8 where that is asked for, or not in bf16 what is
        compiled.
    """

    def __init__(self, training: TrainingConfig, device: torch.device) -> None:
        if problem := bf16_problem(training, device):
            raise ValueError(problem)
        self.device = device
        """Where batches are computed."""
        self.products: ProductsFactory = LibraryProducts
        """What makes the products with the vocabulary's matrix, for `batch_loss`."""
        self.terms: LogitsTerms = logits_terms
        """What goes with them, to be compiled or not."""
        if training.vocabulary_precision == "fp8":
            require_fp8(device)
            self.products, self.terms = Fp8Products, fp8_logits_terms
        self._dtype = _DTYPES.get(training.precision)
        self._residual = _DTYPES.get(training.residual_precision)
        self.scaler = None
        if training.precision == "fp16":
            try:
                self.scaler = torch.amp.GradScaler(device.type)
                with torch.autocast(device.type, torch.float16):
                    torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)
            except (RuntimeError, ValueError, TypeError) as error:
                reason = f"fp16 does not work on {device} with torch {torch.__version__} ({error}); use bf16 or fp32"
                raise ValueError(reason) from None

    @contextlib.contextmanager
    def autocast(self) -> Iterator[None]:
        """A context for the forward pass: products in the chosen type, and the residual stream in its own."""
        if self._dtype is None:
            yield
            return
        with torch.autocast(self.device.type, self._dtype), residual_stream(self._residual):
            yield

    def scale(self, loss: Tensor) -> Tensor:
        """The loss to call `backward` on."""
        return loss if self.scaler is None else self.scaler.scale(loss)

    def unscale(self, optimizer: Optimizer) -> None:
        """Bring the gradients back to their true size."""
        if self.scaler is not None:
            self.scaler.unscale_(optimizer)

    def step(self, optimizer: Optimizer, must_be_finite: Tensor | None = None) -> None:
        """One step of the optimiser, unless fp16 gradients overflowed.

        Parameters
        ----------
        optimizer
            A fused one if `must_be_finite` is given.
        must_be_finite
            Numbers on the device: if one is infinite or NaN, the step changes nothing. The processor does not learn
            which it was, so it need not wait.
        """
        if self.scaler is not None:
            self.scaler.step(optimizer)
            self.scaler.update()
        elif must_be_finite is None:
            optimizer.step()
        else:  # as PyTorch's GradScaler leaves out a step
            skipped = (~must_be_finite.isfinite().all()).float()
            optimizer.grad_scale, optimizer.found_inf = None, skipped  # type: ignore[attr-defined]
            try:
                optimizer.step()
            finally:
                del optimizer.grad_scale, optimizer.found_inf  # type: ignore[attr-defined]

    @property
    def may_overflow(self) -> bool:
        """True if a non-finite gradient is part of the game: the scale can still be halved."""
        return self.scaler is not None and self.scaler.get_scale() > _SMALLEST_SCALE

    def state_dict(self) -> dict[str, Any]:
        """The scaler's state; empty without one."""
        return {} if self.scaler is None else self.scaler.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        if self.scaler is not None and state:
            self.scaler.load_state_dict(state)
