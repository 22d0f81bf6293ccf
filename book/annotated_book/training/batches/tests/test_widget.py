"""The padding tiles get the lengths that they were given; charts of batches compute what they say."""

from __future__ import annotations

import numpy as np
import pytest

from annotated.data.buckets import cut, fill
from annotated_book.pages import page_folder
from annotated_book.training.batches.charts import epochs_chart, noise_chart, pairs_per_batch_chart, waste_chart
from annotated_book.training.batches.example_chart import batch_cells, example_batches_chart
from annotated_book.training.batches.widget import padding_tiles
from book.tests.drawing import draw, moved, rows
from book.tests.javascript import evaluate

BATCHES = page_folder("batches") / "batches.js"


def test_lengths_arrive_pair_by_pair() -> None:
    tiles = padding_tiles({"a": ([3, 200], [4, 5]), "b": (np.array([7]), [8])}, way="pools", budget=500)
    assert list(tiles.lengths) == [3, 4, 200, 5, 7, 8]
    assert tiles.texts == [{"name": "a", "count": 2}, {"name": "b", "count": 1}]
    assert (tiles.way, tiles.budget) == ("pools", 500)


@pytest.mark.parametrize(
    ("texts", "way", "message"),
    [
        ({"a": ([1], [1])}, "sorted", "way must be one of"),
        ({}, "come", "no text"),
        ({"a": ([1, 2], [1])}, "come", "a: give one source and one target"),
        ({"a": ([0], [1])}, "come", "between 1 and 255, not 0 to 1"),
        ({"a": ([1], [256])}, "come", "not 1 to 256"),
    ],
)
def test_what_does_not_fit_is_refused(texts: dict, way: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        padding_tiles(texts, way=way)


def test_charts_show_the_numbers_of_their_sliders() -> None:
    ways = [{"label": "packed", "budget": 10, "padding": 0.0}, {"label": "loose", "budget": 10, "padding": 0.625}]
    assert "62.5%" in draw(waste_chart(ways), width=500)
    # 30,000 tokens are 1,500 pairs of 20.
    assert "30,000 tokens = 1,500 pairs of 20 tokens" in draw(
        pairs_per_batch_chart([0] + [5] * 40, budget=30_000), width=500
    )
    # Noise 2 at 125 tokens on the line sqrt(500 / n), and 1 at 500; 2,000 tokens have not been measured.
    noise = noise_chart([{"tokens": 125, "noise": 2}, {"tokens": 500, "noise": 1}]).to_dict()
    assert "1.00 at 500 tokens (dashed line)" in draw(noise, width=500)
    assert "0.50 at 2,000 tokens, extrapolated" in draw(moved(noise, place=4), width=500)
    # 100 steps of 5,000 tokens over 1,000 pairs of 20 tokens are 25 epochs.
    assert ">25.0<" in draw(epochs_chart(pairs=1000, tokens=5000, mean=20, runs=[("one", 100)]), width=500)


def test_the_example_draws_every_cell_of_every_batch() -> None:
    # 2 x 9 + 2 x 7 cells with 23 tokens, and 1 x 2 + 1 x 2 without padding; in one batch 3 x 9 + 3 x 7.
    orders = {"two": [[(3, 4), (9, 7)], [(2, 2)]], "one": [[(3, 4), (9, 7), (2, 2)]]}
    assert [batch_cells(batch) for batches in orders.values() for batch in batches] == [32, 4, 48]
    chart = example_batches_chart(orders)
    drawn = draw(chart, width=500)
    for words in ("two: 36 cells, 25% padding", "one: 48 cells, 44% padding", ">18 + 14<", ">2 + 2<", ">27 + 21<"):
        assert words in drawn
    stretches = rows(chart.to_dict(), "cells")
    assert sum(one["cells"] for one in stretches) == 36 + 48
    assert sum(one["cells"] for one in stretches if one["kind"] != "padding") == 2 * 27
    with pytest.raises(ValueError, match="a pair in every batch"):
        example_batches_chart({"none": [[]]})


def test_charts_refuse_nonsense() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        waste_chart([{"label": "a", "budget": 1, "padding": 1.2}])
    with pytest.raises(ValueError, match="row of counts"):
        pairs_per_batch_chart([0, -1, 3])
    with pytest.raises(ValueError, match="nothing to draw"):
        noise_chart([])


def test_batches_in_the_page_are_those_of_the_library() -> None:
    """Packed and padded cuts of pairs in order, and the padding that they leave."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(1, 60, (300, 2))
    source, target = pairs.T.astype(np.int64)
    code = """({ batchesOf, measure }, { pairs, states }) => states.map(state => {
      const batches = batchesOf(pairs, state);
      return [batches.map(batch => batch.length), measure(batches, state.way).padding, batches.flat()];
    })"""
    ways = [("packed", 200), ("packed", 1000), ("come", 200), ("come", 1000)]
    states = [{"way": way, "budget": budget, "pool": 100, "shuffle": False} for way, budget in ways]
    more = [{**states[2], "way": "pools"}, {**states[2], "shuffle": True}, {**states[2], "way": "fixed"}]
    found = evaluate(BATCHES, code, {"pairs": pairs.tolist(), "states": states + more})
    for (way, budget), (sizes, padding, _) in zip(ways, found[:4], strict=True):
        slices = cut(source, target, budget, "packed" if way == "packed" else "padded")
        assert sizes == [part.stop - part.start for part in slices]
        if way == "come":
            assert padding == pytest.approx(1 - fill(source, target, slices))
    pooled, shuffled, fixed = found[4:]
    for one in (pooled, shuffled, fixed):
        assert sorted(one[2]) == sorted(pairs.tolist()), "no pair is lost"
    assert pooled[1] < found[2][1] and shuffled[2] != found[2][2] and shuffled[1] == pytest.approx(found[2][1])
    assert fixed[0] == [32] * 9 + [12]


def test_tiles_fill_shelves_without_overlap() -> None:
    code = """({ shelvesOf }, { batches, states }) => states.map(state => shelvesOf(batches, 0, state, 600, 3))"""
    batches = [[[5, 7], [6, 6], [2, 3]]] * 40
    states = [{"way": "come", "budget": 20}, {"way": "packed", "budget": 20}]
    found = evaluate(BATCHES.with_name("tiles.js"), code, {"batches": batches, "states": states})
    for state, shelves in zip(states, found, strict=True):
        names = [int(column["name"]) for shelf in shelves for column in shelf["columns"] if column["name"]]
        assert names == list(range(1, len(names) + 1))
        for shelf in shelves:
            ends = [c["left"] + 3 * c["column"]["width"] for c in shelf["columns"]]
            assert all(end <= c["left"] for end, c in zip(ends, shelf["columns"][1:], strict=False)) and ends[-1] <= 600
            tiles = [cell for c in shelf["columns"] for cell in c["column"]["cells"]]
            assert all(length > 0 for *_, length in tiles)
            framed = [(f["left"], f["left"] + f["wide"]) for f in shelf["frames"]]
            assert all(end <= left for (_, end), (left, _) in zip(framed, framed[1:], strict=False))
            assert framed[-1][1] <= 600
            assert state["way"] == "come" or not any(colour.startswith("rgba") for colour, *_ in tiles), "no padding"


@pytest.mark.parametrize("width", [330, 700])
def test_a_batch_stays_in_one_frame(width: int) -> None:
    """Batches of 400 rows are too long for one column: the columns stand side by side, within the width."""
    code = """({ shelvesOf }, { batches, width }) => shelvesOf(batches, 0, { way: "pools", budget: 25000 }, width, 1)"""
    batches = [[[60, 62]] * 400, [[20, 18]] * 400]
    shelves = evaluate(BATCHES.with_name("tiles.js"), code, {"batches": batches, "width": width})
    frames = [(shelf["y"], frame) for shelf in shelves for frame in shelf["frames"]]
    assert len(frames) == 2, "one frame for each batch"
    for batch, (_, frame) in zip(batches, frames, strict=True):
        assert frame["left"] + frame["wide"] <= width and frame["rows"] * (width // sum(batch[0])) >= 400
    columns = [c for shelf in shelves for c in shelf["columns"]]
    assert [c["name"] for c in columns if c["name"]] == ["1", "2"] and len(columns) > 2
    assert sum(c["column"]["rows"] for c in columns) == 800, "no row is lost"
