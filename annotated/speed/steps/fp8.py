"""FP8 products with the vocabulary's matrix: rounding to eight bits, scales, and float32 sums.

FP8 is two formats. e4m3 has 3 bits of mantissa, so it rounds by at most 1/16 of a number, and reaches from 2^-9 to
448: enough for hidden rows and for weights, whose sizes differ little. e5m2 has 2 bits of mantissa and reaches from
2^-16 to 57,344: for the gradient of the logits, whose largest numbers are near 1, and the typical ones a millionth.

A tensor of hidden rows or weights has one scale, a power of two, so scaling itself rounds nothing. Scales for rows
would be finer, but none serves all products: rows of the hidden states are the terms of the weight gradient's sum, and
a factor cannot be taken out of a sum whose terms each have their own.

This is not the paper's arithmetic, nor a smaller float32: it is an option of speed, with a loss curve of its own in
`benchmarks/recorded/fp8_vocabulary.json`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.speed.steps.loss import VOCABULARY_MULTIPLE, logits_terms

WEIGHT_TYPE, GRADIENT_TYPE = torch.float8_e4m3fn, torch.float8_e5m2
LARGEST_EXPONENT = 9
"""Numbers below 448 = 7/8 * 2^9 have an e4m3 neighbour on both sides."""
LARGEST_POWER = 2.0**15
"""In e5m2, which ends at 57,344. The right token's part of the gradient is -(right - others) as long as the model gives
it no probability. It becomes just this number, so the most frequent large entry is not rounded at all: scaled by a
power of two, 0.9 would be 0.875, always, and every gradient 2 % too small. The other entries are at most 1, and so at
most 36,450 for a smoothing of 0.1; no look at the numbers is needed."""
MULTIPLE = 16
"""The GPU's FP8 products need inner sizes, and columns, of so many or a multiple."""
_SMALLEST_EXPONENT = -100  # of a tensor's largest number: the scale must not overflow


def require_fp8(device: torch.device) -> None:
    """Make sure that FP8 products can be had on a device; a CPU emulates them.

    Raises
    ------
    ValueError
        If they cannot; the message says what to use.
    """
    if device.type != "cuda":
        return
    release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    capability = torch.cuda.get_device_capability(device)
    if capability < (8, 9) or release < (2, 5):
        raise ValueError(
            "vocabulary_precision 'fp8' needs a GPU of compute capability 8.9 or more (Ada, Hopper, Blackwell) and "
            f"torch 2.5 or newer; this one has {capability[0]}.{capability[1]}, with torch {torch.__version__}. Use "
            "vocabulary_precision 'same'"
        )


def quantize(values: Tensor) -> tuple[Tensor, Tensor]:
    """Round a tensor to e4m3, multiplied by the largest power of two that keeps all of it within 448.

    Nothing waits: the scale is a number on the device.

    Parameters
    ----------
    values
        Of any shape. If one is infinite or NaN, the scale is NaN, and so is every product.

    Returns
    -------
    rounded, inverse_scale
        `values` are about `rounded * inverse_scale`; the second is a float32 scalar.
    """
    largest = torch.linalg.vector_norm(values, math.inf).float() if values.numel() else values.new_zeros(()).float()
    mantissa, exponent = torch.frexp(largest)  # largest = mantissa * 2^exponent, 1/2 <= mantissa < 1
    room = LARGEST_EXPONENT - (mantissa > 0.875).int()
    scale = torch.ldexp(torch.ones_like(largest), room - exponent.clamp(min=_SMALLEST_EXPONENT))
    scale = torch.where(largest.isfinite(), scale, math.nan)
    return (values.float() * scale).to(WEIGHT_TYPE), scale.reciprocal()


def fp8_logits_terms(
    logits: Tensor, gold: Tensor, right: float, others: float, vocab_size: int, with_gradient: bool
) -> tuple[Tensor, Tensor | None]:
    """As `logits_terms`, with the gradient's part in e5m2, times `gradient_scale(right - others)`.

    Compiled, this is one pass over the logits: the gradient is never written in a wider type.
    """
    loss, difference = logits_terms(logits, gold, right, others, vocab_size, with_gradient)
    if difference is None:
        return loss, None
    return loss, (difference.float() * gradient_scale(right - others)).to(GRADIENT_TYPE)


