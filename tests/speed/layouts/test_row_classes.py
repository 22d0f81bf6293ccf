"""Classes of shapes: each batch in the smallest that has room for it, one compilation for all, a recording each."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest
import torch
import torch._dynamo.testing
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batch import Batch, collate_ids
from annotated.data.batching import TokenBatches
from annotated.data.store import TokenStore
from annotated.model import Transformer
from annotated.model.positional_encoding import SinusoidalPositions
from annotated.speed.kernels import fused
from annotated.speed.layouts import forward_rows
from annotated.speed.layouts.static_batch import Extent, StaticShape
from annotated.speed.steps import packed_loss
from annotated.speed.steps.compilations import compile_terms
from annotated.speed.steps.precision import Precision
from annotated.speed.steps.static_micro_step import StaticMicroStep

CPU = torch.device("cpu")
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
    dropout=0.0,
)  # fmt: skip


def batch_of(*lengths: tuple[int, int]) -> Batch:
    """Pairs of these lengths, eos included."""
    return collate_ids([([5 + i % 9] * (s - 1), [6 + i % 7] * (t - 1)) for i, (s, t) in enumerate(lengths)])


BATCHES = [
    batch_of((9, 9), (20, 20)),  # as many rows on both sides: must not make a compiler take them for one size
    batch_of((30, 4), (32, 5), (31, 9), (29, 2)),
    batch_of((5, 33), (7, 30), (2, 64)),
    batch_of((130, 100)),
    batch_of(*[(3, 4)] * 40),
    batch_of((9, 8), (19, 21)),
]


def extent(batch: Batch) -> Extent:
    return Extent.of(batch.source_lengths, batch.target_lengths)


def class_step(recorder=None, row_classes: bool = True) -> StaticMicroStep:
    torch.manual_seed(0)
    training = TrainingConfig(layout="static", row_classes=row_classes)
    return StaticMicroStep(
        Transformer(CONFIG), training, Precision(training, CPU), StaticShape(512, 256), CPU, recorder
    )


def test_classes_by_hand():
    # Up to 25,600 rows: classes of 1,024. 24,000 tokens and room for 1,023 / 127, so 9 segments of padding: 24 of them.
    room = StaticShape.for_tokens(25_000, 256)

    def class_of(*lengths: tuple[int, int], room: StaticShape = room) -> StaticShape:
        return room.class_of(extent(batch_of(*lengths)))

    assert class_of(*[(100, 90)] * 240) == StaticShape(24 * 1024, 128, 22 * 1024)
    assert class_of(*[(30, 33)] * 100) == StaticShape(3 * 1024, 128, 4 * 1024)
    assert class_of((129, 2)).width == class_of((256, 2)).width == 256
    assert class_of((257, 2)).width == 320
    # 24,567 + 9 rows are just 24 classes, one more token is not.
    edge = [(100, 1)] * 245
    assert class_of(*edge, (67, 1)).rows == 24 * 1024
    assert class_of(*edge, (68, 1)).rows == 25 * 1024
    # An eighth of a batch, on one of eight devices: classes of 128, not of a third of the rows.
    assert class_of(*[(30, 30)] * 100, room=StaticShape(3584, 256)) == StaticShape(3072, 128, 3072)


sizes = st.lists(st.tuples(st.integers(1, 90), st.integers(1, 90)), min_size=1, max_size=40)


@given(sizes, st.sampled_from([64, 3584, 25_600]))
def test_a_class_has_room_for_its_batch_and_not_much_more(lengths, rows):
    batch = batch_of(*lengths)
    shape = StaticShape(rows, 256).class_of(extent(batch))
    step = max(64, 1 << (max(rows // 24, 1).bit_length() - 1))
    laid = shape.views(shape.lay_out(batch))
    cu_seqlens = [side.cu_seqlens.diff() for side in (laid.source_rows, laid.target_rows)]
    for side, n, real in zip(cu_seqlens, shape.sides, (batch.source_lengths, batch.target_lengths), strict=True):
        assert n % step == 0 and 0 < n - sum(real) < step + math.ceil((step - 1) / (shape.width - 1))
        assert side.sum() == n and int(side.max()) <= shape.width and side[: len(real)].tolist() == real
    assert torch.equal(cu_seqlens[0] > 0, cu_seqlens[1] > 0), "a query without a key would have nothing to attend to"
    assert (len(laid.source), len(laid.target_in), len(laid.target_out)) == (shape.sides[0], *shape.sides[1:] * 2)


def packed_gradients(model: Transformer, batch: Batch) -> tuple[torch.Tensor, list[torch.Tensor]]:
    model.zero_grad(set_to_none=True)
    loss, _ = packed_loss(model, batch, 0.1)
    (loss / 40).backward()
    return loss.detach(), [parameter.grad.clone() for parameter in model.parameters()]


def assert_equals_packed(step: StaticMicroStep, batch: Batch) -> None:
    expected_loss, expected = packed_gradients(step.model, batch)
    step.model.zero_grad(set_to_none=True)
    torch.testing.assert_close(step(batch, 40), expected_loss, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close([p.grad for p in step.model.parameters()], expected, rtol=1e-4, atol=1e-6)


of_rows_and_lengths = pytest.mark.parametrize("row_classes", [True, False], ids=["rows and lengths", "lengths alone"])


@of_rows_and_lengths
@pytest.mark.parametrize("batch", BATCHES)
def test_a_class_gives_the_loss_and_gradients_of_the_packed_layout(batch, row_classes):
    assert_equals_packed(class_step(row_classes=row_classes), batch)


def test_the_kernel_is_told_the_length_of_the_batchs_class(monkeypatch):
    announced = []

    def attention(q, k, v, cu_seqlens, widths, causal):
        announced.append(widths)
        return torch.zeros(len(q), *v.shape[1:]) + 0 * (q.sum() + k.sum() + v.sum())

    monkeypatch.setattr("annotated.speed.layouts.static.has_varlen_kernel", lambda *_: True)
    monkeypatch.setattr("annotated.speed.layouts.static.segment_attention", attention)
    step = class_step(row_classes=False)
    for batch in BATCHES[2:5]:
        step(batch, 40)
    # Three attentions each: at most 64 tokens, 130, and 4.
    assert announced == [(128, 128)] * 3 + [(256, 256)] * 3 + [(128, 128)] * 3


def test_each_class_is_recorded_once():
    recorded = []

    def recorder(work):
        recorded.append(work)
        work()
        return work

    step = class_step(recorder)
    for _ in range(2):
        for batch in BATCHES:
            assert_equals_packed(step, batch)
    keys = {(step.prepare(batch).shape, len(step.prepare(batch).flat)) for batch in BATCHES}
    assert len(recorded) == step.recordings == len(keys) == 5, "the first and the last are of one class"


def again(work):
    """A recorder that does the work once, and as its recording again."""
    work()
    return work


@of_rows_and_lengths
@pytest.mark.parametrize("shares", [(0, 1, 1), (1, 2, 1), (0, 2, 3)], ids=["whole batches", "a half", "three sixths"])
def test_what_is_recorded_at_the_start_is_what_the_training_meets(row_classes, shares):
    rng = np.random.default_rng(0)
    lengths = (rng.lognormal(2.5, 1.0, (600, 2)) + 1).astype(int).clip(1, 150)
    store = TokenStore.from_ids([([5] * (s - 1), [6] * (t - 1)) for s, t in lengths.tolist()])
    batches = TokenBatches(store, 400, seed=1, pool_pairs=600)
    step = class_step(again, row_classes=row_classes)
    step.shape, step.zeroes = StaticShape(256, 128), shares[2] == 1  # of which some batches need more
    step.record(store, batches.planned_pieces(*shares))
    planned = set(step._recordings)
    assert len({(shape.width, numbers) for shape, numbers, _ in planned}) > 3
    assert all(parameter.grad is None for parameter in step.model.parameters())
    met = set()
    for _ in range(int(batches.statistics()["batches"])):  # the only pool's
        step.model.zero_grad(set_to_none=True)
        for batch in batches.next_shard(*shares).batches:
            laid = step.prepare(batch)
            step(laid, 40)
            met.add((laid.shape, len(laid.flat), step.zeroes))
    assert met == planned == set(step._recordings)


def test_a_recording_keeps_the_table_of_positions_that_it_reads():
    step = class_step(again, row_classes=False)
    step.model.positions = SinusoidalPositions(CONFIG.d_model, length=128)
    assert_equals_packed(step, BATCHES[2])
    read = weakref.ref(step.model.positions.table)
    assert_equals_packed(step, BATCHES[3])  # of 130 tokens
    gc.collect()
    assert len(step.model.positions.table) == 256 and read() is not None
    assert_equals_packed(step, BATCHES[2])


@of_rows_and_lengths
@pytest.mark.parametrize("order", [BATCHES, BATCHES[::-1]], ids=["equal sides first", "equal sides last"])
def test_all_classes_take_one_compilation(order, row_classes):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    step = class_step(row_classes=row_classes)
    step.compiles = True
    step.forward = torch.compile(step.forward, fullgraph=True, dynamic=False, backend=backend)
    step.terms = compile_terms(step.terms, backend=backend)
    for batch in order:
        assert_equals_packed(step, batch)
    assert len(graphs) == 2, "the model, and the loss's terms"


@pytest.mark.skipif(fused.load_varlen_kernel() is None, reason="this torch has no varlen_attn")
@of_rows_and_lengths
def test_the_gpus_kernel_takes_all_classes_in_one_compilation(monkeypatch, row_classes):
    """Traced with its backward on tensors without data: segments and their longest, and rows, are sizes left open."""
    torch._dynamo.reset()
    monkeypatch.setattr("annotated.speed.layouts.static.has_varlen_kernel", lambda *_: True)
    step, model = class_step(row_classes=row_classes), Transformer(CONFIG).bfloat16().to("meta")
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    forward = torch.compile(forward_rows, fullgraph=True, dynamic=False, backend=counter)
    for batch in BATCHES:
        prepared = step.prepare(batch)
        laid = prepared.shape.views(prepared.flat.to("meta"))
        step._mark_sizes_that_differ(laid)
        hidden = forward(model, laid.source, laid.source_rows, laid.target_in, laid.target_rows)
        hidden.sum().backward()
        assert hidden.shape == (prepared.shape.sides[1], 16)
    assert counter.frame_count == 1
