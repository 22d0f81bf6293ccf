"""A search tree tells what became of every candidate, on probabilities written by hand and from text."""

from __future__ import annotations

import json
import math
from math import log

import pytest

import annotated
from annotated.config import EOS
from annotated.decoding import beam_search
from annotated_book.decoding.beam_search.search_tree import record_search, search_tree
from tests.decoding.test_beam import GARDEN_PATH, A, B, C, TableModel, endless, source_of
from tests.decoding.test_invariants import random_model, random_source


def test_the_recorded_tree_tells_every_fate() -> None:
    table = {
        (): {A: 0.5, B: 0.3, EOS: 0.12, C: 0.08},
        (A,): {EOS: 0.6, B: 0.4},
        (B,): {EOS: 0.5, A: 0.5},
    }
    tree = record_search(TableModel(table), source_of(0), 2, alpha=0.0, max_new_tokens=2, num_return=1)
    fates = {tuple(tree.path(node.id)): node.fate for node in tree.nodes}
    assert fates == {
        (A,): "alive",
        (B,): "alive",
        (EOS,): "evicted",
        (C,): "pruned",
        (A, EOS): "finished",
        (A, B): "cap" if tree.stopped_by == "cap" else "alive",
        (B, EOS): "evicted",
        (B, A): "cap" if tree.stopped_by == "cap" else "alive",
    }
    assert tree.stopped_by == "bound"  # 0.3 is finished, and 0.2 is the best that is alive
    by_path = {tuple(tree.path(node.id)): node for node in tree.nodes}
    assert by_path[A, EOS].log_probability == pytest.approx(log(0.5 * 0.6))
    assert by_path[A, EOS].parent == by_path[A,].id and by_path[A, EOS].step == 2
    assert tree.hypotheses == beam_search(TableModel(table), source_of(0), 2, 0.0, 2)[0]
    assert json.loads(json.dumps(tree.to_dict()))["nodes"][0]["token"] == A


def test_the_recorded_tree_of_a_search_that_reached_its_cap() -> None:
    tree = record_search(TableModel(endless(A, 0.99)), source_of(0), 2, alpha=2.0, max_new_tokens=2)
    assert tree.stopped_by == "cap"
    fates = {tuple(tree.path(node.id)): node.fate for node in tree.nodes}
    assert fates[A, A] == "cap" and fates[A,] == "alive"
    assert math.isfinite(sum(node.score for node in tree.nodes))
    with pytest.raises(ValueError, match="one sentence, not for 2"):
        record_search(TableModel(GARDEN_PATH), source_of(0, 0))


def test_a_prefix_is_the_only_candidate_of_its_steps() -> None:
    model, source = random_model(3), random_source(3, [4])
    tree = record_search(model, source, 3, prefix=[5, 4])
    first, second = (([n for n in tree.nodes if n.step == step]) for step in (1, 2))
    assert [n.token for n in first] == [5] and [n.token for n in second] == [4]
    assert tree.hypotheses[0].tokens[:2] == [5, 4]


def test_a_search_tree_from_text() -> None:
    translator = annotated.load("classroom")
    text = "The cat sleeps."
    tree = search_tree(translator, text, beam_size=2)
    assert tree.hypotheses[0].tokens == translator.hypotheses([text], 1, beam_size=2)[0][0].hypothesis.tokens
    forced = search_tree(translator, text, "Der Hund", beam_size=2)
    assert translator.tokenizer.decode(forced.hypotheses[0].tokens).startswith("Der Hund")
