"""The residual stream: states that add up, lengths, readouts and gradients, on models small enough to check."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from annotated import tiny
from annotated_book.machine.residuals.placements import PLACEMENTS, placed
from annotated_book.machine.residuals.residual_stream import (
    additions,
    by_hand,
    gradient_norms,
    lengths,
    mean_cosine,
    readable,
    stream,
)

CONFIG = tiny(vocab_size=20, d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=2)
SOURCE = torch.arange(4, 16).reshape(2, 6)


@pytest.mark.parametrize("placement", ["pre-norm", "no norm"])
def test_the_stream_is_the_sum_of_what_was_added(placement: str) -> None:
    model = placed(CONFIG, placement)
    states, added = stream(model, SOURCE), additions(model, SOURCE)
    assert len(states) == 5 and len(added) == 4
    total = states[0]
    for state, y in zip(states[1:], added, strict=True):
        total = total + y
        torch.testing.assert_close(state, total)


def test_post_norm_normalises_every_sum_and_without_residual_only_the_addition() -> None:
    for placement in ("post-norm", "no residual"):
        model = placed(CONFIG, placement)
        states, added = stream(model, SOURCE), additions(model, SOURCE)
        for before, after, y in zip(states, states[1:], added, strict=False):
            kept = before + y if placement == "post-norm" else y
            torch.testing.assert_close(after, nn.functional.layer_norm(kept, (16,), eps=1e-6))


def test_watching_leaves_the_model_as_it_was() -> None:
    model = placed(CONFIG, "pre-norm").eval()
    with torch.no_grad():
        before = model.encode(SOURCE)
        states = stream(model, SOURCE)
        torch.testing.assert_close(model.encoder.final_norm(states[-1]), before)
        torch.testing.assert_close(model.encode(SOURCE), before)
    assert all("leave" not in vars(module) for module in model.modules())


def test_lengths_are_euclidean_means() -> None:
    assert lengths([torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])]) == [3.0]


def test_a_readout_finds_what_is_linear_and_not_what_is_absent() -> None:
    torch.manual_seed(0)
    labels = torch.randint(0, 5, (40, 10))
    directions = torch.randn(5, 12)
    noise = torch.randn(40, 10, 12)
    assert readable(directions[labels] + 0.05 * noise, labels) > 0.99
    assert readable(noise, labels) < 0.4  # chance is 0.2
    assert readable(1e-4 * directions[labels], labels) > 0.99  # a small scale is no excuse


def test_gradient_norms_are_those_of_the_parameters() -> None:
    model = placed(CONFIG, "post-norm")
    norms = gradient_norms(model, SOURCE, SOURCE, SOURCE)
    assert [len(norms[name]) for name in ("encoder", "decoder", "all")] == [2, 2, 1]
    squares = sum(float((p.grad**2).sum()) for p in model.parameters() if p.grad is not None)
    assert norms["all"][0] == pytest.approx(math.sqrt(squares), rel=1e-4)
    top = model.decoder.layers[1].feed_forward
    assert norms["decoder"][1] == pytest.approx(
        math.sqrt(sum(float((p.grad**2).sum()) for p in top.parameters())), rel=1e-4
    )


def test_by_hand_on_one_vector() -> None:
    # Mean 2, deviations -1, 0, 1; variance 2/3.
    x = torch.tensor([1.0, 2.0, 3.0])
    y = by_hand(x, torch.tensor([1.0, 1.0, 2.0]), torch.tensor([0.0, 5.0, 0.0]), 0.0)
    torch.testing.assert_close(y, torch.tensor([-math.sqrt(1.5), 5.0, 2 * math.sqrt(1.5)]))


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_all_placements_start_from_the_same_matrices(placement: str) -> None:
    model, plain = placed(CONFIG, placement, seed=3), placed(CONFIG, "post-norm", seed=3)
    for name, parameter in plain.named_parameters():
        other = dict(model.named_parameters()).get(name)
        assert other is None or torch.equal(parameter, other)
        assert other is not None or "residual.norm" in name


def test_mean_cosine_of_pairs_by_hand() -> None:
    # Pairs: (1, 0) and (0, 2) are at a right angle, (3, 0) lies along the first; mean of 0, 1 and 0.
    assert mean_cosine(torch.tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]])) == pytest.approx(1 / 3)
