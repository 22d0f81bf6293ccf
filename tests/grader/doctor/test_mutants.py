"""The bank of known-wrong Transformers: each does what it says, is found by the doctor, and leaves nothing behind."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import yaml

from annotated.decoding import greedy_decode
from annotated.model import MultiHeadAttention, attention
from annotated.model.attention import scaled_dot_product_attention
from annotated_grader.doctor import examine, mutants
from annotated_grader.doctor.invariants import INVARIANTS
from annotated_grader.doctor.mutants.patching import Bank, Patches

LEDGER = Path(__file__).resolve().parents[3] / "book" / "_data" / "claims.yaml"
SOURCE, TARGET = torch.tensor([[5, 6, 4, 2], [7, 2, 0, 0]]), torch.tensor([[1, 4, 6], [1, 5, 0]])


def library() -> dict[str, dict[str, int]]:
    """Which object stands under every name of the library's modules and classes."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "annotated" and isinstance(module, types.ModuleType):
            found[name] = {key: id(value) for key, value in vars(module).items() if not key.startswith("__")}
            for key, value in vars(module).items():
                if isinstance(value, type) and value.__module__ == name:
                    found[f"{name}.{key}"] = {k: id(v) for k, v in vars(value).items() if not k.startswith("__")}
                    found[f"{name}.{key}"]["__init__"] = id(vars(value).get("__init__"))
    return found


def differences(before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]) -> list[str]:
    """What changed, in modules that were there before."""
    return [name for name in before if before[name] != after[name]]


# The doctor finds every one


def test_the_doctor_kills_a_mutant_by_exactly_what_is_recorded() -> None:
    """One of them; `make exercises` examines them all."""
    before, mutant = library(), mutants.MUTANTS[40]
    with mutants.switched_on(mutant.id):  # once for all the capabilities
        findings = examine(mutants.subject(mutant.id)).findings
    assert not differences(before, library())
    assert {f.id: f.measured for f in findings if f.outcome == "error"} == {}
    failed = {f.id: f.measured for f in findings if f.outcome == "failed"}
    assert set(failed) == set(mutant.killed_by), failed


def test_afterwards_the_healthy_model_is_cleared_still() -> None:
    """What one of them left would be there at the end: the others put back what they find."""
    before = library()
    for mutant in mutants.MUTANTS:
        with mutants.switched_on(mutant.id):
            pass
    assert not differences(before, library())
    report = examine(mutants.healthy())
    assert {finding.outcome for finding in report.findings} == {"passed"}


# The bank


def test_the_bank_is_in_order() -> None:
    ids = [mutant.id for mutant in mutants.MUTANTS]
    claims = set(yaml.safe_load(LEDGER.read_text(encoding="utf-8")))
    assert len(ids) == len(set(ids)) >= 40
    for mutant in mutants.MUTANTS:
        assert mutant.sentence.endswith(".") and mutant.sentence[0].isupper(), mutant
        assert mutant.claim in claims or mutant.claim == "", mutant
        assert mutant.killed_by and set(mutant.killed_by) <= set(INVARIANTS), mutant
        assert len(mutant.killed_by) == len(set(mutant.killed_by)), mutant
        assert not mutant.source.endswith("."), mutant
    assert len({mutant.sentence for mutant in mutants.MUTANTS}) == len(ids)


def test_the_table_has_a_row_for_each() -> None:
    rows = mutants.table()
    assert [row["id"] for row in rows] == [mutant.id for mutant in mutants.MUTANTS]
    first = mutants.MUTANTS[0]
    assert rows[0] == {
        "theme": "masks",
        "id": first.id,
        "claim": first.claim,
        "sentence": first.sentence,
        "source": first.source,
        "killed_by": ", ".join(first.killed_by),
    }


def test_find_names_what_there_is() -> None:
    assert mutants.find("mask_fill_tiny").claim == "C01"
    with pytest.raises(ValueError, match="no mutant 'mask_fil_tiny'; there are mask_fill_tiny, .*bleu_teacher_forced"):
        mutants.find("mask_fil_tiny")
    with pytest.raises(ValueError, match="no mutant"), mutants.switched_on("nothing"):
        pass


