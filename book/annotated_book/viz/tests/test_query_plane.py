"""The query plane computes equation 1 for one query, and a dragged tip gives back its angle and length."""

from __future__ import annotations

import math

import pytest
import torch

from annotated import scaled_dot_product_attention
from annotated_book.viz.query_plane import query_plane
from book.tests.javascript import PACKAGE, evaluate

SCRIPT = PACKAGE / "viz" / "query_plane.js"
KEYS = [[1.5, 0.2], [-0.4, 1.7], [-1.0, -1.0]]


@pytest.mark.parametrize(("angle", "length"), [(30, 2.0), (-140, 5.0), (75, 0.0)])
def test_weights_are_those_of_the_library(angle: int, length: float) -> None:
    state = {"keys": KEYS, "divisor": math.sqrt(2), "angle": angle, "length": length}
    found = evaluate(SCRIPT, "({ answersOf }, state) => answersOf(state)", state)
    query = torch.tensor([[length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle))]])
    keys = torch.tensor(KEYS)
    _, weights = scaled_dot_product_attention(query, keys, keys)
    torch.testing.assert_close(torch.tensor([one["weight"] for one in found]), weights[0])
    torch.testing.assert_close(torch.tensor([float(one["dot"]) for one in found]), (query @ keys.T)[0])


def test_a_tip_is_found_again_and_stays_in_the_plane() -> None:
    code = """({ queryOf, tipAt }, states) => states.map(state => tipAt(...queryOf(state)))"""
    states = [{"angle": angle, "length": length} for angle in (-175, -90, 0, 45, 180) for length in (0.5, 3.2, 5.0)]
    assert evaluate(SCRIPT, code, states) == states
    assert evaluate(SCRIPT, "({ tipAt }) => tipAt(9, 9)") == {"angle": 45, "length": 5}


def test_the_output_is_that_of_the_library() -> None:
    values = [[4.0, 1.0], [0.0, 4.0], [-3.0, -2.0]]
    state = {"keys": KEYS, "divisor": math.sqrt(2), "angle": 40, "length": 1.5}
    code = "({ answersOf, outputOf }, { state, values }) => outputOf(answersOf(state), values)"
    found = evaluate(SCRIPT, code, {"state": state, "values": values})
    query = torch.tensor([[1.5 * math.cos(math.radians(40)), 1.5 * math.sin(math.radians(40))]])
    output, _ = scaled_dot_product_attention(query, torch.tensor(KEYS), torch.tensor(values))
    torch.testing.assert_close(torch.tensor(found), output[0])
    assert query_plane(KEYS, ["a", "b", "c"], values=values).values == values


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[2, 2\]"):
        query_plane([[1.0, 2.0, 3.0]] * 2, ["a", "b"])
    with pytest.raises(ValueError, match="as the keys are"):
        query_plane(KEYS, ["a", "b", "c"], values=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="0 to 5 long"):
        query_plane(KEYS, ["a", "b", "c"], length=6)
