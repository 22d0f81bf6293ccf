"""The fast encoder-decoder gives the readable one's outputs and gradients."""

from __future__ import annotations

import pytest
import torch

from annotated_book.why.before_2017.experiment import Kind, build, draw, train
from annotated_book.why.before_2017.quick_recurrence import quick


@pytest.mark.parametrize("kind", ["plain", "attention"])
def test_outputs_and_gradients_are_the_readable_models(kind: Kind) -> None:
    torch.manual_seed(0)
    model = build(kind).double()
    source, target = draw(3, 6, "copy", torch.Generator().manual_seed(1))
    torch.set_default_dtype(torch.double)  # states start as zeros of the default kind
    try:
        found = []
        for _ in range(2):
            model.zero_grad()
            logits = model(source, target)
            logits.sin().sum().backward()
            gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
            found.append([logits.detach(), *gradients])
            quick(model)
    finally:
        torch.set_default_dtype(torch.float)
    assert len(found[0]) == len(found[1]) > 10
    for readable, fast in zip(*found, strict=True):
        torch.testing.assert_close(fast, readable)


def test_training_takes_the_same_course() -> None:
    losses = [train("plain", updates=5, longest=4, prepare=prepare)[1] for prepare in (lambda m: m, quick)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][-1] < losses[0][0]
