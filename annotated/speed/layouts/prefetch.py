"""Preparation of micro-batches: what a processor can do with one before the device is free for it.

A micro-step takes a batch either way. One that is prepared spares it the same work, and gives the same numbers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self

import torch

from annotated.data.batch import Batch
from annotated.speed.layouts import RaggedRows


@dataclass(frozen=True)
class PackedBatch(Batch):
    """A batch, and where its real tokens sit."""

    source_rows: RaggedRows
    target_rows: RaggedRows

    def to(self, device: torch.device | str) -> Self:
        """The same batch with its tensors on a device, those of the rows too."""
        rows = {name: getattr(self, name).to(device) for name in ("source_rows", "target_rows")}
        return dataclasses.replace(super().to(device), **rows)


def uniform_rows(compiled: bool, device: torch.device) -> bool:
    """Whether rows are to be of one kind: a compiler, and a GPU's choice and memory of kernels, profit from few shapes.

    A CPU that is not compiled for does not.
    """
    return compiled or device.type != "cpu"


def packed_rows(batch: Batch, uniform: bool = False) -> tuple[RaggedRows, RaggedRows]:
    """Where the real tokens of a batch's two sides sit, on the batch's device; made here unless they are there."""
    if isinstance(batch, PackedBatch):
        return batch.source_rows, batch.target_rows
    device = batch.source.device
    return RaggedRows(batch.source_lengths, device, uniform), RaggedRows(batch.target_lengths, device, uniform)


def prepare_packed(batch: Batch, pin: bool = False, uniform: bool = False) -> PackedBatch:
    """Work out where real tokens sit.

    Parameters
    ----------
    pin
        Tensors into memory from which a GPU can copy while the processor goes on.
    uniform
        Rows of one kind, as `RaggedRows` explains.
    """
    source, target = packed_rows(batch, uniform)
    if pin:
        batch, source, target = prepare_padded(batch, pin), source.pinned(), target.pinned()
    return PackedBatch(**vars(batch), source_rows=source, target_rows=target)


def prepare_padded(batch: Batch, pin: bool = False) -> Batch:
    """As `prepare_packed`, for rectangles: there is nothing to work out."""
    names = ("source", "target_in", "target_out") if pin else ()
    return dataclasses.replace(batch, **{name: getattr(batch, name).pin_memory() for name in names})
