"""The playback of a training: what it says of a moment, and what it refuses."""

from __future__ import annotations

import pytest

from annotated_book.pages import page_folder
from annotated_book.reference.own_loop.widget import loop_replay
from book.tests.javascript import evaluate

REPLAY = page_folder("own_loop") / "replay.js"
NUMBERS = [("twelve", "12"), ("seven", "7"), ("six hundred", "600")]
WRITTEN = {0: ["", "9", "6"], 2: ["11", "9", "600"], 4: ["12", "7", "600"]}
LOSSES = [4.0, 2.0, 1.0, 0.5]
DATA = {"losses": LOSSES, "updates": [0, 2, 4], "written": list(WRITTEN.values()), "numbers": NUMBERS}


def test_moments_come_in_order_and_start_where_asked() -> None:
    replay = loop_replay(LOSSES, dict(reversed(WRITTEN.items())), NUMBERS, floor=0.4, update=2)
    assert replay.updates == [0, 2, 4] and replay.moment == 1 and replay.written[2] == WRITTEN[4]
    assert replay.numbers[0] == ["twelve", "12"]


def test_a_playback_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one of \[0, 2, 4\], not 3"):
        loop_replay(LOSSES, WRITTEN, NUMBERS, floor=0.4, update=3)
    with pytest.raises(ValueError, match="the last update, 3"):
        loop_replay(LOSSES[:3], WRITTEN, NUMBERS, floor=0.4, update=2)
    with pytest.raises(ValueError, match=r"after updates \[2\]"):
        loop_replay(LOSSES, {**WRITTEN, 2: ["1"]}, NUMBERS, floor=0.4, update=0)


def test_each_moment_is_counted() -> None:
    """By hand: at first only 6 begins like 600, and 9 is as long as 7; then 600 is right, and 11 half right."""
    code = """({ rightAt, agreement, lossAt }, { written, numbers, losses, updates }) => [0, 1, 2].map(moment =>
      [rightAt(written, numbers, moment), agreement(written, numbers, moment), lossAt(losses, updates, moment)])"""
    first, second, third = evaluate(REPLAY, code, DATA)
    assert first == [[False, False, False], {"length": 1, "first": 1}, None]
    assert second == [[False, False, True], {"length": 3, "first": 2}, 3.0]
    assert third == [[True, True, True], {"length": 3, "first": 3}, 0.75]


def test_a_number_has_a_history_without_repetitions() -> None:
    code = "({ history }, d) => [0, 1, 2].map(number => history(d.written, d.updates, number))"
    assert evaluate(REPLAY, code, DATA) == [
        [[0, ""], [2, "11"], [4, "12"]],
        [[0, "9"], [4, "7"]],
        [[0, "6"], [2, "600"]],
    ]


def test_a_moment_is_told_in_a_sentence() -> None:
    said = evaluate(REPLAY, "({ saying }, d) => [saying(d, 0), saying(d, 1)]", DATA)
    assert (
        said[0]["head"] == "After 0 updates, 0 of 3 held-out numbers are right"
        and "Nothing is learned" in said[0]["rest"]
    )
    assert said[1]["rest"] == (
        "Mean loss of the last 2 batches: 3.000 nats per token. "
        "3 have the right number of digits, 2 the right first digit."
    )
