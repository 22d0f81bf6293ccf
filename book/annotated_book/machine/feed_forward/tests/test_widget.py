"""What the widget of hidden units carries: decoded again and compared with the activations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from annotated.analysis.feed_forward import Activity
from annotated_book.machine.feed_forward.widget import neuron_explorer
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate


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
    assert strengths[:3] == [400, 300, 50]
    assert places[3] == 4 and strengths[3:] == [25, 0, 0]


def test_all_active_positions_are_counted_by_token() -> None:
    widget = neuron_explorer(activity(), top=3)
    tallies = numbers(widget.tallies)
    assert widget.names == ["a", "b", "c", "d", "e", "f"]
    # Unit 0 is active everywhere but at "e": five positions, four of them on record, one each.
    assert tallies[0] == 5 and len(tallies) == 2 * 9
    assert set(tallies[1:9:2]) < {0, 1, 2, 3, 5} and tallies[2:9:2] == [1, 1, 1, 1]
    assert tallies[9] == 1 and tallies[10:12] == [4, 1]  # unit 1 at "e" only


def test_with_values_the_tokens_that_followed_are_counted() -> None:
    one = activity()
    following = Activity(one.scores, one.tokens, [["x", "y", "x"], ["x", "y"], ["x"]])
    widget = neuron_explorer(following, values=torch.zeros(1, 2, 8), vocabulary=list("stuvwxyz"))
    # Unit 0 is active at a, b, c, d and f, followed by x, y, x, x and x.
    assert widget.names == ["x", "y"] and numbers(widget.tallies)[:5] == [5, 0, 4, 1, 1]


def test_fewer_sentences_than_places_leave_zeros() -> None:
    widget = neuron_explorer(activity(), top=5)
    assert numbers(widget.strengths)[:5] == [400, 300, 50, 0, 0]


def test_values_name_the_best_pieces() -> None:
    values = torch.zeros(1, 2, 8)
    values[0, 0, 3], values[0, 0, 5] = 2.0, 1.0
    widget = neuron_explorer(activity(), values=values, vocabulary=list("stuvwxyz"))
    assert numbers(widget.promoted)[:2] == [3, 5]
    assert widget.next_tokens == activity().tokens


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="no layer 1"):
        neuron_explorer(activity(), layer=1)
    with pytest.raises(ValueError, match="vocabulary"):
        neuron_explorer(activity(), values=torch.zeros(1, 2, 8), vocabulary=["a"])


@pytest.mark.parametrize(
    ("wanted", "share"),
    [("not", "11 %"), (".", "62 %"), ("because", "under 3 %")],  # the fourth of the record has 8 of 305 positions
)
def test_the_share_of_a_token_is_of_all_active_positions(wanted: str, share: str) -> None:
    tally = {"active": 305, "most": [[".", 188], ["▁not", 35], ["?", 20], ["!", 8]]}
    script = page_folder("feed_forward") / "widget.js"
    assert evaluate(script, "({ shareAt }, [wanted, tally]) => shareAt(wanted, tally)", [wanted, tally]) == share
