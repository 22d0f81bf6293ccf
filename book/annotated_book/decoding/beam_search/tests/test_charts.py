"""The still tree, the chart of rankings and the chart of beam sizes."""

from __future__ import annotations

import json

import pytest
import torch

import annotated
from annotated.decoding import Hypothesis
from annotated_book import recorded
from annotated_book.decoding.beam_search.charts import alpha_chart, beam_sizes_chart, search_tree_chart, tree_rows
from annotated_book.decoding.beam_search.playback import Playback
from annotated_book.decoding.beam_search.search_record import unpack
from annotated_book.decoding.beam_search.search_tree import record_search


@pytest.fixture(scope="module")
def tokenizer():
    return annotated.load("classroom").tokenizer


@pytest.fixture(scope="module")
def tree():
    results = recorded("beam_search/tree").results
    source = results["sentences"][1]["source"]
    model = Playback([(source, unpack(results["searches"])[1].tree)], results["vocab_size"])
    return record_search(model, torch.tensor(source), num_return=4, extra_tokens=8)


def test_the_rows_of_a_tree_never_collide(tree) -> None:
    rows = tree_rows(tree.nodes)
    places = [(node.step, rows[node.id]) for node in tree.nodes]
    assert len(set(places)) == len(places) == len(tree.nodes)
    assert all(rows[node.id] >= rows[node.parent] for node in tree.nodes if node.parent is not None)


def test_the_still_tree_shows_what_was_kept(tree, tokenizer) -> None:
    spec = search_tree_chart(tree, tokenizer).to_dict()
    (values,) = [data["values"] for data in _data(spec)]
    assert len(values) == sum(node.fate != "pruned" for node in tree.nodes)
    assert {v["token"] for v in values} >= {"Dieses", "Fledermaus", "-ol", "end"}
    assert "der Fledermaus geholfen" in spec["description"]


def test_rankings_follow_alpha() -> None:
    short, long = Hypothesis([4], -3.0, 0.0), Hypothesis([4] * 12, -3.5, 0.0)
    spec = alpha_chart([short, long], ["short", "long"], title="The long one wins").to_dict()
    assert spec["title"]["text"] == "The long one wins"
    values = _data(spec)[0]["values"]
    behind = {(v["text"], v["alpha"]): v["behind"] for v in values}
    assert behind["short", 0.0] == 0 and behind["long", 0.0] == -0.5 and behind["long", 2.0] == 0 > behind["short", 2.0]
    dashes = spec["layer"][0]["encoding"]["strokeDash"]["scale"]
    assert dashes == {"domain": ["short", "long"], "range": [[1, 0], [7, 3]]}
    with pytest.raises(ValueError, match="1 texts for 2 hypotheses"):
        alpha_chart([short, long], ["short"])


def test_beam_sizes_has_a_menu_of_models() -> None:
    rows = [
        {"beam": k, "alpha": a, "bleu": 1.0, "length_ratio": 1.0, "log_probability": -k, "very_short": 0,
         "statistics": "packed"}
        for k in (1, 4)
        for a in (0.0, 0.6)
    ]  # fmt: skip
    text = json.dumps(beam_sizes_chart({"one": rows, "two": rows}).to_dict())
    assert "packed" not in text  # what a bootstrap needs is not drawn
    assert text.count('"description"') and '"options": ["one", "two"]' in text


def _data(spec):
    return (
        [d for d in spec.get("datasets", {}).values()] or [spec["data"]]
        if "data" in spec
        else [layer["data"] for layer in spec["layer"][:1]]
    )
