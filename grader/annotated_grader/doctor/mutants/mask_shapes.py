"""Masks of the wrong shape, which fit where two sizes are equal: of another sequence, or on another axis."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from torch import Tensor

from annotated.model.attention import Masked, Recorded
from annotated.model.masks import padding_mask, target_mask
from annotated.model.transformer import Transformer
from annotated_grader.doctor.mutants.patching import Bank, Patches

BANK = Bank()


def _masks_are(patches: Patches, own: Callable[[Tensor, Tensor], Tensor], cross: Callable[..., Tensor]) -> None:
    """Let the padded layout make the decoder's two masks from target `[B, T]` and source `[B, S]`."""

    def decode(self: Transformer, target_in: Tensor, memory: Tensor, source: Tensor, maps: Any = None) -> Tensor:
        attend = self._attend(own(target_in, source), None if maps is None else maps.decoder)
        attend_memory = self._attend(cross(target_in, source), None if maps is None else maps.cross)
        return self.project(self.decoder(self.embed(target_in, target=True), memory, attend, attend_memory))

    patches.attribute(Transformer, "decode", decode)


@BANK.mutant(
    "The target's padding is taken from the source's where both are equally long.",
    "source-padding",
    "attention-hidden",
    "cache-equals-forward",
    source="the kind of hyunwoongko/transformer, issue 11, with one padding mask for both",
)
def target_mask_from_source(patches: Patches) -> None:
    def own(target: Tensor, source: Tensor) -> Tensor:
        return target_mask(source if source.shape == target.shape else target)

    _masks_are(patches, own, lambda target, source: padding_mask(source))


@BANK.mutant(
    "The source's padding is taken from the target's where both are equally long.",
    "source-padding",
    "target-padding",
    "attention-hidden",
    "cache-equals-forward",
)
def source_mask_from_target(patches: Patches) -> None:
    def cross(target: Tensor, source: Tensor) -> Tensor:
        return padding_mask(target if source.shape == target.shape else source)

    _masks_are(patches, lambda target, source: target_mask(target), cross)


def _broadcast(patches: Patches, change: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Let the padded layout lay `change` of a mask of padding `[B, 1, 1, S]` over scores of these queries."""

    def make(original: Any) -> Any:
        def mix(self: Masked, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            is_padding = self.mask is not None and self.mask.dim() == 4 and self.mask.size(-2) == 1
            mask = change(self.mask, q) if is_padding and self.mask is not None else self.mask
            return original(dataclasses.replace(self, mask=mask), q, k, v)

        return mix

    for kind in (Masked, Recorded):
        patches.method(kind, "mix", make)


@BANK.mutant(
    "The padding mask lacks the heads' axis: with as many sentences as heads, each head gets another sentence's.",
    "batch-mates",
    "hidden-row",
    "pad-vector-unread",
    "attention-hidden",
    "accumulation",
    source="ml-explore/mlx-lm, issue 1467, where the axis was that of the groups",
)
def mask_without_heads_axis(patches: Patches) -> None:
    _broadcast(patches, lambda mask, q: mask.transpose(0, 1) if mask.size(0) == q.size(1) else mask)


@BANK.mutant(
    "The padding mask lacks two axes: with as many sentences as queries, each query gets another sentence's.",
    "batch-mates",
    source="the kind of lucidrains/vit-pytorch, issue 71",
)
def mask_without_query_axis(patches: Patches) -> None:
    _broadcast(patches, lambda mask, q: mask.transpose(0, 2) if mask.size(0) == q.size(2) else mask)
