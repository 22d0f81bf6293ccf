"""Faults of pairs and of models are what they are called, and the record tells which of them a check finds."""

from __future__ import annotations

import math

import torch

from annotated.config import tiny
from annotated.data import collate_ids
from annotated.model import Transformer
from annotated_book import recorded
from annotated_book.training.first_run.memorisation import (
    FAULTS,
    TRAINED,
    broken,
    learned,
    mispaired,
    plain_loss,
    without_gradient,
)

PAIRS = [([10 + n], [20 + n]) for n in range(8)]


def model(fault: str) -> Transformer:
    torch.manual_seed(0)
    return broken(Transformer(tiny(vocab_size=40, dropout=0.0, num_encoder_layers=1, num_decoder_layers=1)), fault)


def test_two_faults_give_each_target_another_source_and_keep_all_of_both() -> None:
    right = dict(zip(range(20, 28), range(10, 18), strict=True))
    for fault in FAULTS:
        pairs = mispaired(PAIRS, fault)
        assert [target for _, target in pairs] == [target for _, target in PAIRS]
        assert sorted(source for source, _ in pairs) == [source for source, _ in PAIRS]
        wrong = sum(right[target[0]] != source[0] for source, target in pairs)
        assert (wrong == 8) if fault == "shifted" else (wrong > 4) if fault == "shuffled" else wrong == 0
    assert mispaired(PAIRS, "shifted")[0] == ([11], [20]) and mispaired(PAIRS, "shifted")[-1] == ([10], [27])


def test_a_gradient_is_missing_where_a_part_is_frozen_or_cut_off() -> None:
    batch = collate_ids(PAIRS)
    for fault, part in {
        "none": None, "shifted": None, "encoder_frozen": "encoder", "encoder_cut": "encoder",
        "decoder_frozen": "decoder",
    }.items():  # fmt: skip
        one = model(fault)
        wanted = [name for name, _ in one.named_parameters() if part and name.startswith(f"{part}.")]
        assert without_gradient(one, batch) == wanted and bool(wanted) == bool(part)


def test_the_plain_loss_is_the_mean_over_tokens_and_not_over_batches() -> None:
    one = model("none").eval()
    with torch.no_grad():
        one.output_weight.zero_()  # all logits are equal: ln 40 for each of the tokens
    short, long = collate_ids(PAIRS[:1]), collate_ids([([1], [20, 21, 22])])
    assert abs(plain_loss(one, [short, long]) - math.log(40)) < 1e-5
    one = model("none").eval()
    (few,), (many,) = ([plain_loss(one, [batch])] for batch in (short, long))
    assert abs(plain_loss(one, [short, long]) - (2 * few + 4 * many) / 6) < 1e-5, "with the end token 2 and 4 tokens"


def test_a_cut_or_frozen_encoder_does_not_move_and_the_loss_falls_all_the_same() -> None:
    for fault in ("encoder_frozen", "encoder_cut"):
        one = model(fault)
        before = {name: value.clone() for name, value in one.named_parameters()}
        first, last = learned(one, collate_ids(PAIRS), 1), learned(one, collate_ids(PAIRS), 40)
        moved = {name for name, value in one.named_parameters() if not torch.equal(value, before[name])}
        assert moved == {name for name in before if not name.startswith("encoder.")}
        assert last < first - 0.5


def test_in_the_record_only_a_frozen_decoder_fails_and_translating_finds_the_others() -> None:
    results = recorded("first_run/memorisation").results
    assert tuple(results["faults"]) == FAULTS and tuple(results["trained"]) == TRAINED
    assert {name for name, one in results["faults"].items() if one["loss"] >= 0.1} == {"decoder_frozen"}
    runs = results["trained"]
    assert runs["shifted"]["exact"] < 0.02 < 0.4 < runs["none"]["exact"]
    assert abs(runs["shifted"]["exchanged_loss"] - runs["shifted"]["valid_loss"]) < 0.05
    assert runs["none"]["exchanged_loss"] > runs["none"]["valid_loss"] + 1
