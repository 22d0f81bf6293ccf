"""The exact search finds what listing every sentence finds; a walk says what greedy search did."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from annotated.chapters import recorded
from annotated.chapters.greedy import exact_search
from annotated.chapters.greedy import experiment as greedy
from annotated.config import BOS, EOS, tiny
from annotated.decoding import Hypothesis, greedy_decode
from annotated.model import Transformer

REAL = [3, 4, 5]
SOURCE = [3, 5, EOS]


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Six ids, of which three are real; greedy search loses on it."""
    torch.manual_seed(30)
    model = Transformer(tiny(vocab_size=6, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, dropout=0.0)).eval()
    with torch.no_grad():
        model.output_weight.mul_(2)
    return model


def log_probability(model: Transformer, tokens: tuple[int, ...]) -> float:
    written = [*tokens, EOS]
    with torch.no_grad():
        logs = model(torch.tensor([SOURCE]), torch.tensor([[BOS, *written[:-1]]]))[0].log_softmax(-1)
    return math.fsum(float(row[token]) for row, token in zip(logs, written, strict=True))


@pytest.mark.parametrize("width", [1, 1000])
def test_the_most_probable_translation_is_that_of_a_list_of_all(model: Transformer, width: int) -> None:
    every = {w: log_probability(model, w) for n in range(5) for w in itertools.product(REAL, repeat=n)}
    worst = min(every, key=every.__getitem__)  # a bad one to begin with
    start = Hypothesis(list(worst), every[worst], 0.0)
    found, prefixes, proven = exact_search(model, torch.tensor([SOURCE]), width=width, start=start)
    assert proven and found.log_probability >= max(every.values()) - 1e-4
    assert abs(log_probability(model, tuple(found.tokens)) - found.log_probability) < 1e-4
    assert (
        tuple(found.tokens)
        == max(every, key=every.__getitem__)
        != tuple(greedy_decode(model, torch.tensor([SOURCE]))[0].tokens)
    )
    # Nothing better to be found: what was handed in comes back.
    again = exact_search(model, torch.tensor([SOURCE]), width=width, start=found)
    assert again.hypothesis.tokens == found.tokens and again.proven and again.prefixes <= prefixes


def test_it_gives_up_where_there_are_too_many(model: Transformer) -> None:
    start = Hypothesis([3], -50.0, 0.0)
    assert not exact_search(model, torch.tensor([SOURCE]), max_open=2, start=start).proven
    assert exact_search(model, torch.tensor([SOURCE]), max_open=1000).proven


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
