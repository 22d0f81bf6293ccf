"""The tasks and tables are what they are called, and the records hold what the chapter says."""

from __future__ import annotations

import pytest
import torch

from annotated_book import recorded
from annotated_book.machine.positions.experiment import (
    KINDS,
    Tagger,
    accuracy,
    compare,
    own_index,
    position_table,
    reverse,
    sort,
    train_tagger,
    with_start,
)
from annotated_book.machine.positions.extrapolation import KINDS as PAST
from annotated_book.machine.positions.extrapolation import TESTED, previous, train_one


def test_tasks_by_hand() -> None:
    ids = torch.tensor([[3, 1, 2]])
    assert reverse(ids).tolist() == [[2, 1, 3]]
    assert sort(ids).tolist() == [[1, 2, 3]]
    assert own_index(ids).tolist() == [[0, 1, 2]]
    assert previous(ids).tolist() == [[0, 3, 1]]
    start = with_start(50, 5)
    assert start[:, 0].tolist() == [0] * 50 and start[:, 1:].min() >= 1


def test_tables_are_what_they_are_called() -> None:
    tables = {kind: position_table(kind, 6, 8) for kind in KINDS}
    assert all(table.shape == (6, 8) for table in tables.values())
    assert tables["raw integer"][5].tolist() == [5.0] * 8
    assert torch.equal(tables["one constant"][0], tables["one constant"][5])
    assert [kind for kind, table in tables.items() if table.requires_grad] == ["learned", "learned, small"]
    with pytest.raises(ValueError, match="rotary"):
        position_table("rotary")


@pytest.mark.parametrize("causal", [True, False])
def test_a_tagger_sees_the_future_only_without_the_causal_mask(causal: bool) -> None:
    torch.manual_seed(0)
    model = Tagger(position_table("waves", 6, 16), causal, width=16)
    ids = torch.tensor([[1, 2, 3, 4]])
    changed = torch.tensor([[1, 2, 3, 9]])
    assert torch.allclose(model(ids)[:, :3], model(changed)[:, :3], atol=1e-6) == causal
    assert not torch.allclose(model(ids), model(ids, start=2))


def test_runs_repeat_and_learning_helps() -> None:
    assert compare("waves", sort, 1, steps=3) == compare("waves", sort, 1, steps=3)
    torch.manual_seed(0)
    model = Tagger(position_table("waves"))
    ids = torch.randint(16, (64, 16))
    before = accuracy(model, sort, ids)
    train_tagger(model, sort, 40)
    assert accuracy(model, sort, ids) > before + 0.1


def test_a_row_past_the_training_length_can_be_read_at_all() -> None:
    assert train_one("waves, random start", 0, steps=1)(torch.zeros(1, TESTED, dtype=torch.int64)).shape[1] == TESTED
    with pytest.raises(ValueError, match="no kind"):
        train_one("rotary", 0)


def test_records_have_every_kind_and_seed() -> None:
    compared, past = recorded("positions").results, recorded("positions/extrapolation").results
    for task in ("reverse", "sort"):
        assert list(compared["accuracy"][task]) == list(KINDS)
        assert all(len(v) == compared["setting"]["seeds"] for v in compared["accuracy"][task].values())
    assert list(past["curves"]) == list(PAST)
    assert all(len(run) == TESTED for runs in past["curves"].values() for run in runs)
