"""Mutants by rule: small changes of the library's own code that matter are found, and others are told apart."""

from __future__ import annotations

import pytest
import torch

from annotated.model import masks
from tests.grader.doctor import by_rule
from tests.grader.doctor.by_rule import Answers, outcome, switched_on
from tests.grader.doctor.source_changes import Change, changes


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers()


def change_to(after: str, module: str = "model.masks") -> Change:
    (change,) = [change for change in changes(module) if change.after == after]
    return change


TOO_WIDE = "return torch.ones(length, length, dtype=torch.bool, device=device).tril(1)[None, None]"
ON_THE_CPU = "return torch.ones(length, length, dtype=torch.bool).tril()[None, None]"
WITHOUT_AXIS = "return torch.ones(length, dtype=torch.bool, device=device).tril()[None, None]"


def test_a_changed_function_is_there_inside_and_nowhere_else() -> None:
    with switched_on(change_to(TOO_WIDE)):
        assert masks.causal_mask(3).int().tolist() == [[[[1, 1, 0], [1, 1, 1], [1, 1, 1]]]]
    assert masks.causal_mask(2).int().tolist() == [[[[1, 0], [1, 1]]]]


def test_what_matters_is_found_and_what_does_not_is_told_apart(answers: Answers) -> None:
    found, without, breaks = (outcome(change_to(after), answers) for after in (TOO_WIDE, ON_THE_CPU, WITHOUT_AXIS))
    assert (found.kind, found.found) == ("found", "leak-by-change")
    assert (without.kind, without.effect) == ("no effect", 0.0)
    assert (breaks.kind, breaks.found) == ("breaks", "RuntimeError")


def test_a_factor_of_the_length_is_found_though_heads_are_as_wide_as_the_first_sentence_is_long(
    answers: Answers,
) -> None:
    after = "scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-2))"
    assert outcome(change_to(after, "model.attention"), answers).found == "attention-scale"


def test_every_choice_that_is_declared_is_a_change_by_rule_and_has_a_reason() -> None:
    made = {str(change) for name in by_rule.FILES for change in changes(name)}
    for reason, declared in by_rule.CHOICES.items():
        assert reason.endswith(".") and set(declared) <= made, set(declared) - made


@pytest.mark.nightly
@pytest.mark.parametrize("name", by_rule.FILES)
def test_nothing_that_changes_an_answer_is_cleared(name: str, answers: Answers) -> None:
    torch.set_num_threads(1)
    assert by_rule.cleared(name, answers) == []
