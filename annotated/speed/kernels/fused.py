"""Fused attention kernels: equation 1 without storing the weights, under a mask or within segments of rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

varlen_attn: Callable[..., Any] | None = None
"""PyTorch's kernel for segments of different lengths, once `load_varlen_kernel` has found one."""

VARLEN_CAPABILITY = (8, 0)
"""Compute capability from which on GPUs have that kernel: Ampere. Older ones refuse it when it is first called."""
_HALF_PRECISIONS = (torch.bfloat16, torch.float16)
# Releases before 2.5 return NaN for a query that may attend to nothing.
_CPU_ZEROES_EMPTY_ROWS = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 5)


def require_boolean(mask: Tensor) -> None:
    """Refuse a mask of numbers: a 0/1 mask would be added to the scores, and hide nothing.

    Raises
    ------
    TypeError
        If the mask is not Boolean; the message says how to make it so.
    """
    if mask.dtype != torch.bool:
        raise TypeError(
            f"a mask must be Boolean, not {mask.dtype}: for one of 0 and 1 give mask.bool(), where True = may attend; "
            "for one of 0 and minus infinity give mask == 0"
        )


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The output of `scaled_dot_product_attention` from PyTorch's fused kernel, without the weights.

    Parameters
    ----------
    q
        Queries, `[B, H, T, K]`.
    k, v
        Keys `[B, H, S, K]` and values `[B, H, S, d_v]`.
    mask
        Boolean, broadcastable to `[B, H, T, S]`; True where a query may attend to a key.
    causal
        True lets query t attend to keys 0 to t only. This is faster than the equivalent mask, and excludes a mask.
    dropout
        Probability of dropping a weight on its way to the output.

    Returns
    -------
    Tensor
        `[B, H, T, d_v]`

    Raises
    ------
    ValueError
        If both a mask and `causal` are given: PyTorch's kernel takes one of them.
    TypeError
        If the mask is not Boolean.

    Paper: section 3.2.1, equation 1
    """
    if causal and mask is not None:
        raise ValueError("fused_attention takes a mask or causal=True, not both: put the causal order into the mask")
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, dropout_p=dropout)
    require_boolean(mask)
    if _CPU_ZEROES_EMPTY_ROWS and q.device.type == "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    empty = ~mask.any(dim=-1, keepdim=True)  # left unmasked for the kernel: else NaN, also in the gradient
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | empty, dropout_p=dropout)
    return output.masked_fill(empty, 0.0)


def load_varlen_kernel() -> Callable[..., Any] | None:
    """PyTorch's kernel for segments of different lengths, or None in a torch that has none that fits.

    Only GPUs have it, and to import it is to import all of torch's compiler, which takes over a second. So it is
    imported where it is first needed, and never inside a graph that is being compiled.
    """
    global varlen_attn
    if varlen_attn is None:
        try:
            from torch.nn.attention import varlen
        except ImportError:
            return None
        if (
            "window_size" in inspect.signature(varlen.varlen_attn).parameters
        ):  # the first releases said causal otherwise
            varlen_attn = varlen.varlen_attn
    return varlen_attn


def has_varlen_kernel(device: torch.device, dtype: torch.dtype, d_k: int, d_v: int) -> bool:
    """True if PyTorch's attention over segments of different lengths can take these: a new GPU and torch, 16 bits."""
    fits = d_k == d_v and d_k % 8 == 0 and d_k <= 256
    if device.type != "cuda" or dtype not in _HALF_PRECISIONS or not fits:
        return False
    if not torch.compiler.is_compiling():
        if varlen_problem(device) is not None:
            return False
        load_varlen_kernel()
    return varlen_attn is not None


def varlen_problem(device: torch.device) -> str | None:
    """Why this GPU is too old for that kernel, whatever the torch; None if it is not, or no GPU of this machine."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return None
    capability = torch.cuda.get_device_capability(device)
    if capability >= VARLEN_CAPABILITY:
        return None
    here, needed = (".".join(map(str, one)) for one in (capability, VARLEN_CAPABILITY))
    return f"attention over segments needs a GPU of compute capability {needed} or newer, and this one has {here}"


def segment_attention(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens: tuple[Tensor, Tensor], widths: tuple[int, int], causal: bool
) -> Tensor:
    """Attention of query segment i to key segment i, by the kernel that skips all the rest; see `has_varlen_kernel`.

    The same as `fused_attention` with `segment_mask`, whose cost grows with N^2.

    Parameters
    ----------
    q, k, v
        Rows `[M, H, K]`, `[N, H, K]`, `[N, H, K]`, 16 bits.
    cu_seqlens
        Where the segments of queries and of keys begin, int32 `[segments + 1]` each: equally many on both sides, with
        a key wherever there is a query.
    widths
        No segment of queries and none of keys is longer.
    causal
        A query sees no later position of its segment.

    Returns
    -------
    Tensor
        `[M, H, K]`
    """
    assert varlen_attn is not None
    window = (-1, 0) if causal else (-1, -1)  # how many keys to the query's left and right: -1 for all
    return varlen_attn(q, k, v, *cu_seqlens, *widths, window_size=window)
