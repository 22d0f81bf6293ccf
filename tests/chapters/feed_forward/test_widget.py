"""What the widget of hidden units carries: decoded again and compared with the activations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from annotated.analysis.feed_forward import Activity
from annotated.chapters.feed_forward.widget import neuron_explorer


def activity() -> Activity:
    tokens = [["a", "b", "c"], ["d", "e"], ["f"]]
    scores = torch.full((1, 6, 2), -1.0)
    scores[0, :, 0] = torch.tensor([1.0, 3.0, 2.0, 0.5, -1.0, 4.0])
    scores[0, 4, 1] = 0.25
    return Activity(scores, tokens, tokens)


def numbers(data: bytes) -> list[int]:
    return np.frombuffer(data, dtype="<u2").tolist()


def test_contexts_come_strongest_first_one_from_each_sentence() -> None:
    widget = neuron_explorer(activity(), top=3)
    places, strengths = numbers(widget.places), numbers(widget.strengths)
    assert places[:3] == [5, 1, 3]  # f, b, d: the peak of each sentence
    assert strengths[:3] == [4000, 3000, 500]
    assert places[3] == 4 and strengths[3:] == [250, 0, 0]
    assert numbers(widget.shares) == [8333, 1667]  # five of six pieces, one of six


def test_fewer_sentences_than_places_leave_zeros() -> None:
    widget = neuron_explorer(activity(), top=5)
    assert numbers(widget.strengths)[:5] == [4000, 3000, 500, 0, 0]


def test_values_name_the_best_pieces() -> None:
    values = torch.zeros(1, 2, 8)
    values[0, 0, 3], values[0, 0, 5] = 2.0, 1.0
    widget = neuron_explorer(activity(), values=values, vocabulary=list("stuvwxyz"))
    assert numbers(widget.promoted)[:2] == [3, 5]
    assert widget.next_pieces == activity().tokens


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="no layer 1"):
        neuron_explorer(activity(), layer=1)
    with pytest.raises(ValueError, match="vocabulary"):
        neuron_explorer(activity(), values=torch.zeros(1, 2, 8), vocabulary=["a"])
