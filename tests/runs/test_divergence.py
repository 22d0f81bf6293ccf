"""A validation loss well above its best: said once, and its checkpoints are never averaged."""

from __future__ import annotations

import json

import pytest

from annotated.runs import list_checkpoints, observer
from annotated.runs.checkpoint import checkpoint_path, prune_checkpoints, update_of
from annotated.runs.divergence import ValidationHistory
from annotated.runs.last_checkpoints import average_last
from annotated.runs.log import LOG
from annotated.runs.loop import train


@pytest.mark.parametrize(
    ("losses", "until"),
    [
        ({}, None),
        ({100: 4.0, 200: 2.0, 300: 1.0}, None),
        ({100: 2.0, 200: 1.0, 300: 1.15}, None),  # noise
        ({100: 2.0, 200: 1.27, 300: 2.29}, 200),
        ({100: 2.0, 200: 1.0, 300: 1.1, 400: 2.3, 500: 3.0}, 300),
        ({100: 1.0, 200: 3.0, 300: 0.9}, None),  # it has recovered
        ({100: 1.0, 200: float("inf")}, 100),
    ],
)
def test_the_last_sound_update(losses: dict[int, float], until: int | None) -> None:
    history = ValidationHistory(losses)
    assert history.sound_until == until
    assert (history.warning() is None) == (until is None)


def test_it_is_said_once() -> None:
    history, said = ValidationHistory(), []
    for update, loss in ((1, 2.0), (2, 1.0), (3, 2.0), (4, 2.5)):
        history.add(update, loss, said.append)
    assert len(said) == 1 and "2.0000 is well above the best, 1.0000 after update 2" in said[0]
    assert "learning-rate-scale" in said[0] and "warmup" in said[0]


def test_checkpoints_of_a_diverged_run_are_kept_and_averaged_from_before(small) -> None:
    folder = small.train(checkpoint_every=4).folder
    assert [update_of(path) for path in average_last(folder, 2)[1]] == [20, 24]
    with (folder / LOG).open("a", encoding="utf-8") as file:
        for update, loss in ((12, 0.5), (24, 2.0)):
            file.write(json.dumps({"kind": "valid", "update": update, "valid_loss": loss, "averaged": False}) + "\n")
    assert [update_of(path) for path in average_last(folder, 2)[1]] == [8, 12]
    for path in list_checkpoints(folder)[:3]:
        path.rename(path.with_name(f"old-{path.name}"))  # what is left is all from after
    assert [update_of(path) for path in average_last(folder, 2)[1]] == [20, 24]


def test_what_is_sound_is_not_deleted(tmp_path) -> None:
    for update in range(1, 11):
        checkpoint_path(tmp_path, update).mkdir(parents=True)
    prune_checkpoints(tmp_path, keep=2, sound_until=5)
    assert [update_of(path) for path in list_checkpoints(tmp_path)] == [4, 5, 9, 10]
    prune_checkpoints(tmp_path, keep=2)
    assert [update_of(path) for path in list_checkpoints(tmp_path)] == [9, 10]


def test_a_training_that_diverges_says_so_and_leaves_the_model_from_before(small, monkeypatch, capsys) -> None:
    losses = iter([2.0, 1.0, 3.0, 3.5, 3.5, 3.5, 0.0])
    monkeypatch.setattr(observer, "validation_loss", lambda *_: next(losses))
    training = small.training.replace(
        validate_every=4, checkpoint_every=4, keep_checkpoints=2, average_last=2, validate_bleu=0
    )
    train(small.model, training, small.data, small.folder / "run")
    said = capsys.readouterr().err
    assert said.count("is well above the best") == 1
    assert "the model is the average of update-000000004, update-000000008" in said
