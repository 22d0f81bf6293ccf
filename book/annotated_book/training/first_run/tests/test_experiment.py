"""The first run's corpus is what it says, and its record shows a training; the toy's models are told apart."""

from __future__ import annotations

import math

import torch

from annotated.classroom import classroom_pairs
from annotated_book import recorded
from annotated_book.training.first_run.experiment import SAMPLES, short_pairs, write_pairs
from annotated_book.training.first_run.toy_task import FIRST, LENGTH, copies, rows, toy_model, toy_scores


def test_short_pairs_are_short_and_of_their_split(tmp_path) -> None:
    pairs = short_pairs("train", 40, 5)
    wanted = {p.source: p.target for p in classroom_pairs("train", 2000)}
    assert len(pairs) == 40 and all(wanted[source] == target for source, target in pairs)
    path = write_pairs(tmp_path / "x.tsv", pairs)
    assert path.read_text(encoding="utf-8").splitlines()[0] == "\t".join(pairs[0])


def test_the_samples_are_of_the_test_split() -> None:
    assert set(SAMPLES) <= {p.source for p in classroom_pairs("test", 400)}


def test_the_record_is_of_one_training_and_of_a_cheat() -> None:
    results = recorded("first_run").results
    for name in ("first", "honest", "cheating"):
        log = results[name]["log"]
        assert log[0]["kind"] == "start" and log[-1] == {"kind": "end", "update": log[-1]["update"],
                                                         "finished": True, "stopped_by": None}  # fmt: skip
        samples = [r for r in log if r["kind"] == "samples"]
        assert [u for u, _ in results[name]["exact"]] == [r["update"] for r in samples]
        assert [one["source"] for one in samples[0]["samples"]] == list(SAMPLES)
    assert len([r for r in results["first"]["log"] if r["kind"] == "samples" and not r["averaged"]]) == 25


def test_the_toy_begins_at_the_loss_of_an_even_bet_and_falls() -> None:
    model, losses = toy_model(updates=40)
    assert abs(losses[0] - math.log(FIRST + 10)) < 0.6 and losses[-1] < losses[0] - 0.2
    scores = toy_scores(model, count=20)
    assert scores["copied"] == 0 and scores["loss"] > 1
    row = rows(5, torch.Generator().manual_seed(1))
    batch = copies(row)
    assert row.shape == (5, LENGTH) and torch.equal(batch.source, batch.target_out)
    assert torch.equal(batch.source[:, :LENGTH], row) and torch.equal(batch.target_in[:, 1:], row)


def test_the_four_runs_are_of_one_recipe_but_for_the_fault() -> None:
    whole, faults = recorded("first_run").results, recorded("first_run/four_runs").results
    starts = {
        name: run["log"][0] for name, run in {**whole, **faults}.items() if isinstance(run, dict) and "log" in run
    }
    options = [start["configuration"]["training"] for start in starts.values()]
    known = set.intersection(*map(set, options))  # the records are of different versions of the library
    recipe = {name: {key: start["configuration"]["training"][key] for key in known} for name, start in starts.items()}
    assert recipe["by_heart"] == recipe["honest"] == recipe["cheating"]
    assert recipe["no_warm_up"] == {**recipe["honest"], "warmup": 1} and recipe["honest"]["warmup"] == 200
    pairs = {name: start["train_pairs"] for name, start in starts.items()}
    assert pairs["no_warm_up"] == pairs["honest"] == pairs["cheating"] == 3000 and pairs["by_heart"] == faults["few"]
