"""Active positions of a unit by token, against a case counted by hand."""

from __future__ import annotations

import pytest
import torch

from annotated.analysis.feed_forward import Activity
from annotated_book.machine.feed_forward.firing import agreeing_units, all_tokens, firings, token_counts


def activity() -> Activity:
    """Unit 0: strongest at "not", active at full stops as well. Unit 1: at "a" alone. Unit 2: at two tokens."""
    tokens = [["not", ".", "a"], ["not", ".", "a"]]
    scores = torch.tensor(
        [[3.0, -1, 1], [1, -1, -1], [-1, 2, -1], [4, -1, 2], [2, -1, -1], [-1, 1, -2]]
    )  # [positions, units]
    return Activity(scores[None], tokens, tokens)


def test_firings_are_all_active_positions_the_strongest_first() -> None:
    found = firings(activity(), 0, 0)
    assert found["token"].tolist() == ["not", "not", ".", "."]
    assert found["activation"].tolist() == [4, 3, 2, 1]
    assert all_tokens(activity()) == ["not", ".", "a", "not", ".", "a"]


def test_counts_shares_and_weights_by_hand() -> None:
    table = token_counts(activity(), 0, 0)
    assert table["active"].to_dict() == {"not": 2, ".": 2}
    assert table["occurrences"].to_dict() == {"not": 2, ".": 2}
    assert table["share"].to_dict() == {"not": 0.5, ".": 0.5}
    assert table.loc["not", "weight"] == pytest.approx(7 / 10)


def test_units_agree_if_their_strongest_activations_share_a_token() -> None:
    two = agreeing_units(activity(), top=2).set_index("unit")
    assert two["token"].to_dict() == {1: "not", 2: "a", 3: "not"}
    assert two["share"].to_dict() == {1: 0.5, 2: 1.0, 3: 1.0}
    assert two["active"].to_dict() == {1: 4, 2: 2, 3: 2}
    assert two.loc[1, "weight"] == pytest.approx(0.7)
    # The third strongest of unit 1 is a full stop; units 2 and 3 have no third one.
    assert agreeing_units(activity(), top=3).empty
