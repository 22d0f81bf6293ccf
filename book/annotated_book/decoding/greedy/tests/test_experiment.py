"""A walk says what greedy search did."""

from __future__ import annotations

import math

import pytest
import torch

from annotated.config import BOS, EOS
from annotated.decoding import Hypothesis, greedy_decode
from annotated.model import Transformer
from annotated_book import recorded
from annotated_book.decoding.greedy import experiment as greedy
from annotated_book.decoding.greedy.tests.conftest import SOURCE, log_probability


def test_a_walk_repeats_the_greedy_search(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy, "CHOICES", 3)
    best = Hypothesis([4], log_probability(model, (4,)), 0.0)
    walk = greedy.walk(model, SOURCE, best)
    found = greedy_decode(model, torch.tensor([SOURCE]))[0]
    written = [*found.tokens, EOS][: found.steps]
    assert walk["greedy"]["tokens"] == written == [step["tokens"][0] for step in walk["steps"]]
    assert abs(sum(walk["greedy"]["log_probability"]) - found.log_probability) < 0.01
    assert abs(sum(walk["best"]["log_probability"]) - best.log_probability) < 0.01
    assert walk["leaves"] == next((t for t, pair in enumerate(zip(written, [4, EOS])) if pair[0] != pair[1]), None)  # noqa: B905
    for step in walk["steps"]:
        assert abs(sum(step["attention"]) - 1) < 0.01 and 0 <= step["entropy"] <= math.log2(6)
        assert not {0, BOS} & set(step["tokens"])


def test_the_record_has_what_the_chapter_reads() -> None:
    results = recorded("greedy").results
    assert [stage["updates"] for stage in results["stages"]] == list(greedy.UPDATES)
    for walk in results["walks"]:
        at = walk["leaves"]
        totals = [sum(walk[way]["log_probability"]) for way in ("greedy", "best")]
        assert (at is None) == (walk["greedy"] == walk["best"]) and (at is None or totals[0] < totals[1])
        assert all(s["tokens"][0] == token for s, token in zip(walk["steps"], walk["greedy"]["tokens"], strict=True))
