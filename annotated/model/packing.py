"""Padding is a layout, not a value: real tokens travel as rows `[N, D]` without any padding between them.

Everything that treats tokens one by one (linear maps, LayerNorm, dropout, the loss) works on rows. Only
attention needs to know where sentences begin and end, and a `Packing` tells it.

Paper: section 5.1 (the batches of 25,000 tokens that this makes cheap); the layout itself is ours
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from annotated.config import PAD
from annotated.model.static_rows import StaticRows, segment_mask


class _Gather(torch.autograd.Function):
    """Rows of `x` by index, where each row that matters is taken exactly once.

    The gradient is then a gather too, which is several times faster than the scattered sum that autograd
    would use. Places whose result does not matter (padding) may repeat any row; their gradient is zero
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
        return grad.new_zeros(ctx.rows, grad.size(1)).index_copy_(0, index, grad), None


def _carried(x: Tensor, device: torch.device | str | None) -> Tensor:
    """A CPU tensor on a device; a GPU copies it from pinned memory, while the processor goes on."""
    on_gpu = device is not None and torch.device(device).type == "cuda"
    return (x.pin_memory() if on_gpu else x).to(device, non_blocking=on_gpu)


class PackedRows:
    """Where the N real tokens of a right-padded batch `[B, width]` sit.

    Parameters
    ----------
    lengths
        Real tokens of each sentence; the batch is padded on the right to the longest.
    device
        Where the index tensors live.

    Paper: section 5.1
    """

    def __init__(self, lengths: Sequence[int], device: torch.device | str | None = None) -> None:
        self.lengths = list(lengths)
        self.batch, self.width = len(self.lengths), max(self.lengths, default=0)
        columns = torch.arange(self.width)
        real = columns < torch.tensor(self.lengths)[:, None]  # [B, width]
        self.positions = _carried(columns.expand(self.batch, -1)[real], device)  # [N], each token's place
        self.full = bool(real.all())
        if self.full:
            self.index = self.source = self.mask = None
        else:
            index = real.flatten().nonzero().squeeze(1)
            source = torch.zeros(self.batch * self.width, dtype=torch.long)
            source[index] = torch.arange(len(index))
            self.index, self.source = (_carried(x, device) for x in (index, source))  # [N] into [B * width], and back
            self.mask = _carried(real[:, None, None, :], device)  # [B, 1, 1, width], keys that exist

    @classmethod
    def from_ids(cls, ids: Tensor) -> PackedRows:
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
        flat = ids[:, : self.width].reshape(-1)
        return flat if self.index is None else flat.index_select(0, self.index)

    def unpack(self, x: Tensor) -> Tensor:
        """Rows `[N, D]` as a padded `[B, width, D]`; what stands in the padding means nothing."""
        if self.index is not None:
            x = _Gather.apply(x, self.source, self.index)
        return x.view(self.batch, self.width, -1)

    def pack(self, x: Tensor) -> Tensor:
        """A padded `[B, width, D]` as its real rows `[N, D]`."""
        x = x.reshape(self.batch * self.width, -1)
        return x if self.index is None else _Scatter.apply(x, self.index)


@dataclass(frozen=True)
class Packing:
    """Which packed keys a packed query may see: those of its own sentence, and if `causal` not later ones.

    Stands where a mask stands in the padded layout. Both sides are laid out alike: rows of this batch's number
    (`PackedRows`), or of a fixed number (`StaticRows`).
    """

    queries: PackedRows | StaticRows
    keys: PackedRows | StaticRows
    causal: bool = False

    @property
    def mask(self) -> Tensor | None:
        """Keys that exist, `[B, 1, 1, S]`; None where the causal order already excludes the padding.

        For rows of a fixed number: keys of the query's own sentence, `[1, 1, M, N]`, and if `causal` not later ones.
        """
        if isinstance(self.keys, StaticRows) and isinstance(self.queries, StaticRows):
            return segment_mask(self.queries, self.keys, self.causal)
        return None if self.causal or isinstance(self.keys, StaticRows) else self.keys.mask
