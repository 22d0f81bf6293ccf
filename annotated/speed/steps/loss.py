"""The loss without padding: fused with the projection to the vocabulary, and so without the logits of a whole batch.

The same sums as `annotated.training.loss.batch_loss`, whose rectangles are the path to read.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.config import PAD
from annotated.data.batch import Batch
from annotated.model import Transformer
from annotated.speed.layouts import forward_rows
from annotated.speed.layouts.prefetch import packed_rows, uniform_rows
from annotated.speed.layouts.static_batch import Extent, StaticBatch, StaticShape
from annotated.training.loss import batch_loss, smoothed_target

CHUNK_ROWS = {"cpu": 512, "cuda": 4096}
"""Rows whose logits exist at one time: few for a CPU's caches; on a GPU enough to fill it, within half a gigabyte."""
VOCABULARY_MULTIPLE = 64
"""16-bit products have so many columns or a multiple of them: V = 37,000 becomes 37,056."""

LogitsTerms = Callable[[Tensor, Tensor, float, float, int, bool], tuple[Tensor, Tensor | None]]


def logits_terms(
    logits: Tensor, gold: Tensor, right: float, others: float, vocab_size: int, with_gradient: bool
) -> tuple[Tensor, Tensor | None]:
    """Loss of each row of logits, and of its gradient the part that differs between tokens.

    The gradient with respect to logits is softmax - smoothed target. What the smoothed target gives to every token
    alike is a constant, which is left out here and made up for by sums over rows.

    This is the one part of the loss that a compiler makes faster: it reads the logits twice and writes one result,
    where single operations go through float32 copies of them. A compiler gets both lines in another form: adding at an
    index would make it write out such a copy, and a sum over V of the columns would be a pass of its own, while
    comparisons are part of the same pass.

    Parameters
    ----------
    logits
        `[N, V]`, or more columns, which hold minus infinity.
    gold
        int64 `[N, 1]`
    right, others
        From `smoothed_target`.
    vocab_size
        Number of tokens in the vocabulary, V.

    Returns
    -------
    loss, difference
        float32 `[N]` in nats; and softmax with (right - others) taken from the right token, shaped and typed like
        logits, or None without gradient.
    """
    log_probabilities = logits.log_softmax(dim=-1, dtype=torch.float32)
    columns = torch.arange(logits.size(1), dtype=torch.int32, device=logits.device)
    loss = log_probabilities.gather(1, gold).squeeze(1) * (others - right)
    compiled = torch.compiler.is_compiling()
    if others > 0:
        padded = columns >= vocab_size
        counted = log_probabilities.masked_fill(padded, 0.0) if compiled else log_probabilities[:, :vocab_size]
        loss = loss - others * counted.sum(dim=-1)
    if not with_gradient:
        return loss, None
    if compiled:
        softmax = log_probabilities.exp()
        difference = torch.where(columns == gold.int(), softmax + (others - right), softmax)
    else:
        difference = log_probabilities.exp_()
        difference.scatter_add_(1, gold, difference.new_full(gold.shape, others - right))
    return loss, difference.to(logits.dtype)


class VocabularyProducts(Protocol):
    """The three products with the vocabulary's matrix that a step needs, for hidden rows [N, D] and weight [V, D]."""

    def logits(self, part: slice) -> Tensor:
        """hidden[part] @ weight.T, with V columns or more: what stands beyond V does not matter."""
        ...

    def add_gradients(self, difference: Tensor, part: slice, grad_hidden: Tensor, grad_weight: Tensor) -> None:
        """Set rows of `grad_hidden` to difference @ weight, and add difference.T @ hidden[part] to `grad_weight`.

        `difference` is what the products' own `LogitsTerms` made of their logits; the first part sets `grad_weight`.
        """
        ...


ProductsFactory = Callable[[Tensor, Tensor, float], VocabularyProducts]
"""From hidden rows, weight and what is taken from the right token's softmax, to the products in the factory's type."""