# On and off


def test_a_mistake_is_made_inside_and_nowhere_else() -> None:
    """-1e-12 in place of minus infinity: with equal scores, the hidden second key gets half of the weight."""
    q = torch.ones(1, 1, 1, 4)
    k = v = torch.ones(1, 1, 2, 4)
    mask = torch.tensor([True, False])
    with mutants.switched_on("mask_fill_tiny"):
        zero_scores = attention.scaled_dot_product_attention(0 * q, k, v, mask)[1]
        assert zero_scores.flatten().tolist() == [0.5, 0.5]
    assert attention.scaled_dot_product_attention(0 * q, k, v, mask)[1].flatten().tolist() == [1.0, 0.0]


def test_everything_is_put_back_after_an_error() -> None:
    before = library()
    with pytest.raises(KeyError), mutants.switched_on("heads_read_slices"):
        assert differences(before, library())
        raise KeyError
    assert not differences(before, library())


def test_a_mutant_that_fails_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bank = Bank()

    @bank.mutant("It replaces a method, and then it breaks.", "shift")
    def broken(patches: Patches) -> None:
        patches.attribute(MultiHeadAttention, "_split_heads", None)
        raise OSError("no more")

    monkeypatch.setattr(mutants, "MUTANTS", tuple(bank.mutants))
    before = library()
    with pytest.raises(OSError), mutants.switched_on("broken"):
        pass
    assert not differences(before, library())
    monkeypatch.undo()
    with mutants.switched_on("scale_missing"):  # nothing is on any more
        pass


def test_one_mistake_at_a_time() -> None:
    before = library()
    with mutants.switched_on("scale_missing"):
        inside = library()
        with mutants.switched_on("scale_missing"):
            assert not differences(inside, library())
        assert not differences(inside, library())  # leaving the inner block leaves it on
        message = "scale_missing is switched on: switch it off before scale_by_d_k"
        with pytest.raises(RuntimeError, match=message), mutants.switched_on("scale_by_d_k"):
            pass
    assert not differences(before, library())


def test_a_module_that_is_first_imported_inside_is_put_right_too(monkeypatch: pytest.MonkeyPatch) -> None:
    late = types.ModuleType("annotated.imported_late")
    monkeypatch.setitem(sys.modules, late.__name__, late)
    with mutants.switched_on("scale_missing"):
        late.attend = attention.scaled_dot_product_attention  # type: ignore[attr-defined]
        assert late.attend is not scaled_dot_product_attention
    assert late.attend is scaled_dot_product_attention


def test_what_was_inherited_is_inherited_again() -> None:
    class Parent:
        said = "parent"

    class Child(Parent):
        pass

    with Patches() as patches:
        patches.attribute(Child, "said", "child")
        assert Child.said == "child" and Parent.said == "parent"
    assert Child.said == "parent" and "said" not in vars(Child)


# Subjects


def test_a_subject_has_its_mistake_by_itself() -> None:
    """One token too many: the cap is 3 symbols, and greedy search writes 4 unless eos comes first."""
    healthy, wrong = mutants.healthy(), mutants.subject("cap_off_by_one")
    assert wrong.name == "mutant cap_off_by_one"
    longest = max(len(tokens) for tokens in healthy.greedy(SOURCE, 3))
    assert longest <= 3 < max(len(tokens) for tokens in wrong.greedy(SOURCE, 3))
    assert longest == max(len(found.tokens) for found in greedy_decode(healthy.model, SOURCE, 3))


def test_a_fresh_subject_has_the_same_mistake() -> None:
    assert torch.equal(mutants.healthy().logits(SOURCE, TARGET), mutants.healthy().logits(SOURCE, TARGET))
    fresh = mutants.subject("tied_in_name_only").fresh()
    assert fresh.tables().output is not fresh.tables().source
    wrong = mutants.subject("targets_not_shifted").fresh()
    read, write = wrong.shift(torch.tensor([[5, 6, 2]]))
    assert torch.equal(read, write)


@pytest.fixture(autouse=True)
def nothing_is_on() -> Iterator[None]:
    yield
    assert not mutants._on
