"""The copying experiment: its data, its measures on models whose answer is known, and what its record must hold."""

from __future__ import annotations

import pytest
import torch

from annotated.config import BOS, EOS
from annotated_book import recorded
from annotated_book.why.before_2017.experiment import (
    FIRST,
    VOCAB,
    accuracy,
    alignments,
    build,
    draw,
    probe,
    train,
    write,
)


def test_draw_ends_in_eos_and_turns_around() -> None:
    source, target = draw(5, 7, "reverse", torch.Generator().manual_seed(0))
    assert source.shape == (5, 8) and (source[:, -1] == EOS).all()
    assert torch.equal(target, source[:, :-1].flip(1))
    assert int(target.min()) >= FIRST and int(target.max()) < VOCAB


def test_models_are_of_one_size() -> None:
    sizes = [sum(p.numel() for p in build(kind).parameters()) for kind in ("plain", "attention", "transformer")]
    assert max(sizes) / min(sizes) < 1.03


def test_the_transformer_writes_what_it_would_predict_from_its_own_letters() -> None:
    torch.manual_seed(0)
    model, (source, _) = build("transformer").eval(), draw(3, 5, "copy", torch.Generator().manual_seed(1))
    written = write(model, source, 4)
    target_in = torch.cat([written.new_full((3, 1), BOS), written[:, :-1]], dim=1)
    assert torch.equal(model(source, target_in).argmax(-1), written)


def test_an_untrained_model_guesses_and_training_helps() -> None:
    torch.manual_seed(0)
    assert accuracy(build("attention").eval(), 4)[0] < 0.25
    model, losses = train("attention", updates=30, longest=3)
    assert sum(losses[-5:]) < sum(losses[:5]) and not model.training
    assert losses == train("attention", updates=30, longest=3)[1]


def test_the_probe_finds_a_letter_where_it_is_and_not_where_it_is_not() -> None:
    torch.manual_seed(0)
    model = build("attention").eval()
    assert min(probe(model, 6, "own", count=900)) > 0.9  # type: ignore[arg-type]
    model.backward_reader.from_input.weight.data.zero_()  # type: ignore[union-attr, operator]
    model.forward_reader.from_input.weight.data.zero_()  # type: ignore[union-attr, operator]
    assert max(probe(model, 6, "own", count=900)) < 0.2  # type: ignore[arg-type]


def test_alignments_are_rows_of_weights() -> None:
    torch.manual_seed(0)
    (row,) = alignments(build("attention").eval(), (3,))  # type: ignore[arg-type]
    assert row["source"][-1] == "." and len(row["written"]) == 3
    for start in (0, 4, 8):
        assert sum(row["weights"][start : start + 4]) == pytest.approx(1000, abs=2)


def test_the_record_is_whole() -> None:
    found = recorded("before_2017").results
    seeds = [(run["model"], run["seed"]) for run in found["runs"]]
    assert len(set(seeds)) == len(seeds)
    assert all(len(run["symbols"]) == len(run["whole"]) == len(found["lengths"]) for run in found["runs"])
    assert all(s >= w for run in found["runs"] for s, w in zip(run["symbols"], run["whole"], strict=True))
