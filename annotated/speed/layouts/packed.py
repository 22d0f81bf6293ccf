"""Packed layout: real tokens travel as rows `[N, D]` without any padding between them.

Everything that treats tokens one by one (linear maps, LayerNorm, dropout, the loss) works on rows. Only attention needs
to know where sentences begin and end: `Packed` attends within the sentences of `RaggedRows`. `forward_rows` takes the
model through this layout, or through the static one, whose `FixedRows` stand where `RaggedRows` stand.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.config import PAD
from annotated.model.masks import length_mask
from annotated.speed.kernels.fused import fused_attention
from annotated.speed.kernels.residual import entering
from annotated.speed.layouts.memory import ProjectedMemory, gains_from_one_product, project_memory
from annotated.speed.layouts.static import FixedRows

if TYPE_CHECKING:
    from annotated.model.transformer import Transformer

UNIFORM_WIDTH, UNIFORM_SENTENCES = 8, 64
"""Uniform batches have a multiple of so many columns, and of so many sentences. PyTorch's kernels on a GPU read a mask
whose rows begin at multiples of 8, and copy any other; the second number keeps different shapes few."""


class _Gather(torch.autograd.Function):
    """Rows of `x` by index, where each row that matters is taken exactly once.

    The gradient is then a gather too, which is several times faster than the scattered sum that autograd
    would use. What does not matter (padding) may repeat any row; its gradient is zero
    because attention masks them, so leaving it out changes nothing.
    """

    @staticmethod
    def forward(ctx, x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(inverse)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx, grad: Tensor):
        (inverse,) = ctx.saved_tensors
        return grad.index_select(0, inverse), None, None


class _Scatter(torch.autograd.Function):
    """The adjoint of `_Gather`: keep the real rows, and hand zeros back to the padding."""

    @staticmethod
    def forward(ctx, x: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.rows = x.size(0)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx, grad: Tensor):
        (index,) = ctx.saved_tensors
        return grad.new_zeros(ctx.rows, *grad.shape[1:]).index_copy_(0, index, grad), None


def _carried(x: Tensor, device: torch.device | str | None) -> Tensor:
    """A CPU tensor on a device; a GPU copies it from pinned memory, while the processor goes on."""
    on_gpu = device is not None and torch.device(device).type == "cuda"
    return (x.pin_memory() if on_gpu else x).to(device, non_blocking=on_gpu)


class RaggedRows:
    """Where the N real tokens of a right-padded batch `[B, width]` sit.

    Parameters
    ----------
    lengths
        Real tokens of each sentence; the batch is padded on the right to the longest.
    device
        Where the index tensors live.
    uniform
        Of the one kind that a compiler wants: B and width are rounded up as `uniform_size` says, by empty sentences and
        by padding, and a batch without padding has an index and a mask like every other. So one compiled graph takes
        every batch, and there are few shapes for a GPU to prepare for. It costs some padding in attention.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device | str | None = None, uniform: bool = False) -> None:
        self.lengths = list(lengths)
        self.longest = max(self.lengths, default=0)
        self.batch, self.width = len(self.lengths), self.longest
        if uniform:
            self.batch, self.width = uniform_size(self.batch, self.width)
        empty = [0] * (self.batch - len(self.lengths))
        mask = length_mask(torch.tensor(self.lengths + empty), self.width)
        real = mask[:, 0, 0]  # [B, width]
        places = torch.arange(self.width).expand(self.batch, -1)
        self.positions = _carried(places[real], device)  # [N], each token's place in its sentence
        self.full = not uniform and bool(real.all())
        if self.full:
            self.index = self.source = self.mask = None
        else:
            index = real.flatten().nonzero().squeeze(1)
            source = torch.zeros(self.batch * self.width, dtype=torch.long)
            source[index] = torch.arange(len(index))
            self.index, self.source = (_carried(x, device) for x in (index, source))  # [N] into [B * width], and back
            self.mask = _carried(mask, device)  # [B, 1, 1, width], keys that exist

    def to(self, device: torch.device | str) -> RaggedRows:
        """The same rows with their index tensors on a device; a GPU copies them while the processor goes on."""
        return self._with(lambda tensor: _carried(tensor, device))

    def pinned(self) -> RaggedRows:
        """The same rows in memory from which a GPU can copy them by itself."""
        return self._with(Tensor.pin_memory)

    def _with(self, change: Callable[[Tensor], Tensor]) -> RaggedRows:
        changed = copy.copy(self)
        tensors = {name: getattr(self, name) for name in ("positions", "index", "source", "mask")}
        vars(changed).update({name: None if tensor is None else change(tensor) for name, tensor in tensors.items()})
        return changed

    @classmethod
    def from_ids(cls, ids: Tensor) -> RaggedRows:
        """The rows of padded token ids `[B, L]`.

        Raises
        ------
        ValueError
            If padding stands before a real token.
        """
        real = ids != PAD
        lengths = real.sum(dim=1)
        right = torch.arange(ids.size(1), device=ids.device) < lengths[:, None]
        if not torch.equal(real, right):
            raise ValueError("padding stands before a real token: packing needs batches padded on the right")
        return cls(lengths.tolist(), ids.device)

    def pack_ids(self, ids: Tensor) -> Tensor:
        """Real token ids `[N]` of a padded `[B, width]`."""
        missing = self.width - ids.size(1), self.batch - len(ids)
        if missing != (0, 0):
            ids = F.pad(ids, (0, missing[0], 0, missing[1]))
        flat = ids.reshape(-1)
        return flat if self.index is None else flat.index_select(0, self.index)

    def unpack(self, x: Tensor) -> Tensor:
        """Rows `[N, ...]` as a padded `[B, width, ...]`; what stands in the padding means nothing."""
        if self.index is not None:
            x = _Gather.apply(x, self.source, self.index)
        return x.unflatten(0, (self.batch, self.width))

    def pack(self, x: Tensor) -> Tensor:
        """A padded `[B, width, ...]` as its real rows `[N, ...]`."""
        x = x.flatten(0, 1)
        return x if self.index is None else _Scatter.apply(x, self.index)

    def attend_to(self, keys: RaggedRows, causal: bool = False, dropout: float = 0.0) -> Packed:
        """Attention of these queries to the keys of their own sentences, and if `causal` not to later ones."""
        # Where padding stands on the right, the causal order excludes it already.
        return Packed(self, keys, None if causal else keys.mask, causal, dropout)


