"""Batches by tokens: what is in one, what an epoch gives, and how it goes on after an interruption."""

from __future__ import annotations

import hashlib
import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import BOS, EOS, PAD
from annotated.data import buckets
from annotated.data.batching import (
    Batch,
    BatchingError,
    TokenBatches,
    collate,
    collate_ids,
    evaluation_batches,
    padding_report,
)
from annotated.data.store import TokenStore

pytestmark = pytest.mark.oldest_torch

LAYOUTS = ["packed", "padded"]


def store_of(pairs: int, seed: int = 0, longest: int = 30) -> TokenStore:
    """Pairs of random, correlated lengths; the first source token of pair i is 4 + i, so that a row names its pair."""
    rng = np.random.default_rng(seed)
    ids = []
    for index in range(pairs):
        source = int(rng.integers(1, longest))
        target = int(np.clip(source + rng.integers(-3, 4), 0, longest - 1))
        ids.append(([4 + index, *rng.integers(4, 100, source - 1)], rng.integers(4, 100, target).tolist()))
    return TokenStore.from_ids(ids)


def epoch(batches: TokenBatches) -> list[Batch]:
    """What is left of the current epoch."""
    taken, number = [], batches.epoch
    while True:
        state = batches.state_dict()
        batch = next(batches)
        if batches.epoch != number:
            batches.load_state_dict(state)
            return taken
        taken.append(batch)


def same(one: Batch, two: Batch) -> bool:
    tensors = all(torch.equal(getattr(one, name), getattr(two, name)) for name in ("source", "target_in", "target_out"))
    return tensors and one.indices == two.indices and one.target_lengths == two.target_lengths


def test_teacher_forcing_by_hand():
    batch = collate_ids([([7, 8], [10, 11, 12]), ([9], [13])])
    assert batch.source.tolist() == [[7, 8, EOS], [9, EOS, PAD]]
    assert batch.target_in.tolist() == [[BOS, 10, 11, 12], [BOS, 13, PAD, PAD]]
    assert batch.target_out.tolist() == [[10, 11, 12, EOS], [13, EOS, PAD, PAD]]
    assert batch.source_lengths == [3, 2]
    assert batch.target_lengths == [4, 2]
    assert (batch.source_tokens, batch.target_tokens, len(batch)) == (5, 6, 2)
    assert batch.indices == [0, 1]
    assert {batch.source.dtype, batch.target_in.dtype, batch.target_out.dtype} == {torch.int64}


id_lists = st.lists(st.integers(4, 200), max_size=8)


@given(st.lists(st.tuples(id_lists, id_lists), min_size=1, max_size=6))
def test_collate_equals_a_loop_over_the_pairs(pairs):
    batch = collate_ids(pairs)
    longest = [max(len(pair[side]) for pair in pairs) + 1 for side in range(2)]

    def padded(ids, length):
        return [*ids, *[PAD] * (length - len(ids))]

    assert batch.source.tolist() == [padded([*source, EOS], longest[0]) for source, _ in pairs]
    assert batch.target_in.tolist() == [padded([BOS, *target], longest[1]) for _, target in pairs]
    assert batch.target_out.tolist() == [padded([*target, EOS], longest[1]) for _, target in pairs]


def test_collate_takes_pairs_by_position():
    store = store_of(20)
    batch = collate(store, [17, 3])
    assert batch.source[:, 0].tolist() == [4 + 17, 4 + 3]
    assert batch.indices == [17, 3]
    with pytest.raises(BatchingError, match="at least one pair"):
        collate(store, [])


