"""Batches in one fixed shape: the same loss and gradients, whatever fills the rest of the rows."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.layouts import RaggedRows, forward_rows
from annotated.speed.layouts.static_batch import Extent, StaticShape
from annotated.speed.steps import layout_loss
from annotated.speed.steps import loss as loss_module
from annotated.speed.steps.loss import projected_cross_entropy, static_loss
from annotated.training.loss import label_smoothed_cross_entropy

SMALL = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=2,
    dropout=0.0,
)  # fmt: skip
PAIRS = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7, 7, 7, 7, 7], [5])]


def extent(batch: Batch) -> Extent:
    return Extent.of(batch.source_lengths, batch.target_lengths)


def test_what_a_batch_looks_like():
    shape = StaticShape(rows=24, width=8)
    batch = shape.views(shape.lay_out(collate_ids(PAIRS)))
    assert batch.source.tolist() == [5, 6, 7, 2, 4, 2, 7, 7, 7, 7, 7, 2] + [0] * 12
    assert batch.target_in.tolist() == [1, 8, 9, 1, 10, 11, 12, 13, 1, 5] + [0] * 14
    assert batch.target_out.tolist() == [8, 9, 2, 10, 11, 12, 13, 2, 5, 2] + [0] * 14
    # 12 and 14 rows of padding: two segments on each side, none longer than 8; 3 + 2 segments are rounded up to 8.
    assert batch.source_rows.cu_seqlens.tolist() == [0, 4, 6, 12, 18, 24, 24, 24, 24]
    assert batch.target_rows.cu_seqlens.tolist() == [0, 3, 8, 10, 17, 24, 24, 24, 24]
    assert batch.target_rows.positions.tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, *range(7), *range(7)]
    assert {x.dtype for x in (batch.source, batch.source_rows.cu_seqlens, batch.target_rows.positions)} == {torch.int32}


lengths = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=8)


@given(lengths, st.sampled_from([1, 3, 8]), st.integers(0, 40))
def test_every_row_has_a_segment_and_every_segment_both_sides(sizes, multiple, more):
    batch = collate_ids([([5] * (s - 1), [6] * (t - 1)) for s, t in sizes])
    needed = StaticShape(0, 0).grown_for(extent(batch))
    shape = StaticShape(needed.rows + multiple * more, needed.width)
    laid = shape.views(shape.lay_out(batch))
    both = laid.source_rows.cu_seqlens.diff(), laid.target_rows.cu_seqlens.diff()
    for side, real in zip(both, (batch.source_lengths, batch.target_lengths), strict=True):
        assert side.sum() == shape.rows and int(side.max()) <= shape.width and side[: len(real)].tolist() == real
        assert math.log2(len(side)).is_integer()
    assert torch.equal(both[0] > 0, both[1] > 0), "a query without a key would have nothing to attend to"


def test_room_for_a_training():
    assert StaticShape.for_tokens(25_000, 256) == StaticShape(25_600, 256)
    assert StaticShape.for_tokens(25_600, 256).rows > 25_600, "padding needs rows too"
    training = TrainingConfig(batch_tokens=1000)
    assert StaticShape.for_training(training, 50) == StaticShape(1024, 64)
    in_two = StaticShape.for_training(training, 50, processes=2)
    assert 500 + 50 < in_two.rows <= 1024


def test_a_batch_without_room():
    batch, shape = collate_ids([([5] * 70, [6] * 3)]), StaticShape(512, 64)
    with pytest.raises(ValueError, match="71 tokens, the longest sentence 71, has no room"):
        shape.lay_out(batch)
    assert shape.grown_for(extent(batch)) == StaticShape(512, 128)
    assert shape.grown_for(extent(collate_ids(PAIRS))) is shape


def test_the_longest_that_is_announced_is_the_batchs_own_in_tiles_of_128():
    room = StaticShape(25_600, 256)

    def width(*lengths: tuple[int, int], room: StaticShape = room) -> int:
        batch = collate_ids([([5] * (s - 1), [6] * (t - 1)) for s, t in lengths])
        narrow = room.narrowed_for(extent(batch))
        assert narrow.sides == room.sides and len(narrow.lay_out(batch)) == narrow.numbers(extent(batch))
        return narrow.width

    assert width(*[(9, 9)] * 2770) == width(*[(128, 1)] * 190) == 128
    assert width((129, 1)) == width((1, 256)) == 256
    # 25,345 rows of padding on one side would be 199 segments of 128, and the other side has but 100 rows for them.
    assert width(*[(100, 1)] * 255) == 256
    assert width(*[(100, 1)] * 250) == 128, "600 rows"
    assert width((9, 9), room=StaticShape(512, 64)) == 64
    assert width((9, 9), room=StaticShape(25_600, 256, tiles=True)) == 256, "tiles hold several segments already"


def gradients(model, batch, layout):
    model.zero_grad(set_to_none=True)
    loss, count = layout_loss(model, batch, 0.1, layout)
    loss.backward()
    return loss.detach(), count, {name: p.grad for name, p in model.named_parameters()}


CHANGES = [{}, {"norm": "pre"}, {"positions": "learned"}, {"tie_embeddings": False, "attention_bias": True}]


@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:1], [([], [])]])
def test_static_packed_and_padded_give_the_same_loss_and_gradients(changes, pairs):
    torch.manual_seed(0)
    model, batch = Transformer(SMALL.replace(**changes)).double(), collate_ids(pairs)
    packed, padded = gradients(model, batch, "packed"), gradients(model, batch, "padded")
    for layout in ("static", StaticShape(64, 16), StaticShape(96, 9)):
        static = gradients(model, batch, layout)
        assert static[1] == packed[1] == padded[1] == sum(len(target) + 1 for _, target in pairs)
        for other in (packed, padded):
            torch.testing.assert_close(static[0], other[0], rtol=1e-5, atol=1e-5)  # the readable loss is float32
            torch.testing.assert_close(static[2], other[2], rtol=1e-5, atol=1e-6)


def test_what_stands_in_the_padding_changes_nothing():
    torch.manual_seed(0)
    model, shape, batch = Transformer(SMALL), StaticShape(64, 16), collate_ids(PAIRS)
    flat = shape.lay_out(batch)
    other = flat.clone()
    other_batch = shape.views(other)
    other_batch.source[12:], other_batch.target_in[10:] = 9, 11
    results = []
    for one in (flat, other):
        model.zero_grad()
        loss = static_loss(model, shape.views(one), 0.1)
        loss.backward()
        results.append((loss.detach(), [p.grad.clone() for p in model.parameters()]))
    torch.testing.assert_close(results[0], results[1], rtol=0, atol=0)


def test_everything_is_finite_in_an_almost_empty_batch():
    torch.manual_seed(0)
    model, shape = Transformer(SMALL), StaticShape(512, 64)
    laid = shape.views(shape.lay_out(collate_ids([([], [])])))
    hidden = forward_rows(model, laid.source, laid.source_rows, laid.target_in, laid.target_rows)
    assert hidden.isfinite().all()
    alone = RaggedRows([1])
    expected = forward_rows(model, torch.tensor([2]), alone, torch.tensor([1]), alone)
    torch.testing.assert_close(hidden[:1], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("vocab_size", [100, 128])
def test_the_loss_in_16_bits(smoothing, vocab_size):
    """V is filled up to a multiple of 64 there; the filling has no probability."""
    torch.manual_seed(0)
    hidden, weight = torch.randn(70, 16, requires_grad=True), torch.randn(vocab_size, 16, requires_grad=True)
    gold = torch.randint(1, vocab_size, (70,))
    gold[50:] = 0
    copies = hidden.detach().clone().requires_grad_(), weight.detach().clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        loss = projected_cross_entropy(hidden, weight, gold, smoothing, chunk=32)
        expected, _ = label_smoothed_cross_entropy(torch.nn.functional.linear(*copies), gold, smoothing)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected, rtol=1e-3, atol=1e-2)
    (loss / 50).backward()
    (expected / 50).backward()
    for one, other in zip((hidden, weight), copies, strict=True):
        assert (one.grad - other.grad).norm() < 0.02 * other.grad.norm()
        assert one.grad.dtype == torch.float32
    assert not hidden.grad[50:].any()


def test_rows_without_a_target_count_for_nothing_whatever_they_hold():
    torch.manual_seed(0)
    hidden, weight, gold = torch.randn(6, 4), torch.randn(7, 4), torch.tensor([1, 3, 0, 2, 0, 0])
    hidden[2], hidden[4] = math.nan, math.inf
    hidden.requires_grad_()
    weight.requires_grad_()
    loss = projected_cross_entropy(hidden, weight, gold, 0.1, chunk=4)
    real = [0, 1, 3]
    other = weight.detach().clone().requires_grad_()
    expected = projected_cross_entropy(hidden.detach()[real], other, gold[real], 0.1)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(weight.grad, other.grad)
    assert not hidden.grad[[2, 4, 5]].any() and hidden.grad[real].any()


def test_chunks_are_alike_where_that_is_possible():
    assert loss_module._equal_chunk(25_600, 4096) == 3200
    assert loss_module._equal_chunk(512, 4096) == 512
    assert loss_module._equal_chunk(1000, 512) == 512
    assert loss_module._equal_chunk(0, 512) == 512
