"""Prepared batches: the same numbers as unprepared ones, and nothing left for the processor to do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import annotated.speed.layouts.packed as packed_module
from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.layouts import RaggedRows, prefetch
from annotated.speed.layouts.prefetch import prepare_packed, prepare_padded
from annotated.speed.layouts.static_batch import LaidOutBatch, StaticShape
from annotated.speed.steps import FastStep
from annotated.speed.steps.precision import Precision
from annotated.speed.steps.static_micro_step import StaticMicroStep

CPU = torch.device("cpu")
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
)  # fmt: skip
BATCHES = [
    collate_ids([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5])]),
    collate_ids([([4, 5], [6])] * 6),  # full: no padding on either side
    collate_ids([([5] * 30, [6] * 12)]),
]


def made(layout: str, batches: list[Batch], prepared: bool, **changes: bool) -> list[Tensor]:
    """Losses and gradients of some micro-steps, dropout and all."""
    torch.manual_seed(0)
    model, training = Transformer(CONFIG), TrainingConfig(layout=layout, batch_tokens=40, **changes)  # type: ignore[arg-type]
    step = FastStep(model, training)
    with step.compiled(longest=12):
        if prepared:  # all beforehand, as a thread would
            batches = [step.prepare(batch) for batch in batches]
        losses = [step.micro_step(batch, 40) for batch in batches]
    return losses + [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


CASES = [("packed", {}), ("padded", {}), ("static", {}), ("static", {"row_classes": True})]


@pytest.mark.parametrize(("layout", "changes"), CASES)
def test_prepared_or_not_the_numbers_are_the_same(layout, changes):
    plain, prepared = (made(layout, BATCHES, way, **changes) for way in (False, True))
    assert len(plain) == len(prepared) > len(BATCHES)
    assert all(torch.equal(a, b) for a, b in zip(plain, prepared, strict=True))


@pytest.mark.parametrize(("layout", "changes"), CASES)
def test_a_prepared_batch_is_still_that_batch(layout, changes):
    training = TrainingConfig(layout=layout, batch_tokens=40, **changes)
    step = FastStep(Transformer(CONFIG), training)
    with step.compiled(longest=12):
        batch = step.prepare(BATCHES[0])
    assert isinstance(batch, Batch)
    assert (batch.indices, batch.target_lengths, len(batch)) == (BATCHES[0].indices, BATCHES[0].target_lengths, 3)
    assert torch.equal(batch.source, BATCHES[0].source)


def static_step(shape: StaticShape) -> StaticMicroStep:
    training = TrainingConfig()
    return StaticMicroStep(Transformer(CONFIG), training, Precision(training, CPU), shape, CPU)


def test_what_is_prepared_is_not_made_again(monkeypatch):
    batches = [prepare_packed(batch) for batch in BATCHES]
    step = static_step(StaticShape(64, 64))
    laid = [step.prepare(batch) for batch in BATCHES]

    def never(*_: object, **__: object) -> None:
        raise AssertionError("made a second time")

    monkeypatch.setattr(prefetch, "RaggedRows", never)
    monkeypatch.setattr(StaticShape, "lay_out", never)
    made("packed", list(batches), prepared=False)
    for batch in laid:
        step(batch, 10)


def test_a_batch_laid_out_before_the_room_grew_keeps_its_shape():
    step = static_step(StaticShape(64, 16))
    first, large = step.prepare(BATCHES[0]), step.prepare(BATCHES[2])  # 31 tokens in one sentence
    assert isinstance(first, LaidOutBatch) and first.shape == StaticShape(64, 16)
    assert step.shape == large.shape != first.shape
    torch.testing.assert_close(step(first, 10).isfinite(), torch.tensor(True))


def test_for_a_gpu_everything_is_pinned_once(monkeypatch):
    """There is no GPU here, and so no memory to pin: what is asked for is counted."""
    pinned: list[Tensor] = []

    def pin(tensor: Tensor) -> Tensor:
        pinned.append(tensor)
        return tensor.clone()

    monkeypatch.setattr(Tensor, "pin_memory", pin)
    batch = prepare_packed(BATCHES[0], pin=True)
    # Three rectangles; for each side the places of rows, the two indices and the mask.
    assert len(pinned) == 3 + 2 * 4
    assert not any(tensor is batch.source for tensor in pinned), "the batch has the pinned copies"
    pinned.clear()
    assert len(prepare_padded(BATCHES[0], pin=True).indices) == 3 and len(pinned) == 3
    pinned.clear()
    prepare_packed(BATCHES[1], pin=True)
    assert len(pinned) == 3 + 2, "a full batch has no index and no mask"
    pinned.clear()
    prepare_packed(BATCHES[0]), prepare_padded(BATCHES[0])
    assert not pinned


def test_rows_follow_their_batch_to_the_device():
    moved = prepare_packed(BATCHES[0]).to("meta")
    for rows in (moved.source_rows, moved.target_rows):
        assert {x.device.type for x in (rows.positions, rows.index, rows.source, rows.mask)} == {"meta"}
    full = prepare_packed(BATCHES[1]).to("meta").source_rows
    assert full.index is None and full.positions.device.type == "meta"
    assert isinstance(RaggedRows([1, 2]).to("cpu"), packed_module.RaggedRows)