def test_to_moves_the_tensors_only():
    batch = collate_ids([([7], [8])])
    moved = batch.to("meta")
    assert {moved.source.device.type, moved.target_in.device.type, moved.target_out.device.type} == {"meta"}
    assert moved.indices == batch.indices


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("pool_pairs", [1, 37, 100, 10_000])
def test_an_epoch_holds_every_pair_once_within_the_budget(layout, shuffle, pool_pairs, monkeypatch):
    monkeypatch.setattr(buckets, "BLOCK_PAIRS", 8)
    store = store_of(333)
    batches = TokenBatches(store, 64, seed=1, pool_pairs=pool_pairs, layout=layout, shuffle=shuffle)
    for _ in range(2):
        taken = [next(batches), *epoch(batches)]
        assert sorted(index for batch in taken for index in batch.indices) == list(range(333))
        for batch in taken:
            for rows, lengths in ((batch.source, batch.source_lengths), (batch.target_out, batch.target_lengths)):
                assert (rows.numel() if layout == "padded" else sum(lengths)) <= 64
            assert batch.source[:, 0].tolist() == [4 + index for index in batch.indices]
    assert batches.epoch == 1


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60),
    st.integers(40, 120),
    st.sampled_from(LAYOUTS),
)
def test_each_cut_is_as_long_as_the_budget_allows(lengths, budget, layout):
    source, target = (np.array(side) for side in zip(*lengths, strict=True))

    def cost(first, end):
        part = slice(first, end)
        if layout == "packed":
            return max(source[part].sum(), target[part].sum())
        return (end - first) * max(source[part].max(), target[part].max())

    slices = buckets.cut(source, target, budget, layout)
    assert [part.start for part in slices] == [0, *[part.stop for part in slices[:-1]]]
    assert slices[-1].stop == len(lengths)
    for part in slices:
        assert cost(part.start, part.stop) <= budget
        assert part.stop == len(lengths) or cost(part.start, part.stop + 1) > budget


def test_batches_hold_pairs_of_similar_length_and_come_in_random_order():
    batches = TokenBatches(store_of(2000), 300, seed=3, pool_pairs=10_000)
    taken = epoch(batches)
    spreads = [max(batch.source_lengths) - min(batch.source_lengths) for batch in taken]
    assert np.mean(spreads) < 4
    means = [np.mean(batch.source_lengths) for batch in taken]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.5


def test_the_seed_decides_the_order_and_each_epoch_has_its_own():
    store = store_of(200)
    one, two, other = (TokenBatches(store, 100, seed=seed, pool_pairs=500) for seed in (5, 5, 6))
    first = epoch(one)
    assert all(same(a, b) for a, b in zip(first, epoch(two), strict=True))
    assert [batch.indices for batch in epoch(other)] != [batch.indices for batch in first]
    second = [next(one), *epoch(one)]
    assert one.epoch == 1
    assert [batch.indices for batch in second] != [batch.indices for batch in first]


def test_the_plan_of_an_update_is_the_one_that_recorded_runs_were_made_with(monkeypatch):
    monkeypatch.setattr(buckets, "BLOCK_PAIRS", 8)
    batches = TokenBatches(store_of(150), 64, seed=1, pool_pairs=50)
    indices = [next(batches).indices for _ in range(200)]
    assert batches.epoch == 4
    # Computed with the version that planned a batch for each process, for one process.
    digest = "e482c0c10949e19513d38b94e9ff2a91b1db5400b9351556d55a6953d59c918a"
    assert hashlib.sha256(json.dumps(indices).encode()).hexdigest() == digest


@given(steps=st.integers(0, 120), seed=st.integers(0, 5))
def test_resumed_anywhere_it_gives_what_an_uninterrupted_run_gives(steps, seed):
    store = store_of(150)
    uninterrupted, resumed = (TokenBatches(store, 90, seed=seed, pool_pairs=40) for _ in range(2))
    for _ in range(steps):
        next(uninterrupted)
    resumed.load_state_dict(json.loads(json.dumps(uninterrupted.state_dict())))
    for _ in range(60):
        assert same(next(resumed), next(uninterrupted))
        assert (resumed.epoch, resumed.taken) == (uninterrupted.epoch, uninterrupted.taken)


def test_resuming_inside_a_corpus_of_many_pools(monkeypatch):
    monkeypatch.setattr(buckets, "BLOCK_PAIRS", 4)
    store = store_of(300)
    settings = {"seed": 2, "pool_pairs": 12}
    uninterrupted = TokenBatches(store, 60, **settings)
    states = []
    taken = []
    for _ in range(60):
        states.append(json.loads(json.dumps(uninterrupted.state_dict())))
        taken.append(next(uninterrupted))
    for number in (0, 1, 7, 23, 41, 59):
        resumed = TokenBatches(store, 60, **settings)
        resumed.load_state_dict(states[number])
        assert all(same(next(resumed), batch) for batch in taken[number:])


