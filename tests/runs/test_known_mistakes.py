"""Known mistakes of training (`annotated_grader.doctor.mutants`) act in a real run as they do in the doctor."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from annotated.runs import list_checkpoints, read_records
from annotated.training import learning_rate
from annotated_grader.doctor.mutants import switched_on
from annotated_grader.doctor.mutants.training import BANK

PIECES = 3
"""Micro-batches of an update: 300 tokens in pieces of 100."""


def logged(small, mistake: str | None = None) -> list[dict[str, Any]]:
    """The log of six updates of three micro-batches, one line an update, with a mistake switched on."""
    small.model = small.model.replace(dropout=0.0)
    small.training = small.training.replace(
        updates=6, warmup=3, log_every=1, checkpoint_every=3, validate_every=6, micro_batch_tokens=100
    )
    assert small.training.micro_batches(1) == PIECES
    if mistake is None:
        small.train("right")
        return updates_of(small, "right")
    with switched_on(mistake):
        small.train(mistake)
    return updates_of(small, mistake)


def updates_of(small, run: str) -> list[dict[str, Any]]:
    return [record for record in read_records(small.folder / run) if record["kind"] == "train"]


def rates(records: list[dict[str, Any]]) -> list[float]:
    return [record["learning_rate"] for record in records]


def expected(*numbers: int) -> list[float]:
    return [learning_rate(number, 16, 3) for number in numbers]


def test_without_a_mistake_and_after_one_updates_are_counted_from_1(small):
    assert rates(logged(small, "rate_one_update_late")) != expected(1, 2, 3, 4, 5, 6)
    assert rates(logged(small)) == expected(1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("mistake", "made_with"),
    [
        ("warmup_in_micro_batches", expected(1, 4, 7, 10, 13, 16)),
        ("rate_one_update_late", expected(1, 1, 2, 3, 4, 5)),
        ("rate_set_after_update", [1e-3, *expected(1, 2, 3, 4, 5)]),
        ("rate_does_not_decay", expected(1, 2, 3, 3, 3, 3)),
    ],
)
def test_a_run_has_the_wrong_rates(small, mistake, made_with):
    assert rates(logged(small, mistake)) == made_with


def test_a_run_weighs_its_micro_batches_wrongly(small):
    right, alike, undivided = (
        logged(small, mistake) for mistake in (None, "micro_batches_weigh_the_same", "accumulation_not_divided")
    )
    assert right[0]["loss"] == pytest.approx(alike[0]["loss"], rel=1e-6), "the same sentences and weights"
    assert right[0]["gradient_norm"] != pytest.approx(alike[0]["gradient_norm"], rel=1e-5)
    assert undivided[0]["gradient_norm"] == pytest.approx(PIECES * alike[0]["gradient_norm"], rel=1e-4)


def test_a_run_makes_its_first_update_after_one_micro_batch(small):
    right, wrong = (logged(small, mistake) for mistake in (None, "first_update_after_one_micro_batch"))
    assert 0.2 < wrong[0]["tokens_seen"] / right[0]["tokens_seen"] < 0.5
    others = [log[-1]["tokens_seen"] - log[0]["tokens_seen"] for log in (right, wrong)]
    assert others[1] == pytest.approx(others[0], rel=0.2), "and each later one after three"


def test_a_run_keeps_the_gradients_of_earlier_updates(small):
    right, wrong = (logged(small, mistake) for mistake in (None, "gradient_not_cleared"))
    assert wrong[0]["gradient_norm"] == right[0]["gradient_norm"]
    assert wrong[-1]["gradient_norm"] > 2 * right[-1]["gradient_norm"]


def test_a_run_ends_with_the_last_checkpoint_in_place_of_the_average(small):
    logged(small, "average_is_last")
    folder = small.folder / "average_is_last"
    model, last = (load_file(path / "model.safetensors") for path in (folder / "model", list_checkpoints(folder)[-1]))
    assert all(torch.equal(tensor, last[name]) for name, tensor in model.items())


def test_every_mistake_of_training_is_tried_here():
    tried = {
        "warmup_in_micro_batches", "rate_one_update_late", "rate_set_after_update", "rate_does_not_decay",
        "micro_batches_weigh_the_same", "accumulation_not_divided", "first_update_after_one_micro_batch",
        "gradient_not_cleared", "average_is_last",
    }  # fmt: skip
    assert tried == {mutant.id for mutant in BANK.mutants}
