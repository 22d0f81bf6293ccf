"""Trainings of rectangles, recorded and side by side, beside the readable path: packed rows, one training by itself."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
import torch

from annotated.runs.random_states import seed_everything
from annotated.training.loss import label_smoothed_cross_entropy
from annotated_book.experiments import device_batches
from annotated_book.experiments.device_batches import training_stream, validation_stream
from annotated_book.experiments.recorded_updates import Training, loss_sum
from annotated_book.experiments.train_concurrently import train_concurrently
from annotated_book.experiments.train_one import train_one

CPU = torch.device("cpu")


def warmed_up(work):
    """Like a recorder of CUDA graphs: the work is done twice before it counts."""
    work()
    work()
    return work


def start_of(one, text, recorder_given=None):
    def start(recorder):
        seed_everything(one.seed)
        model = one.model()
        parts = training_stream(text, one.training, CPU), validation_stream(text, CPU)
        return Training(model, one.optimizer(model), one.rate, one.training, *parts, recorder_given or recorder)

    return start


@pytest.fixture
def three_shapes(text, monkeypatch):
    """Limits of width such that a third of the pairs lies between two of them."""
    widths = np.maximum(text.train.source_lengths, text.train.target_lengths)
    monkeypatch.setattr(device_batches, "WIDTHS", tuple(np.quantile(widths, [1 / 3, 2 / 3]).astype(int)))


@pytest.mark.usefixtures("three_shapes")
def test_a_stream_holds_the_batches_of_the_loader_in_their_order(text, experiment):
    training = experiment(updates=40).training
    found, taken = training_stream(text, training, CPU), [0] * 3
    for number, batch in enumerate(itertools.islice(text.batches(training), training.updates)):
        kind = found.shape_of[number]
        shape, place = found.shapes[kind], taken[kind]
        taken[kind] += 1
        for name in ("source", "target_in", "target_out"):
            ids, cells = getattr(batch, name), getattr(shape, name)[place]
            assert torch.equal(cells[: ids.size(0), : ids.size(1)].long(), ids), "the batch stands at the top left"
            assert cells.count_nonzero() == ids.count_nonzero(), "and all else is padding"
        assert found.target_tokens[number] == batch.target_tokens
    assert min(taken) > 0, "there are several shapes here"


def test_the_valid_stream_has_every_pair_once(text):
    stream = validation_stream(text, CPU)
    rows = [row[row > 0].tolist() for shape in stream.shapes for batch in shape.target_out for row in batch]
    expected = [text.valid.target(index).tolist() for index in range(len(text.valid))]
    assert sorted(filter(None, rows)) == sorted(expected)


def test_the_loss_is_the_librarys():
    generator = torch.Generator().manual_seed(0)
    logits, gold = torch.randn(3, 4, 7, generator=generator), torch.tensor([[1, 2, 0, 0], [3, 0, 0, 0], [6, 5, 4, 1]])
    for smoothing in (0.0, 0.1):
        expected, _ = label_smoothed_cross_entropy(logits, gold, smoothing)
        assert torch.allclose(loss_sum(logits, gold.int(), smoothing), expected, rtol=1e-6)


@pytest.mark.usefixtures("three_shapes")
@pytest.mark.parametrize("recorder", [None, warmed_up])
def test_rectangles_make_the_updates_of_packed_rows(text, experiment, recorder):
    """Without dropout nothing differs but the order of sums; what recording does beforehand leaves no trace."""
    one = experiment()
    expected = train_one(one, text)
    (training,) = train_concurrently([start_of(one, text, recorder)], CPU)
    assert training.finished and not training.diverged
    for ours, theirs in zip(training.curve(), expected.curve, strict=True):
        assert ours["update"] == theirs["update"] and ours["tokens_seen"] == theirs["tokens_seen"]
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=2e-4)
        assert ours["validation_loss"] == pytest.approx(theirs["validation_loss"], abs=2e-4)
    for name, tensor in training.model.state_dict().items():
        assert torch.allclose(tensor, expected.model.state_dict()[name], atol=2e-4), name
    assert training.curve()[-1]["validation_loss"] < training.curve()[0]["validation_loss"], "it learns"


def test_trainings_side_by_side_are_those_made_one_by_one(text, experiment):
    ones = [experiment(seed=0), experiment(seed=1, label_smoothing=0.0), experiment(seed=2, updates=12)]
    together = train_concurrently([start_of(one, text) for one in ones], CPU, threads=2)
    for one, training in zip(ones, together, strict=True):
        (alone,) = train_concurrently([start_of(one, text)], CPU)
        assert training.curve() == alone.curve(), "nothing of one training reaches another"
        assert len(training.points) == one.training.updates // 3


def test_what_is_not_finished_in_time_says_so(text, experiment):
    one = experiment(updates=300)
    (training,) = train_concurrently([start_of(one, text)], CPU, until=time.monotonic() - 1)
    assert training.done == 100 and not training.finished


def test_a_training_that_diverges_says_so(text, experiment):
    one = experiment()
    (training,) = train_concurrently([start_of(one, text)], CPU)
    training.points[-1].validation[0] = math.nan
    assert training.diverged
