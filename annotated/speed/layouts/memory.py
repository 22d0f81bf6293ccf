"""Memory's keys and values for all decoder layers in one product.

Every decoder layer projects the same memory with matrices of its own. One product with all of them, of
L * (H * K + H * d_v) columns, reads the memory once, and its gradient arrives as one sum in place of L tensors that are
added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F

if TYPE_CHECKING:
    from annotated.model.layers import Decoder


@dataclass
class ProjectedMemory:
    """Attention to keys and values that are there already; called once a layer, in the order of the layers."""

    attend: Callable[[Tensor, Tensor, Tensor], Tensor]
    layers: Iterator[tuple[Tensor, Tensor]]
    """Of each layer `[N, H, K]` and `[N, H, d_v]`."""

    def __call__(self, q: Tensor, *_: Any) -> Tensor:
        """`[M, H, K]` to `[M, H, d_v]`."""
        return self.attend(q, *next(self.layers))


def gains_from_one_product(memory: Tensor) -> bool:
    """True on a GPU. A CPU's products are no faster for being wider, and joining the matrices costs it time."""
    return memory.device.type != "cpu"


def project_memory(decoder: Decoder, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
    """What `MultiHeadAttention.project` makes of a memory `[..., D]`, for each layer: `[..., H, K]`, `[..., H, d_v]`.

    The parameters stay where they are: their parts W_K and W_V are joined for this product.
    """
    attentions = [layer.cross_attention for layer in decoder.layers]
    weight = torch.cat([attention.in_projection[attention.widths[0] :] for attention in attentions])
    biases = [attention.in_bias[attention.widths[0] :] for attention in attentions if attention.in_bias is not None]
    widths = [width for attention in attentions for width in attention.widths[1:]]
    parts = F.linear(memory, weight, torch.cat(biases) if biases else None).split(widths, dim=-1)
    heads = attentions[0].num_heads
    keys, values = ([part.unflatten(-1, (heads, -1)) for part in parts[side::2]] for side in (0, 1))
    return list(zip(keys, values, strict=True))
