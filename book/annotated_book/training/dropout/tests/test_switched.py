"""The switches of chapter 21: what symbol dropout changes, and that every combination is trained."""

from __future__ import annotations

import torch

from annotated.config import BOS, EOS, PAD, UNK
from annotated.data.batch import collate_ids
from annotated_book.training.dropout.switched import RATES, combination, combinations, drop_symbols


def test_symbols_are_dropped_from_the_inputs_only() -> None:
    batch = collate_ids([([5] * 40, [6] * 40), ([7] * 10, [8] * 10)])
    dropped = drop_symbols(batch, 0.5, torch.Generator().manual_seed(0))
    for name in ("source", "target_in"):
        before, after = getattr(batch, name), getattr(dropped, name)
        changed = before != after
        assert 0.3 < changed.sum() / (before >= BOS).sum() < 0.7
        assert (after[changed] == UNK).all()
        assert torch.equal(before == PAD, after == PAD) and torch.equal(before == EOS, after == EOS)
    assert torch.equal(dropped.target_out, batch.target_out)
    same = drop_symbols(batch, 0.0, torch.Generator())
    assert torch.equal(same.source, batch.source) and torch.equal(same.target_in, batch.target_in)


def test_every_combination_is_one_of_eight() -> None:
    every = combinations()
    assert len(every) == 8 == len({tuple(on.values()) for on in every})
    assert all(list(on) == list(RATES) for on in every)


def test_a_combination_repeats_and_tells_what_was_on() -> None:
    on = {"residual": True, "attention": False, "symbol": True}
    first, again = (combination(on, updates=4, block=2) for _ in range(2))
    assert first == again and first["on"] == ["residual", "symbol"] and len(first["valid"]) == 2
    assert first["valid"] != combination({**on, "symbol": False}, updates=4, block=2)["valid"]
