"""Expectations hold when they should, fail when they should, and say where."""

from __future__ import annotations

import math

import pytest
import torch

from annotated_grader import expect
from annotated_grader.exercise.expect import Failed
from annotated_grader.sandbox.interpreter import AnswerError


def test_close_names_the_worst_entry() -> None:
    got, expected = torch.tensor([[1.0, 2.0], [3.5, 9.0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(Failed, match=r"weights at \[1, 1\]: expected 4, got 9; 2 of 4 entries differ") as failed:
        expect.close(got, expected, "weights", q=got)
    assert failed.value.where == (1, 1) and set(failed.value.inputs) == {"q"}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.001])
def test_close_accepts_no_nan_no_infinity_and_no_thousandth(bad: float) -> None:
    expect.close(torch.tensor([1.0 + 1e-6]), torch.tensor([1.0]), "x")
    with pytest.raises(Failed):
        expect.close(torch.tensor([bad]), torch.tensor([1.0]), "x")


def test_close_with_infinities() -> None:
    expect.close(torch.tensor([-math.inf]), torch.tensor([-math.inf]), "x")
    with pytest.raises(Failed):
        expect.close(torch.tensor([5.0]), torch.tensor([-math.inf]), "x")
    with pytest.raises(Failed):
        expect.close(torch.tensor([math.nan]), torch.tensor([math.nan]), "x")


@pytest.mark.parametrize("got", [None, "1", [1.0], torch.ones(2, 1), torch.ones(2, dtype=torch.float64)[:1]])
def test_other_kinds_and_shapes_are_refused(got: object) -> None:
    with pytest.raises(Failed, match="expected"):
        expect.close(got, torch.ones(2), "x")


def test_shape_wants_numbers_that_say_something() -> None:
    expect.shape(torch.tensor([1.0, 2.0]), (2,), "x")
    for empty in (torch.zeros(2), torch.full((2,), math.nan), torch.tensor([math.inf, 0.0]), torch.ones(3)):
        with pytest.raises(Failed):
            expect.shape(empty, (2,), "x")


def test_equal_tells_booleans_from_numbers() -> None:
    expect.equal(torch.tensor([True]), torch.tensor([True]), "mask")
    expect.equal({"a": [1, (2.0, "x")]}, {"a": [1, (2.0, "x")]}, "shapes")
    expect.equal((1, 2.0), [1, 2], "shape")
    for got, wanted in (
        (torch.tensor([1]), torch.tensor([True])),
        (1, True),
        (True, 1),
        ([1], [1, 2]),
        ({"b": 1}, {"a": 1}),
    ):
        with pytest.raises(Failed):
            expect.equal(got, wanted, "x")


def test_numbers_and_texts() -> None:
    expect.number(torch.tensor([2.0]), 2.0, "x")
    expect.number(math.inf, math.inf, "x")
    expect.text("  The   ENCODER ", ["the encoder"], "x")
    for got in (None, "2", True, math.nan, torch.ones(2), 2.1):
        with pytest.raises(Failed):
            expect.number(got, 2.0, "x")
    with pytest.raises(Failed, match="is not it"):
        expect.text("decoder", "encoder", "x")


def raising(*kinds: str) -> object:
    def call() -> None:
        raise AnswerError(kinds, "no")

    return call


def test_a_stub_never_counts_as_a_refusal() -> None:
    expect.raises(raising("ValueError", "Exception"), "ValueError", "x")
    expect.raises(raising("MyError", "ValueError", "Exception"), "ValueError", "x")
    for function in (
        raising("NotImplementedError", "RuntimeError"),
        raising("NameError"),
        raising("KeyError"),
        lambda: 1,
    ):
        with pytest.raises(Failed):
            expect.raises(function, ["ValueError", "RuntimeError", "NameError"], "x")