def uniform_size(sentences: int, width: int) -> tuple[int, int]:
    """B and width of a uniform batch with room for so many sentences, the longest of so many tokens.

    B is at least 2, for a compiler takes a size of 1 for another kind. Few sentences are rounded to less than
    `UNIFORM_SENTENCES`, so that at most a quarter of as many are empty.
    """
    step = min(UNIFORM_SENTENCES, 1 << max((sentences // 4).bit_length() - 1, 0))
    return max(sentences + -sentences % step, 2), width + -width % UNIFORM_WIDTH


@dataclass
class Packed:
    """Attention of rows to rows: unpacked for the fused kernel, and packed again."""

    queries: RaggedRows
    keys: RaggedRows
    mask: Tensor | None
    """Broadcastable to `[B, H, T, S]`, in the padded layout."""
    causal: bool
    dropout: float

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[M, H, K]`, `[N, H, K]`, `[N, H, d_v]` to `[M, H, d_v]`."""
        q, k, v = self.queries.unpack(q), self.keys.unpack(k), self.keys.unpack(v)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # [B, T, H, K] -> [B, H, T, K]
        output = fused_attention(q, k, v, self.mask, self.causal, self.dropout)
        return self.queries.pack(output.transpose(1, 2))


def encode_rows(model: Transformer, source: Tensor, rows: RaggedRows | FixedRows) -> Tensor:
    """The memory `[N, D]` of real token ids `[N]`."""
    attend = rows.attend_to(rows, dropout=_dropout(model))  # type: ignore[arg-type]
    return model.encoder(_embed(model, source, rows), attend)


def forward_rows(
    model: Transformer,
    source: Tensor,
    source_rows: RaggedRows | FixedRows,
    target: Tensor,
    target_rows: RaggedRows | FixedRows,
) -> Tensor:
    """What `Transformer.forward` computes before the projection, without any padding: the path for training.

    Parameters
    ----------
    source, target
        Real token ids `[N]` and `[M]`, sentences one after the other; the target shifted right. With `FixedRows`
        padding ids follow them, and what comes out for those means nothing.
    source_rows, target_rows
        Where they sit; both of one kind.

    Returns
    -------
    Tensor
        Decoder outputs `[M, D]`
    """
    memory, dropout = encode_rows(model, source, source_rows), _dropout(model)
    own = target_rows.attend_to(target_rows, causal=True, dropout=dropout)  # type: ignore[arg-type]
    cross = target_rows.attend_to(source_rows, dropout=dropout)  # type: ignore[arg-type]
    x = _embed(model, target, target_rows, target=True)
    if gains_from_one_product(memory):
        projected = ProjectedMemory(cross, iter(project_memory(model.decoder, memory)))
        return model.decoder(x, None, own, projected)
    return model.decoder(x, memory, own, cross)


def _embed(model: Transformer, ids: Tensor, rows: RaggedRows | FixedRows, target: bool = False) -> Tensor:
    embedded = model.embed(ids, F.embedding(rows.positions, model.positions(rows.longest)), target=target)
    return entering(embedded)


def _dropout(model: Transformer) -> float:
    return model.attention_dropout if model.training else 0.0
