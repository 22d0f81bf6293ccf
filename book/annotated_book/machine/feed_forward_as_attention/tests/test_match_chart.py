"""The drawing of six key-value pairs: its scores, weights and sums are those of two-dimensional vectors."""

from __future__ import annotations

import math

import pytest
import torch

from annotated_book.machine.feed_forward_as_attention.match_chart import KEYS, VALUES, match_chart
from book.tests.drawing import draw, moved, texts


def vectors(degrees: tuple[int, ...]) -> torch.Tensor:
    angles = torch.tensor(degrees) * math.pi / 180
    return torch.stack([angles.cos(), angles.sin()], dim=1)


@pytest.mark.parametrize(("direction", "length"), [(65, 2.5), (300, 3), (180, 1)])
def test_the_numbers_are_those_of_both_rules(direction: float, length: float) -> None:
    scores = vectors(KEYS) @ vectors((int(direction),))[0] * length
    shown = texts(match_chart(direction=direction, length=length))
    for rule in (scores.relu(), scores.softmax(0)):
        assert f"sum {rule.sum():.2f}" in shown
        assert all(("0" if w == 0 else f"{w:.2f}") in shown for w in rule.tolist())
    assert all(f"{s:.1f}".replace("-", "−") in shown for s in scores.tolist())


@pytest.mark.parametrize("direction", [0, 250, 255, 290, 295])
def test_where_no_key_matches_the_title_says_so(direction: int) -> None:
    none = bool((vectors(KEYS) @ vectors((direction,))[0] < 1e-6).all())
    assert ("No key matches" in draw(match_chart(direction=direction, length=2))) == none


def test_the_softmax_may_give_away_as_much_as_the_relu() -> None:
    scores = vectors(KEYS) @ vectors((65,))[0] * 1.25
    shown = texts(moved(match_chart().to_dict(), given="as much as the ReLU"))
    assert shown.count(f"sum {scores.relu().sum():.2f}") == 2
    assert all(f"{w:.2f}" in shown for w in (scores.softmax(0) * scores.relu().sum()).tolist())


def test_each_key_has_a_value() -> None:
    assert len(KEYS) == len(VALUES)
