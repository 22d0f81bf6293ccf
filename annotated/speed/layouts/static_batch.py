"""A batch in a fixed shape: N source rows, M target rows, and segments of at most one length.

A compiler then works once, and a GPU can replay one recorded graph instead of being told each of a thousand kernels
again. Either the rows have room for every batch, or there are some dozens, the classes of `StaticShape.class_of`: more
graphs, and less padding in them. Two more numbers differ between batches: how many segments there are, in powers of
two, and how long they may be, in tiles of attention. They decide how many thread blocks attention starts, nothing else,
and thousands of empty ones would cost more than the sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.speed.layouts import FixedRows, RaggedRows

ROW_MULTIPLE = 512
LENGTH_MULTIPLE = 64
ROW_CLASSES = 24
"""At least so many classes of rows up to the most that a batch can need: 25,600 rows come in classes of 1,024."""
LEAST_CLASS = 64
"""Rows: matrix products on a GPU are computed in tiles of so many or more."""
LENGTH_CLASS = 128
"""Queries of a sentence that attention gives to one block of threads: to announce fewer gains nothing."""


class Extent(NamedTuple):
    """The numbers of a batch on which its shape depends."""

    pairs: int
    source: int
    """Tokens, eos included."""
    target: int
    longest: int
    """Tokens of the longest sentence of either side."""

    @classmethod
    def of(cls, source_lengths: Sequence[int], target_lengths: Sequence[int]) -> Extent:
        """That of sentences of these lengths."""
        longest = max(max(source_lengths), max(target_lengths))
        return cls(len(source_lengths), sum(source_lengths), sum(target_lengths), longest)

    @property
    def fuller(self) -> int:
        """Tokens of the fuller side."""
        return max(self.source, self.target)


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


class StaticBatch(NamedTuple):
    """What the model reads: ids of the rows, padding after the real ones, and where segments begin."""

    source: Tensor
    """[N] int32: token ids, eos included, then padding."""
    target_in: Tensor
    """[M] int32: the target shifted right, then padding."""
    target_out: Tensor
    """[M] int32: the target, then padding; a row with padding here has no part in the loss."""
    source_rows: FixedRows
    target_rows: FixedRows


@dataclass(frozen=True)
class StaticShape:
    """Room for a batch: the rows of either side, and the longest sentence."""

    rows: int
    """N: rows of the source, and of the target if `target_rows` is None."""
    width: int
    """Tokens of the longest segment, eos included."""
    target_rows: int | None = None
    """M: rows of the target; None for N."""
    tiles: bool = False
    """As `FixedRows.tiles`: attention by FlexAttention."""

    @property
    def sides(self) -> tuple[int, int]:
        """N and M."""
        return self.rows, self.rows if self.target_rows is None else self.target_rows

    @classmethod
    def for_tokens(cls, tokens: int, longest: int) -> StaticShape:
        """Room for any batch of at most `tokens` on each side with sentences of at most `longest`.

        25,000 tokens of sentences up to 256 give 25,600 rows: 2 % of padding.
        """
        shape = cls(_round_up(tokens, ROW_MULTIPLE), _round_up(longest, LENGTH_MULTIPLE))
        while not shape.fits(tokens, longest):
            shape = cls(shape.rows + ROW_MULTIPLE, shape.width)
        return shape

    @classmethod
    def for_training(cls, training: TrainingConfig, longest: int, processes: int = 1) -> StaticShape:
        """Room for the micro-batches of a training run: an update's tokens, cut into pieces of whole sentences."""
        pieces, tiles = training.micro_batches(processes) * processes, training.attention_kernel == "flex"
        if pieces == 1:
            return dataclasses.replace(cls.for_tokens(training.batch_tokens, longest), tiles=tiles)
        # Pieces have about equally many tokens, both sides together: one side can have a little more than its share.
        share = -(-training.batch_tokens * 21 // (20 * pieces)) + longest
        return dataclasses.replace(cls.for_tokens(share, longest), tiles=tiles)

    def fits(self, tokens: int, longest: int) -> bool:
        """True if there is room for so many tokens on a side, and for a sentence of this length.

        So much room is left that every segment of the padding has a row on both sides, however full the other one is.
        """
        return longest <= self.width and self.rows - tokens >= -(-self.rows // self.width)

    def grown_for(self, extent: Extent) -> StaticShape:
        """This shape, or if a batch needs it a larger one."""
        if self.fits(extent.fuller, extent.longest):
            return self
        needed = self.for_tokens(extent.fuller, max(extent.longest, self.width))
        return dataclasses.replace(self, rows=max(self.rows, needed.rows), width=needed.width)

    def narrowed_for(self, extent: Extent) -> StaticShape:
        """This shape, which has room for a batch, with segments of the fewest tiles that have room for it, too.

        Where a tile holds several segments, as FlexAttention's do, there is nothing to gain.
        """
        if self.tiles:
            return self
        width = self._class_of_length(extent.longest)
        while width < self.width and self._padding(extent, width) > min(self._spare(extent)):
            width += LENGTH_CLASS
        return dataclasses.replace(self, width=min(width, self.width))

    def class_of(self, extent: Extent) -> StaticShape:
        """The smallest of the classes within this shape that has room for a batch.

        Rows of each side are a multiple of a power of two (1,024 for shapes of 24,576 to 49,151 rows), whether this
        shape has as many or not. Segments have whole tiles of attention.
        """
        width = self._class_of_length(extent.longest)
        step = max(LEAST_CLASS, _power_of_two(self.rows // ROW_CLASSES + 1) // 2)
        # Of one side nearly `step` rows may be padding, in segments of `width`; the other has a row for each of them.
        spare = -(-(step - 1) // (width - 1))
        rows = [_round_up(tokens + spare, step) for tokens in (extent.source, extent.target)]
        return dataclasses.replace(self, rows=rows[0], width=width, target_rows=rows[1])

    def numbers(self, extent: Extent) -> int:
        """How many `lay_out` makes of a batch: with the shape itself, all that a recorded step depends on."""
        return sum(self._sizes) + 2 * (self._segments(extent) + 1)

    def _class_of_length(self, longest: int) -> int:
        known = min(self.width, _round_up(longest, LENGTH_CLASS))
        return known if longest <= known else _round_up(longest, LENGTH_MULTIPLE)

    def _spare(self, extent: Extent) -> tuple[int, int]:
        """Rows of padding on either side."""
        source, target = self.sides
        return source - extent.source, target - extent.target

    def _padding(self, extent: Extent, width: int) -> int:
        """Segments that the padding of the emptier side is cut into."""
        return -(-max(self._spare(extent)) // width)

    def _segments(self, extent: Extent) -> int:
        return _power_of_two(extent.pairs + self._padding(extent, self.width))

    def lay_out(self, batch: Batch, pin: bool = False) -> Tensor:
        """Everything of a `StaticBatch` in one int32 tensor, so that one copy takes it to a GPU; see `views`.

        Parameters
        ----------
        pin
            Into memory from which a GPU can copy while the processor goes on.

        Raises
        ------
        ValueError
            If the batch has no room.
        """
        batch = batch.to("cpu")
        lengths = batch.source_lengths, batch.target_lengths
        extent = Extent.of(*lengths)
        spare, padding = self._spare(extent), self._padding(extent, self.width)
        if extent.longest > self.width or min(spare) < padding:
            sizes = f"{extent.fuller} tokens, the longest sentence {extent.longest}"
            raise ValueError(f"a batch of {sizes}, has no room in {self}")
        flat = torch.zeros(self.numbers(extent), dtype=torch.int32, pin_memory=pin)
        ids, positions, cu_seqlens = self._parts(flat)
        source, target = map(RaggedRows, lengths)
        for place, rows, rectangle in zip(
            ids, (source, target, target), (batch.source, batch.target_in, batch.target_out), strict=True
        ):
            place[: len(rows.positions)] = rows.pack_ids(rectangle)
        for side, (real, free) in enumerate(zip(lengths, spare, strict=True)):
            even = [free // padding + (i < free % padding) for i in range(padding)]
            _number([*real, *even], positions[side], cu_seqlens[side])
        return flat

    def views(self, flat: Tensor) -> StaticBatch:
        """The parts of what `lay_out` made, on whatever device; they share its memory."""
        ids, positions, cu_seqlens = self._parts(flat)
        reach = flat[: self.width]
        source, target = (
            FixedRows(positions[side], cu_seqlens[side], self.width, reach=reach, tiles=self.tiles) for side in (0, 1)
        )
        return StaticBatch(ids[0], ids[1], ids[2], source, target)

    @property
    def _sizes(self) -> tuple[int, ...]:
        """Of the ids, source and twice the target, and of the positions of both sides."""
        source, target = self.sides
        return source, target, target, source, target

    def _parts(self, flat: Tensor) -> tuple[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor]]:
        fixed = sum(self._sizes)
        parts = flat[:fixed].split(self._sizes)
        return parts[:3], parts[3:], flat[fixed:].chunk(2)


@dataclass(frozen=True)
class LaidOutBatch(Batch):
    """A batch, and what `StaticShape.lay_out` made of it."""

    shape: StaticShape
    flat: Tensor


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _number(lengths: Sequence[int], positions: Tensor, cu_seqlens: Tensor) -> None:
    """Write where segments begin, and each row's place in its segment; segments that are not used are empty."""
    ends = torch.tensor(lengths, dtype=torch.int32).cumsum(0, dtype=torch.int32)
    cu_seqlens.fill_(len(positions))
    cu_seqlens[0], cu_seqlens[1 : len(ends) + 1] = 0, ends
    firsts = torch.repeat_interleave(cu_seqlens[: len(ends)], torch.tensor(lengths))
    positions.copy_(torch.arange(len(positions), dtype=torch.int32) - firsts)
