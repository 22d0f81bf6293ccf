"""Leak tests: does a model see what it must not? By weights, by gradients, and by what replaces the mask.

A falling loss proves nothing: a model that sees its own answers has the lowest loss of all. Weights on forbidden keys
can be added up (`leaked_weight`), but only inside one layer. The gradient (`reach`) follows every path from an input to
an output, through all layers at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.model import Masked, Transformer
from annotated.model import attention as attention_module
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.speed.layouts import cache as cache_module
from annotated.speed.layouts import packed as packed_module
from annotated.speed.layouts import static as static_module


def leaked_weight(weights: Tensor, mask: Tensor) -> float:
    """The share of all attention that goes to keys the mask forbids.

    Parameters
    ----------
    weights
        `[..., T, S]`, rows of queries.
    mask
        Boolean, broadcastable to the weights; True where a query may attend to a key.

    Returns
    -------
    float
        0.0 if the mask holds; NaN if there are no weights at all.
    """
    forbidden = ~mask.expand_as(weights)
    return float(weights[forbidden].sum() / weights.sum())


def reach(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """How strongly each output position depends on each input position: the norm of d out_i / d in_j.

    Each output vector is summed up with random factors before its gradient is taken, so that no two of its entries can
    cancel by accident. What is *exactly* zero is no path at all.

    Parameters
    ----------
    function
        From `[1, S, D]` to `[1, T, ...]`; deterministic.
    x
        The inputs, `[1, S, D]`.

    Returns
    -------
    Tensor
        `[T, S]`: row i holds the norms of the gradient of output i.
    """
    x = x.detach().clone().requires_grad_(True)
    output = function(x)[0].flatten(1)  # [T, ...]
    generator = torch.Generator().manual_seed(0)
    factors = torch.randn(output.shape, generator=generator).to(output)
    rows = [torch.autograd.grad(line, x, retain_graph=True)[0][0].norm(dim=-1) for line in (output * factors).sum(1)]
    return torch.stack(rows)


def decoder_reach(model: Transformer, source: Tensor, target_in: Tensor, *, masked: bool = True) -> Tensor:
    """`reach` of the logits over the embedded target, through the whole decoder: `[T, T]`.

    Parameters
    ----------
    source, target_in
        Token ids of one sentence, `[1, S]` and `[1, T]`.
    masked
        False leaves the causal mask out, to see what it prevents.
    """
    with torch.no_grad():
        memory = model.encode(source)
    mask = target_mask(target_in) if masked else padding_mask(target_in)
    table = model.embedding if model.config.tie_embeddings else model.target_embedding

    def logits(x: Tensor) -> Tensor:
        return model.project(model.decoder(x, memory, Masked(mask), Masked(padding_mask(source))))

    return reach(logits, (table(target_in) + model.positions(target_in.size(1))).detach())


@contextmanager
def masked_by(fill: float | None) -> Iterator[None]:
    """Inside, models of this library write this number over scores of hidden keys, in every layout; None hides none.

    This is how masks are often written. `-math.inf` is the library's own way, except that an empty row gives NaN.
    """

    def explicit(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None and fill is not None:
            scores = scores.masked_fill(~mask, fill)
        weights = scores.softmax(dim=-1)
        return F.dropout(weights, dropout, training=dropout > 0) @ v, weights

    def fused(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
    ) -> Tensor:
        return explicit(q, k, v, causal_mask(q.size(-2), q.device) if causal else mask, dropout)[0]

    with ExitStack() as stack:
        stack.enter_context(patch.object(attention_module, "scaled_dot_product_attention", explicit))
        for module in (attention_module, cache_module, packed_module, static_module):
            stack.enter_context(patch.object(module, "fused_attention", fused))
        # The kernel for segments hides keys by its own means.
        stack.enter_context(patch.object(static_module, "has_varlen_kernel", lambda *_: False))
        yield