def test_pieces_by_hand():
    def sizes(tokens, count):
        return [part.stop - part.start for part in buckets.pieces(np.array(tokens), count)]

    assert sizes([4, 4, 4, 4], 2) == [2, 2]
    assert sizes([4, 4, 4, 4], 1) == [4]
    # Middles at 5, 10.5 and 11.5 of 12 tokens, of which each piece has 4.
    assert sizes([10, 1, 1], 3) == [0, 1, 2]
    assert sizes([7], 4) == [0, 0, 1, 0]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(1, 12))
def test_pieces_cover_a_batch_in_order_and_are_alike(tokens, count):
    parts = buckets.pieces(np.array(tokens), count)
    assert [i for part in parts for i in range(len(tokens))[part]] == list(range(len(tokens)))
    assert len(parts) == count
    # Half a pair more at each end, at most.
    assert max(sum(tokens[part]) for part in parts) <= sum(tokens) / count + max(tokens)


def test_what_is_planned_of_a_pool_is_what_is_taken_from_it():
    batches = TokenBatches(store_of(300), 150, seed=4, pool_pairs=300)
    before = batches.state_dict()
    planned = [piece.tolist() for piece in batches.planned_pieces(1, 2, 3)]
    assert batches.state_dict() == before
    count = int(batches.statistics()["batches"])
    assert planned == [batch.indices for _ in range(count) for batch in batches.next_shard(1, 2, 3).batches]
    assert planned == [piece.tolist() for piece in batches.planned_pieces(1, 2, 3)], "also once all is taken"


@pytest.mark.parametrize(("world_size", "micro_batches"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (8, 2)])
def test_processes_and_micro_batches_only_cut_the_batch_of_an_update(world_size, micro_batches):
    def settings():
        return TokenBatches(store_of(300), 150, seed=4, pool_pairs=100)

    alone, processes = settings(), [settings() for _ in range(world_size)]
    empty = 0
    for _ in range(60):  # two epochs
        whole = next(alone)
        shares = [one.next_shard(rank, world_size, micro_batches) for rank, one in enumerate(processes)]
        pieces = [batch for share in shares for batch in share.batches]
        empty += world_size * micro_batches - len(pieces)
        assert sorted(i for piece in pieces for i in piece.indices) == sorted(whole.indices)
        assert {share.target_tokens for share in shares} == {whole.target_tokens}
        assert sum(piece.target_tokens for piece in pieces) == whole.target_tokens
        if micro_batches == 1:  # neighbours stay neighbours, process after process
            assert [i for piece in pieces for i in piece.indices] == whole.indices
        assert all(one.state_dict() == alone.state_dict() for one in processes)
    assert alone.epoch >= 1
    assert empty or world_size < 8, "a batch of a few long pairs leaves some of 16 pieces empty"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"batch_tokens": 91}, "batch_tokens was 90, is 91"),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"pool_pairs": 41}, "pool_pairs was 40, is 41"),
        ({"layout": "padded"}, "layout was 'packed', is 'padded'"),
        ({"shuffle": False}, "shuffle was True, is False"),
    ],
)
def test_a_position_of_another_training_is_refused(change, message):
    store, settings = store_of(50), {"batch_tokens": 90, "seed": 0, "pool_pairs": 40}
    state = TokenBatches(store, **settings).state_dict()
    with pytest.raises(BatchingError, match=message):
        TokenBatches(store, **{**settings, **change}).load_state_dict(state)


def test_packed_and_static_are_the_same_batches():
    settings = {"seed": 0, "pool_pairs": 40}
    packed, static = (TokenBatches(store_of(50), 90, layout=layout, **settings) for layout in ("packed", "static"))
    next(packed)
    static.load_state_dict(packed.state_dict())
    assert same(next(static), next(packed))