def gradient_scale(taken: float) -> float:
    """Factor on the logits' gradient, from what is taken from the right token's softmax: `taken` becomes 2^15.

    Smoothing above about 0.4 would carry other entries beyond e5m2, so from there on the scale grows no more.
    """
    return LARGEST_POWER / max(taken, 0.6)


class Fp8Products:
    """The three products with the vocabulary's matrix in FP8, as `VocabularyProducts`; goes with `fp8_logits_terms`.

    Parameters
    ----------
    hidden
        `[N, D]`
    weight
        `[V, D]`
    taken
        What is taken from the right token's softmax: right - others of `smoothed_target`.

    Raises
    ------
    ValueError
        If D is no multiple of 16, on a CPU too: what it trains should be trainable on a GPU.
    """

    def __init__(self, hidden: Tensor, weight: Tensor, taken: float) -> None:
        size, width = weight.shape
        if width % MULTIPLE:
            raise ValueError(
                f"vocabulary_precision 'fp8' needs d_model to be a multiple of {MULTIPLE}, and it is {width}"
            )
        self._size = size
        self._dtype = F.linear(hidden[:0], weight[:0]).dtype  # of the logits, as autocast has it
        self._rows, self._rows_scale = quantize(hidden)
        padded = F.pad(weight, (0, 0, 0, -size % VOCABULARY_MULTIPLE))
        self._matrix, self._matrix_scale = quantize(padded)
        self._columns = self._matrix.t().contiguous()  # both products with it read along the sum
        self._gradient_scale = torch.full_like(self._rows_scale, 1 / gradient_scale(taken))

    def logits(self, part: slice) -> Tensor:
        """`[rows, V]` and columns of zeros up to a multiple of 64, in autocast's type."""
        return scaled_product(self._rows[part], self._matrix.t(), self._rows_scale, self._matrix_scale, self._dtype)

    def add_gradients(self, difference: Tensor, part: slice, grad_hidden: Tensor, grad_weight: Tensor) -> None:
        """As `VocabularyProducts`, with the e5m2 difference that `fp8_logits_terms` made of the logits."""
        scales = self._gradient_scale, self._matrix_scale
        grad_hidden[part] = scaled_product(difference, self._columns.t(), *scales, torch.float32)
        scales = self._gradient_scale, self._rows_scale
        product = scaled_product(_flipped(difference), _flipped(self._rows[part]).t(), *scales, torch.float32)
        product = product[: self._size]
        if part.start > 0:
            grad_weight.add_(product)
        else:
            grad_weight.copy_(product)


def _flipped(rows: Tensor) -> Tensor:
    """[n, m] to [m, n], contiguous, with columns of zeros up to a multiple of 16: they add nothing to a sum."""
    flipped = torch.zeros(rows.size(1), len(rows) + -len(rows) % MULTIPLE, dtype=rows.dtype, device=rows.device)
    flipped[:, : len(rows)] = rows.t()
    return flipped


def scaled_product(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, dtype: torch.dtype) -> Tensor:
    """(a * scale_a) @ (b * scale_b) of FP8 numbers, summed in float32.

    Parameters
    ----------
    a
        `[n, k]`, by rows.
    b
        `[k, m]`, by columns: the transpose of a contiguous tensor.
    scale_a, scale_b
        float32 scalars on the device.
    dtype
        Of the result.
    """
    if a.is_cuda:  # without fast accumulation, which sums in fewer bits than float32
        return torch._scaled_mm(a, b, scale_a=scale_a, scale_b=scale_b, out_dtype=dtype, use_fast_accum=False)
    with torch.autocast(a.device.type, enabled=False):
        return (a.float() @ b.float() * (scale_a * scale_b)).to(dtype)
