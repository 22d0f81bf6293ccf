"""The GPU benchmark without a GPU: what is timed, what is counted, and that every mode takes its steps."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools

import pytest
import torch
from torch._dynamo.utils import counters
from torch.nn import functional as F

from annotated.data.batch import collate_ids
from annotated.speed.layouts.static_batch import LaidOutBatch, StaticShape
from benchmarks.gpu import measure, modes, pairs, report, sides, watch
from benchmarks.peers.workload import SHAPES, Shape


def options(**changes):
    fields = {"tokens": 120, "device": "cpu", "precision": "bf16", "start": 0, "fresh": 2, "batches": 1, "passes": 1}
    return argparse.Namespace(**{**fields, **changes})


def work(tokens=100, padded=120):
    return pairs.Work(None, [tokens // 2], [tokens // 2], padded)


def side_of(events, loads_in_time, step=lambda work: None):
    numbers = itertools.count()

    def take():
        events.append(f"take {next(numbers)}")
        return work()

    def made(work):
        events.append("step")
        return step(work)

    return sides.Side(take, made, loads_in_time)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless somebody moves it."""
    now = [0.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: now[0])
    return now


def test_our_loader_belongs_to_the_time_of_a_step_and_the_peers_is_done_before():
    ours, theirs = [], []
    measure.run_batches(side_of(ours, True), "cpu", 2)
    measure.run_batches(side_of(theirs, False), "cpu", 2)
    assert ours == ["take 0", "step", "take 1", "step"]
    assert theirs == ["take 0", "take 1", "step", "step"]


def test_fresh_batches_count_everything_and_say_what_stalls_took(clock):
    seconds = iter([1.0, 1.0, 5.0, 1.0])

    def step(_):
        taken = next(seconds)
        clock[0] += taken
        counters["stats"]["unique_graphs"] += taken > 1

    side = side_of([], True, step)
    steps, works = measure.run_batches(side, "cpu", 4)
    found = measure.summary(steps, works, Shape(), tokens=50, peak=1e12)
    # Four batches of 100 tokens in 8 seconds; a step is 2 * 50 tokens.
    assert found["ms_a_step"] == pytest.approx(2000) and found["tokens_s"] == pytest.approx(50)
    assert found["ms_without_stalls"] == pytest.approx(1000)
    assert (found["stalled_steps"], found["median_ms"], found["worst_ms"]) == (1, 1000, 5000)
    assert found["batches"] == 4 and found["ms"] == [1000, 1000, 5000, 1000]
    assert found["stalled"] == [2] and found["sentences"] == [1, 1, 1, 1]


def test_a_recorded_graph_is_a_stall_too(clock):
    recorded = [0]

    def step(_):
        clock[0] += 1.0
        recorded[0] = 1

    side = side_of([], True, step)
    side.recordings = lambda: recorded[0]
    steps, _ = measure.run_batches(side, "cpu", 3)
    assert steps.stalled == [True, False, False] and steps.calm == [1, 2]