class LibraryProducts:
    """The products as the library computes them: in the type of the tensors, or in autocast's.

    Parameters
    ----------
    hidden
        `[N, D]`
    weight
        `[V, D]`
    taken
        Not used: this arithmetic has exponents for any gradient.
    """

    def __init__(self, hidden: Tensor, weight: Tensor, taken: float = 0.0) -> None:
        dtype = F.linear(hidden[:0], weight[:0]).dtype  # under autocast, products come in lower precision
        self._mixed = dtype != weight.dtype
        self._dtype, self._hidden, self._size = dtype, hidden, weight.size(0)
        padding = 0, 0, 0, -self._size % VOCABULARY_MULTIPLE
        self._matrix = F.pad(weight.to(dtype), padding) if self._mixed else weight

    def logits(self, part: slice) -> Tensor:
        """`[rows, V]`, or more columns, which are zero."""
        self._rows = self._hidden[part].to(self._dtype)
        return F.linear(self._rows, self._matrix)

    def add_gradients(self, difference: Tensor, part: slice, grad_hidden: Tensor, grad_weight: Tensor) -> None:
        """As `VocabularyProducts`: of the part whose logits were asked for last."""
        _product(difference, self._matrix, grad_hidden[part], self._mixed)
        _product(difference[:, : self._size].t(), self._rows, grad_weight, self._mixed, add=part.start > 0)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Projection to the vocabulary and smoothed cross-entropy, some rows at a time, gradients included.

    Both products that need the gradient of the logits are done while a chunk of logits is at hand. All logits at once
    would be the largest tensor of a step by far, four times over.
    """

    @staticmethod
    def forward(
        ctx,
        hidden: Tensor,
        weight: Tensor,
        gold: Tensor,
        smoothing: float,
        chunk: int,
        terms: LogitsTerms,
        products: ProductsFactory,
        with_gradient: bool,
    ) -> Tensor:
        right, others = smoothed_target(smoothing, size := weight.size(0))
        # Zeros in the place of rows without a target: whatever their logits, they add nothing to either product.
        real = gold != PAD
        hidden = hidden.masked_fill(~real[:, None], 0.0)
        made = products(hidden, weight, right - others)
        # In the weights' type: hidden rows of 16 bits would round away what the smoothed target takes from all tokens.
        grad_hidden, grad_weight = torch.empty_like(hidden, dtype=weight.dtype), torch.empty_like(weight)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        for start in range(0, max(len(hidden), 1), chunk):
            part = slice(start, start + chunk)
            logits = made.logits(part)
            logits[:, size:] = -math.inf  # columns beyond the vocabulary have no probability
            loss, difference = terms(logits, gold[part, None].long(), right, others, size, with_gradient)
            total += loss.masked_fill(~real[part], 0.0).sum()
            if difference is not None:
                made.add_gradients(difference, part, grad_hidden, grad_weight)
        if with_gradient:
            if others > 0:
                grad_hidden -= others * weight.sum(dim=0)
                grad_weight -= others * hidden.sum(dim=0, dtype=weight.dtype)
            ctx.save_for_backward(grad_hidden, grad_weight, real)
            ctx.hidden_dtype = hidden.dtype
        return total

    @staticmethod
    def backward(ctx, grad: Tensor):
        grad_hidden, grad_weight, real = ctx.saved_tensors
        grad_hidden = grad_hidden.mul_(grad * real[:, None]).to(ctx.hidden_dtype)
        return grad_hidden, grad_weight.mul_(grad), None, None, None, None, None, None


def _product(a: Tensor, b: Tensor, out: Tensor, mixed: bool, add: bool = False) -> None:
    """out = a @ b, or out += a @ b; straight into `out` if types are alike, or a kernel writes float32 of 16 bits."""
    if not mixed:
        out.addmm_(a, b) if add else torch.mm(a, b, out=out)
    elif writes_float32(a.dtype, a.device) and out.dtype == torch.float32:
        if add:
            torch.addmm(out, a, b, out_dtype=out.dtype, out=out)
        else:
            torch.mm(a, b, out_dtype=out.dtype, out=out)
    else:
        out.add_(a @ b) if add else out.copy_(a @ b)


@functools.cache
def writes_float32(dtype: torch.dtype, device: torch.device) -> bool:
    """True if products of this 16-bit type can be written, and added to, in float32: on a GPU, with a new torch.

    The sums are float32 in any case; without this they are rounded to 16 bits before they are added up. Releases
    differ in what they take (2.10 has no float32 addend), so it is tried, once.
    """
    if device.type != "cuda":
        return False
    a, out = torch.ones(16, 16, dtype=dtype, device=device), torch.ones(16, 16, device=device)
    try:
        torch.addmm(out, a, a, out_dtype=out.dtype, out=out)
        torch.mm(a, a, out_dtype=out.dtype, out=out)
    except (RuntimeError, TypeError, NotImplementedError):
        return False
    return True


def projected_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    gold: Tensor,
    smoothing: float,
    chunk: int | None = None,
    terms: LogitsTerms = logits_terms,
    products: ProductsFactory = LibraryProducts,
) -> Tensor:
    """The loss sum of `label_smoothed_cross_entropy(hidden @ weight.T, gold, smoothing)`, in less memory.

    It stays outside what `torch.compile` sees of a model: its products are the library's own either way, and its
    gradient is worked out here. Only `terms` is worth compiling.

    Parameters
    ----------
    hidden
        Decoder outputs `[N, D]`.
    weight
        `[V, D]`
    gold
        Token ids `[N]`; rows with padding count for nothing.
    chunk
        Rows whose logits exist at one time; None for what suits the device.
    terms
        `logits_terms`, or a compiled one; the one that belongs to `products`.
    products
        Makes the three products with the weight; `annotated.speed.steps.fp8.Fp8Products` makes them in FP8.

    Returns
    -------
    Tensor
        Scalar float32, in nats; `backward` may run through it once.
    """
    chunk = chunk or _equal_chunk(len(hidden), CHUNK_ROWS.get(hidden.device.type, CHUNK_ROWS["cuda"]))
    return _ProjectedCrossEntropy.apply(
        hidden, weight, gold, smoothing, chunk, terms, products, torch.is_grad_enabled()
    )


def _equal_chunk(rows: int, limit: int) -> int:
    """At most `limit`; if rows can be cut so, a multiple of 64 that makes all chunks alike: one shape to compile."""
    for count in range(-(-rows // limit), 2 * (-(-rows // limit)) + 1):
        if count and rows % (64 * count) == 0:
            return rows // count
    return limit


def _rows_for_chunks(hidden: Tensor, gold: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden vectors `[M, D]` and targets `[M]` with rows of padding at the end, so that all chunks are alike."""
    limit = CHUNK_ROWS.get(hidden.device.type, CHUNK_ROWS["cuda"])
    missing = -len(hidden) % (64 * max(1, -(-len(hidden) // limit)))
    return F.pad(hidden, (0, 0, 0, missing)), F.pad(gold, (0, missing), value=PAD)


def packed_loss(
    model: Transformer,
    batch: Batch,
    smoothing: float,
    forward: Callable[..., Tensor] | None = None,
    terms: LogitsTerms = logits_terms,
    products: ProductsFactory = LibraryProducts,
) -> tuple[Tensor, int]:
    """The loss of a batch with teacher forcing, computed on its real tokens only.

    Parameters
    ----------
    batch
        On the model's device.
    smoothing
        The paper's epsilon_ls.
    forward
        `forward_rows`, compiled; None for `forward_rows` itself.
    terms, products
        For `projected_cross_entropy`. Where `forward` is compiled `terms` are too, and get chunks of one size.

    Returns
    -------
    loss_sum, token_count
        As `annotated.training.loss.batch_loss`.
    """
    source, target = packed_rows(batch, uniform_rows(forward is not None, batch.source.device))
    rows = source.pack_ids(batch.source), source, target.pack_ids(batch.target_in), target
    hidden, gold = (forward or forward_rows)(model, *rows), target.pack_ids(batch.target_out)
    if forward is not None:
        hidden, gold = _rows_for_chunks(hidden, gold)
    loss_sum = projected_cross_entropy(hidden, model.output_weight, gold, smoothing, terms=terms, products=products)
    return loss_sum, batch.target_tokens


def static_loss(
    model: Transformer,
    batch: StaticBatch,
    smoothing: float,
    forward: Callable[..., Tensor] = forward_rows,
    terms: LogitsTerms = logits_terms,
    products: ProductsFactory = LibraryProducts,
) -> Tensor:
    """The loss sum of a batch that is laid out in a fixed shape, on its device.

    Parameters
    ----------
    forward, terms
        `forward_rows` and `logits_terms`, or compiled ones.
    products
        For `projected_cross_entropy`.
    """
    rows = batch.source, batch.source_rows, batch.target_in, batch.target_rows
    hidden = forward(model, *rows)
    gold = batch.target_out
    return projected_cross_entropy(hidden, model.output_weight, gold, smoothing, terms=terms, products=products)


def layout_loss(model: Transformer, batch: Batch, smoothing: float, layout: str | StaticShape) -> tuple[Tensor, int]:
    """The loss of a batch in any layout: they all give the same sum, by other ways.

    Parameters
    ----------
    layout
        'padded' for `batch_loss`, 'packed' for `packed_loss`, 'static' or a `StaticShape` for `static_loss`.

    Raises
    ------
    ValueError
        If there is no such layout.
    """
    if layout == "padded":
        return batch_loss(model, batch, smoothing)
    if layout == "packed":
        return packed_loss(model, batch, smoothing)
    if isinstance(layout, str) and layout != "static":
        raise ValueError(f"a batch has no layout {layout!r}: 'auto' is decided before, by resolve_layout")
    extent = Extent.of(batch.source_lengths, batch.target_lengths)
    shape = (StaticShape(0, 0) if isinstance(layout, str) else layout).grown_for(extent)
    laid = shape.views(shape.lay_out(batch).to(model.output_weight.device))
    return static_loss(model, laid, smoothing), batch.target_tokens
