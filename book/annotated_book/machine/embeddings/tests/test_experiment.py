"""The ways in: the same model at the start, the same numbers in the record, and a chart with all of them."""

from __future__ import annotations

import json

import pytest
import torch

from annotated_book import recorded
from annotated_book.machine.embeddings.experiment import RECIPE, SEEDS, WAYS, built, optimizer_of
from annotated_book.machine.embeddings.training_charts import NAMES, ways_chart
from annotated_book.training.first_run.experiment import small_model

CONFIG = small_model().replace(vocab_size=60)
SOURCE, TARGET = torch.tensor([[5, 9, 2]]), torch.tensor([[1, 7, 11, 8]])


def test_all_ways_but_those_out_of_balance_are_one_function_at_the_start() -> None:
    with torch.no_grad():
        logits = {name: built(CONFIG, way, 1).eval()(SOURCE, TARGET) for name, way in WAYS.items()}
    paper = logits["tied, with"]
    for name in ("separate, with", "separate, without, longer rows", "separate, without, longer rows, higher rate"):
        torch.testing.assert_close(logits[name], paper, atol=1e-4, rtol=1e-4)
    assert (logits["tied, without"] - paper).abs().max() > 0.1


def test_a_balanced_input_is_the_papers_divided() -> None:
    paper, divided = (built(CONFIG, WAYS[name], 1) for name in ("tied, with", "tied, without, positions divided"))
    with torch.no_grad():
        torch.testing.assert_close(divided.embed(SOURCE) * CONFIG.d_model**0.5, paper.embed(SOURCE))


def test_the_higher_rate_is_that_of_the_way_in() -> None:
    way = WAYS["separate, without, longer rows, higher rate"]
    model = built(CONFIG, way, 1)
    optimizer, factors = optimizer_of(model, way)
    assert factors == [1.0, CONFIG.d_model**0.5]
    counts = [len(group["params"]) for group in optimizer.param_groups]
    assert counts[1] == 2 and sum(counts) == len(list(model.parameters()))


def test_the_record_holds_every_way_and_the_chart_draws_it() -> None:
    results = recorded("embeddings").results
    assert set(results["ways"]) == set(WAYS) == set(NAMES)
    for seeds in results["ways"].values():
        assert set(seeds) == set(map(str, SEEDS)) and all(curve[-1][0] == RECIPE.updates for curve in seeds.values())
    chart = json.dumps(ways_chart(results["ways"], results["updates"]).to_dict(), ensure_ascii=False)
    assert all(name in chart for name in NAMES.values())
    mean = sum(curve[-1][1] for curve in results["ways"]["tied, without"].values()) / 3
    assert mean == pytest.approx(3.99, abs=0.01)
