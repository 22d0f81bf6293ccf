"""A validation loss well above its best: said when the next confirms it, and its checkpoints are never averaged."""

from __future__ import annotations

import json
import shutil

import pytest
import torch

from annotated.loading import find_model
from annotated.runs import list_checkpoints, observer
from annotated.runs.checkpoint import checkpoint_path, prune_checkpoints, update_of
from annotated.runs.divergence import ValidationHistory
from annotated.runs.last_checkpoints import average_last, final_weights
from annotated.runs.log import LOG
from annotated.runs.loop import train
from annotated.saving import read_tensors


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
    assert ValidationHistory(losses).sound_until == until


def said_of(losses: list[float], trained: dict[int, float]) -> tuple[list[str], str | None]:
    """What a run says of validations after every 100 updates, the last of its updates included, and at its end."""
    history, said = ValidationHistory(trained=trained), []
    for update, loss in zip(range(100, 100_000, 100), losses, strict=False):
        following = update + 100 if update < 100 * len(losses) else None
        history.add(update, loss, said.append, following)
    return said, history.end()


def test_a_swing_is_no_reason_to_begin_anew() -> None:
    """The newcomer's dates: BLEU 98.0, 87.5, 97.1, 97.1, 38.5, 98.1, 99.7."""
    said, end = said_of([0.1, 0.5, 0.12, 0.11, 1.9, 0.1, 0.02, 0.03], dict.fromkeys(range(0, 900, 100), 1.0))
    assert len(said) == 2 and "begin anew" not in "".join(said).lower() and end is None
    assert "after update 200, 0.5000, is well above the best, 0.1000 after update 100" in said[0]
    assert "the next validation, after update 300, will tell" in said[0]


def test_updates_that_are_too_large_are_told_by_the_second_validation() -> None:
    said, end = said_of([2.0, 1.0, 2.0, 2.5, 2.6], {50: 3.0, 200: 1.5, 350: 2.25, 500: 2.5})
    assert len(said) == 2 and "Begin anew with a smaller --training.learning-rate-scale" in said[1]
    assert "after update 400, 2.5000, is well above the best, 1.0000 after update 200, for the second time" in said[1]
    assert "the training loss rose too, from 1.5000 to 2.2500" in said[1] and "warmup" in said[1]
    assert "Checkpoints after update 200 are not averaged" in said[1]
    assert end is not None and "2.6000" in end and "from 1.5000 to 2.5000" in end


def test_a_text_learned_by_heart_is_told_apart() -> None:
    said, end = said_of([2.0, 1.0, 1.1, 1.3, 1.4], {200: 1.5, 300: 1.2, 400: 0.9, 500: 0.6})
    assert "next validation" in said[0] and len(said) == 2
    for one in (said[1], str(end)):
        assert "by heart" in one and "begin anew" not in one.lower() and "after update 300 are not averaged" in one
    assert "the training loss fell, from 1.5000 to 0.6000" in str(end)


@pytest.mark.parametrize(("trained", "why"), [(1.51, "hardly changed"), (1.6, "rose too"), (1.4, "by heart")])
def test_one_bad_validation_at_the_end_is_no_reason_to_begin_anew(trained: float, why: str) -> None:
    for last in (1.1, 3.0):
        said, end = said_of([2.0, 1.0, last], {200: 1.5, 300: trained})
        assert not said and end is not None and why in end and "begin anew" not in end.lower()


@pytest.mark.parametrize(
    ("losses", "told"),
    [([2.0, 1.0, 1.01], False), ([2.0, 1.0, 1.1], True), ([2.0, 1.0, 1.3], True), ([2.0], False), ([], False)],
)
def test_the_end_tells_of_a_last_validation_that_is_worse(losses: list[float], told: bool) -> None:
    said, end = said_of(losses, {})
    assert (end is not None) == told and not said
    assert end is None or "the log has too few updates to say why" in end


def test_checkpoints_of_a_diverged_run_are_kept_and_averaged_from_before(small) -> None:
    folder = small.train(checkpoint_every=4).folder
    assert [update_of(path) for path in average_last(folder, 2)[1]] == [20, 24]
    with (folder / LOG).open("a", encoding="utf-8") as file:
        for update, loss in ((12, 0.5), (24, 2.0)):
            file.write(json.dumps({"kind": "valid", "update": update, "valid_loss": loss, "averaged": False}) + "\n")
    assert [update_of(path) for path in average_last(folder, 2)[1]] == [8, 12]
    shutil.rmtree(folder / "model")  # as if it were not finished
    with pytest.warns(UserWarning, match="well above its best since; update-000000012 is used"):
        assert find_model(folder).name == "update-000000012"
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
    said = capsys.readouterr().err.splitlines()
    assert sum("is well above the best" in line for line in said) == 3  # a swing, two in a row, the end
    assert any("the model is the average of update-000000004, update-000000008" in line for line in said)
    assert said[-1].startswith("the validation loss after update 24, 3.5000, is well above the best, 1.0000 after")


def test_the_best_checkpoint_is_the_model_where_the_average_is_worse(small, monkeypatch, capsys) -> None:
    """After updates 8, 16 and 24, of the average, and of the model: the last is worse than the best, but not well."""
    losses = iter([2.0, 1.0, 1.15, 1.1, 1.0])
    monkeypatch.setattr(observer, "validation_loss", lambda *_: next(losses))
    training = small.training.replace(validate_every=8, keep_best=1, validate_bleu=0)
    result = train(small.model, training, small.data, small.folder / "run")
    said = capsys.readouterr().err
    best, folder = small.folder / "run/best/update-000000016", small.folder / "run"
    assert result.valid_loss == 1.0 and "the model is best/update-000000016: its validation loss is lower" in said
    assert said.splitlines()[-1].startswith("the validation loss after update 24, 1.1500, is above the best, 1.0000")
    weights, wanted = (read_tensors(place / "model.safetensors") for place in (find_model(folder), best))
    assert all(torch.equal(weights[name], wanted[name]) for name in wanted)
    assert [path.name for path in final_weights(folder, 5)[1]] == [best.name]  # what `annotated finish` takes
    assert len(average_last(folder, 5)[1]) == 3  # what `annotated average` is asked for


def test_the_average_is_the_model_where_it_is_better(small, monkeypatch) -> None:
    losses = iter([2.0, 1.0, 1.15, 0.9])
    monkeypatch.setattr(observer, "validation_loss", lambda *_: next(losses))
    folder = small.train(validate_every=8, keep_best=1, validate_bleu=0).folder
    assert [update_of(path) for path in final_weights(folder, 5)[1]] == [8, 16, 24]