def lognormal_store(pairs: int) -> TokenStore:
    """Lengths as those of WMT14's sentences are spread, in miniature: means of about 11 and 12 tokens."""
    rng = np.random.default_rng(0)
    common = rng.normal(0, 0.6, pairs)
    sides = [np.exp(common + rng.normal(0, 0.14, pairs)) * mean for mean in (9, 10)]
    source, target = (np.rint(side).astype(int).clip(1, 60) for side in sides)
    return TokenStore.from_ids([([5] * s, [5] * t) for s, t in zip(source, target, strict=True)])


def test_ties_by_hand():
    # The longer sides are 3, 4, 4, 4, 4. Sorted, those of 4 come by source, then by target: (1, 4), (4, 2), (4, 3).
    source, target = np.array([4, 1, 3, 4, 4]), np.array([3, 4, 3, 2, 4])
    assert buckets.by_length(source, target, np.random.default_rng(0)).tolist() == [2, 1, 3, 0, 4]
    assert buckets.by_length(source, target, None, "random").tolist() == [2, 1, 3, 0, 4], "nothing to draw with"
    orders = {
        tuple(buckets.by_length(source, target, np.random.default_rng(seed), "random").tolist()) for seed in range(200)
    }
    assert orders == {(2, *rest) for rest in itertools.permutations((0, 1, 3, 4))}


def test_random_ties_fill_both_sides_of_a_batch():
    store = lognormal_store(20_000)
    rows, batches, padded = {}, {}, {}
    for ties in ("sorted", "random"):
        plan = TokenBatches(store, 1000, seed=0, pool_pairs=20_000, length_ties=ties)
        statistics = plan.statistics()
        rows[ties] = (statistics["source_tokens"] + statistics["target_tokens"]) / statistics["batches"]
        batches[ties], padded[ties] = statistics["batches"], statistics["fill"]
    assert rows["sorted"] < 1850 and rows["random"] > 1875, "of 2,000"
    assert batches["random"] < 0.98 * batches["sorted"]
    assert padded["random"] < padded["sorted"], "the price, where attention is computed on rectangles"


def test_rectangles_are_always_sorted():
    settings = {"seed": 0, "pool_pairs": 500, "layout": "padded"}
    plain, asked = (TokenBatches(store_of(300), 150, **settings, **more) for more in ({}, {"length_ties": "random"}))
    assert all(same(a, b) for a, b in zip(epoch(plain), epoch(asked), strict=True))


@pytest.mark.parametrize("begun", ["before there was a choice", "sorted", "random"])
def test_a_position_goes_on_in_the_order_that_it_was_taken_in(begun):
    settings = {"seed": 0, "pool_pairs": 200}
    ties = "random" if begun == "random" else "sorted"
    uninterrupted = TokenBatches(store_of(200), 90, length_ties=ties, **settings)
    for _ in range(7):
        next(uninterrupted)
    state = json.loads(json.dumps(uninterrupted.state_dict()))
    if begun.startswith("before"):
        del state["data"]["length_ties"]
    other = "sorted" if ties == "random" else "random"
    resumed = TokenBatches(store_of(200), 90, length_ties=other, **settings)
    assert not same(TokenBatches(store_of(200), 90, length_ties=other, **settings).next_shard().batches[0],
                    TokenBatches(store_of(200), 90, length_ties=ties, **settings).next_shard().batches[0])  # fmt: skip
    resumed.load_state_dict(state)
    assert resumed.length_ties == ties
    for _ in range(60):  # into the next epochs, and through a second interruption
        assert same(next(resumed), next(uninterrupted))
        resumed.load_state_dict(json.loads(json.dumps(resumed.state_dict())))


def test_a_position_remembered_from_earlier():
    batches = TokenBatches(store_of(60), 90, seed=0, pool_pairs=40)
    next(batches)
    state, place = batches.state_dict(), batches.position
    expected = next(batches)
    assert batches.state_dict() != state and batches.state_dict(place) == state
    batches.load_state_dict(batches.state_dict(place))
    assert same(next(batches), expected)


def test_an_order_that_nobody_knows_is_refused():
    batches = TokenBatches(store_of(60), 90, seed=0, pool_pairs=40)
    state = batches.state_dict()
    state["data"]["length_ties"] = "by colour"
    with pytest.raises(BatchingError, match="length_ties is 'by colour'"):
        batches.load_state_dict(state)