def test_on_a_gpu_steps_are_timed_by_its_own_clock_and_the_processor_is_one_step_ahead(monkeypatch):
    events, gpu_time, reserved = [], [0.0], [1000.0]

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = gpu_time[0]

        def synchronize(self):
            events.append(f"waited for {self.at:.0f}")

        def elapsed_time(self, later):
            return later.at - self.at

    fakes = {
        "Event": Event,
        "synchronize": lambda: events.append("all"),
        "memory_reserved": lambda: reserved[0] * 2**20,
        "max_memory_reserved": lambda: reserved[0] * 2**20,
        "max_memory_allocated": lambda: 0,
        "memory_stats": dict,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(torch.cuda, name, fake)

    def step():
        events.append("step")
        gpu_time[0] += 10.0
        reserved[0] += 64

    found = watch.timed_steps("cuda", [step, step, step], lambda: 0)
    assert found.seconds == [0.01, 0.01, 0.01]
    assert found.memory_growth_mib == 192
    assert events == ["all", "step", "waited for 0", "step", "waited for 10", "step", "waited for 20", "all"]


def test_the_compilers_surrender_is_counted():
    torch._dynamo.reset()

    @functools.partial(torch.compile, backend="eager", dynamic=False)
    def double(x):
        return 2 * x

    with watch.LimitWarnings() as limit, torch._dynamo.config.patch(recompile_limit=2):
        for size in range(2, 7):
            double(torch.ones(size))
    torch._dynamo.reset()
    assert limit.count == 1


def test_pairs_are_as_long_as_wmt14s_and_no_batch_comes_twice():
    store = pairs.wmt_like_store(6000, vocab=37_000)
    assert len(store) == 262_144
    for lengths, mean in ((store.source_lengths, 28.0), (store.target_lengths, 29.0)):
        assert abs(float(lengths.mean()) - mean) < 0.3 and lengths.max() <= 256 and lengths.min() >= 2
    assert int(store.target_tokens.max()) < 37_000 - 1, "the last id is Marian's padding"
    batches = [next(loader) for loader in [pairs.our_batches(store, 6000)] * 20]
    seen = [index for batch in batches for index in batch.indices]
    assert len(seen) == len(set(seen))
    assert max(max(b.source_tokens, b.target_tokens) for b in batches) <= 6000
    assert sum(max(b.source_tokens, b.target_tokens) for b in batches) > 19 * 5900, "full on one side at least"


def test_peers_get_rectangles_of_the_same_budget_from_the_same_pairs():
    store = pairs.wmt_like_store(1000, vocab=500)
    batch, held = next(pairs.padded_work(store, 1000))
    assert max(batch.source.numel(), batch.target[:, 1:].numel()) <= 1000
    assert held.tokens == batch.tokens <= held.padded == batch.padded
    assert (batch.target[:, 0] == 1).all() and batch.target.size(1) == max(held.target_lengths) + 1


def test_a_static_sides_rows_are_those_of_its_shape():
    batch = collate_ids([([5, 6, 7, 8], [5, 6, 7]), ([5, 6], [5, 6, 7, 8, 9])])  # with eos 5 and 3, 4 and 6
    assert pairs.our_work(batch).padded == 2 * 5 + 2 * 6, "rectangles"
    for shape, rows in ((StaticShape(32, 8), 64), (StaticShape(32, 8, target_rows=40), 72)):
        laid = LaidOutBatch(**vars(batch), shape=shape, flat=shape.lay_out(batch))
        found = pairs.our_work(laid)
        assert (found.padded, found.tokens, found.sentences) == (rows, 18, 2)


def test_batches_of_one_shape_are_chosen_by_their_sentences():
    works = [pairs.Work(None, [50 // count] * count, [50 // count] * count, 120) for count in (10, 1, 25, 2, 5)]
    assert [work.sentences for work in measure.by_size(works, 5)] == [1, 2, 5, 10, 25]


def test_every_mode_takes_its_steps_and_the_first_is_the_same(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)  # half a minute each; tested elsewhere
    monkeypatch.setitem(SHAPES, "tiny", dataclasses.replace(SHAPES["tiny"], dropout=0.0))  # which differs between modes
    found = {
        name: measure.measure_side("tiny", name, options())
        for name in [*modes.MODES, "torch_nn"]
        if not modes.needs_gpu(name)
    }
    for one in found.values():
        assert one["fresh"]["batches"] == 2 and one["fresh"]["ms_a_step"] > 0 and one["steady"]["ms_a_step"] > 0
    # Of 120 tokens a side, rows of a static shape are 512 at least, and 64 or more with row classes.
    static = {name for name in found if name in modes.MODES and modes.MODES[name].training.get("layout") == "static"}
    for name, one in found.items():
        fixed = name in static and not modes.MODES[name].training.get("row_classes")
        assert 0 < one["fill"] <= 120 / 512 if fixed else 0.3 < one["fill"] <= 1, name
    assert report.disagreeing(found) == []


def test_a_mode_that_this_version_does_not_have_is_not_listed():
    assert modes.Mode({"layout": "static"}).known
    assert not modes.Mode({"precision": "no such precision"}).known
    assert not modes.Mode({"no_such_option": True}).known
    assert not modes.Mode({"layout": "no such layout"}).known
    assert all(mode.known for mode in modes.MODES.values())


def test_arithmetic_that_is_not_the_papers_keeps_no_promise(monkeypatch):
    monkeypatch.setitem(modes.MODES, "fp8", modes.Mode(paper=False))
    assert modes.counts_for_promises("bf16")
    assert not any(map(modes.counts_for_promises, ("fp8", "fp32", "torch_nn_compiled")))


@pytest.mark.slow
@pytest.mark.parametrize("peer", ["torch_nn", "hf_marian"])
def test_peers_are_at_their_best(peer, monkeypatch):
    """One graph for batches of all shapes, without a break; causal attention without a mask; fused Adam; no dropout
    that ours has not."""
    if peer == "hf_marian":
        pytest.importorskip("transformers")
    seen = []
    attention, compiler = F.scaled_dot_product_attention, torch.compile

    def spy(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, **more):
        seen.append((attn_mask is None, is_causal, dropout_p, q.dtype))
        return attention(q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, **more)

    shape = dataclasses.replace(SHAPES["tiny"], layers=1)  # more are traced, and tell nothing new
    store = pairs.wmt_like_store(200, shape.vocab)
    with monkeypatch.context() as patched:
        patched.setattr(F, "scaled_dot_product_attention", spy)
        with sides.open_side(peer, shape, store, 200, "cpu") as side:
            side.step(side.take())
    assert seen.count((True, True, 0.0, torch.bfloat16)) == 1, "the decoder's own"
    assert seen.count((False, False, 0.0, torch.bfloat16)) == 2, "masked: the encoder's, and that on the memory"
    assert len(seen) == 3

    torch._dynamo.reset()
    counters.clear()
    monkeypatch.setattr(torch, "compile", functools.partial(compiler, backend="eager"))
    with sides.open_side(f"{peer}_compiled", shape, store, 200, "cpu") as side:
        shapes = set()
        for _ in range(5):
            taken = side.take()
            shapes.add((len(taken.source_lengths), max(taken.source_lengths), max(taken.target_lengths)))
            side.step(taken)
    assert len(shapes) > 3 and watch.compilations() == 1 and not counters["graph_break"]
    torch._dynamo.reset()