def test_a_position_in_another_store_or_no_position_at_all():
    settings = {"batch_tokens": 90, "seed": 0, "pool_pairs": 40}
    state = TokenBatches(store_of(50), **settings).state_dict()
    batches = TokenBatches(store_of(50, seed=1), **settings)
    with pytest.raises(BatchingError, match="store was '.*', is '"):
        batches.load_state_dict(state)
    with pytest.raises(BatchingError, match="not a data position"):
        batches.load_state_dict({"epoch": 1})


def test_a_pair_beyond_the_budget_is_named():
    store = TokenStore.from_ids([([5], [5]), ([5] * 9, [5] * 20), ([5], [5])])
    for make in (
        lambda: TokenBatches(store, 20, seed=0, pool_pairs=10),
        lambda: next(evaluation_batches(store, 20)),
    ):
        with pytest.raises(BatchingError, match="pair 1 has 10 source and 21 target tokens .* a batch of 20"):
            make()
    assert len(epoch(TokenBatches(store, 21, seed=0, pool_pairs=10))) == 2  # exactly as long as the budget


def test_wrong_settings():
    store = store_of(5)
    with pytest.raises(BatchingError, match="rank must lie between 0 and world_size - 1 = 1, not 2"):
        TokenBatches(store, 99, seed=0, pool_pairs=9).next_shard(2, 2)
    with pytest.raises(BatchingError, match="layout must be"):
        TokenBatches(store, 99, seed=0, pool_pairs=9, layout="ragged")
    with pytest.raises(BatchingError, match="pool_pairs must be"):
        TokenBatches(store, 99, seed=0, pool_pairs=0)
    with pytest.raises(BatchingError, match="no pairs"):
        TokenBatches(TokenStore.from_ids([]), 99, seed=0, pool_pairs=9)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_evaluation_takes_every_pair_once_in_the_same_order(layout):
    store = store_of(123)
    taken = list(evaluation_batches(store, 80, layout))
    assert sorted(index for batch in taken for index in batch.indices) == list(range(123))
    longest = [max(pair) for batch in taken for pair in zip(batch.source_lengths, batch.target_lengths, strict=True)]
    assert longest == sorted(longest)
    assert all(same(a, b) for a, b in zip(taken, evaluation_batches(store, 80, layout), strict=True))


def test_padding_by_hand():
    # Lengths with eos: (2, 2), (4, 4), (2, 2), (4, 4). A budget of 8 takes two pairs at a time in every order: in
    # the order of arrival 6 real tokens a side in 2 x 4 cells, sorted (2, 2), (2, 2) and (4, 4), (4, 4): no padding.
    store = TokenStore.from_ids([([5], [5]), ([5] * 3, [5] * 3)] * 2)
    report = padding_report(store, 8, pool_pairs=100)
    assert report == {"arrival": 0.75, "sorted": 1.0, "bucketed": 1.0, "packed": 1.0}
    batches = TokenBatches(store, 8, seed=0, pool_pairs=100)
    statistics = batches.statistics()
    assert (statistics["pairs"], statistics["source_tokens"], statistics["target_tokens"]) == (4, 12, 12)


def test_buckets_waste_less_than_sorting_one_side_and_far_less_than_no_order():
    report = padding_report(store_of(3000), 400, pool_pairs=10_000)
    assert report["arrival"] < report["sorted"] < report["bucketed"] <= report["packed"] == 1
    assert report["bucketed"] > 0.9


def test_statistics_describe_the_epoch_that_is_taken():
    store = store_of(300)
    batches = TokenBatches(store, 100, seed=9, pool_pairs=100)
    statistics, taken = batches.statistics(), epoch(batches)
    assert statistics["batches"] == len(taken)
    assert statistics["source_tokens"] == sum(batch.source_tokens for batch in taken) == store.source_lengths.sum()
    assert statistics["target_tokens"] == sum(batch.target_tokens for batch in taken)
    cells = sum(batch.source.numel() + batch.target_out.numel() for batch in taken)
    real = statistics["source_tokens"] + statistics["target_tokens"]
    assert statistics["fill"] == pytest.approx(real / cells)
    assert statistics["padding"] == pytest.approx(1 - real / cells)
