"""Checks of ex07-4: the mask, the shift, and what each is good for.

Paper: sections 3.1, 3.2.3
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def slots(length: int, shift: int) -> list[int | None]:
    """The token that each slot reads, or None for a start token: pushed in from the left, one after another."""
    row: list[int | None] = list(range(length))
    for _ in range(shift):
        row = [None, *row[:-1]]
    return row


def seen(length: int, masked: bool, shift: int) -> Tensor:
    """Slot by slot: the tokens among those that slot i may look at."""
    row = slots(length, shift)
    allowed = [set(row[: i + 1] if masked else row) for i in range(length)]
    return torch.tensor([[j in tokens for j in range(length)] for tokens in allowed])


def batch(case: Case) -> tuple[list[list[int]], dict[str, int]]:
    """Sentences of different lengths, and special ids that change from case to case."""
    longest = case.between(3, 6)
    sizes = [longest - 2, longest] + [case.between(1, longest - 1)] * case.level
    bos, eos, pad = (0, 1, 2) if case.level == 0 else case.permutation(4)[:3].tolist()
    return [case.integers(10, 90, n).tolist() for n in sizes], {"bos": bos, "eos": eos, "pad": pad}


def rows(student: Student, case: Case, which: int) -> tuple[Any, Tensor, dict[str, Any]]:
    """What the answer gives, and what each row must be: sentence by sentence, token by token."""
    sentences, special = batch(case)
    result = student.call("teacher_forcing", sentences, **special)
    expect.true(
        isinstance(result, tuple | list) and len(result) == 2, "expected (target_in, target_out)", result=result
    )
    expected = torch.full((len(sentences), max(map(len, sentences)) + 1), special["pad"])
    for b, ids in enumerate(sentences):
        expected[b, 0 if which == 0 else len(ids)] = special["bos" if which == 0 else "eos"]
        for place, token in enumerate(ids):
            expected[b, place + 1 - which] = token
    return result[which], expected, {"sentences": sentences, **special}


@graded(points=2, levels=3, claim="C22")
def reads_the_shifted_target(student: Student, case: Case) -> None:
    """The decoder reads the start token and then the target, padded."""
    got, expected, inputs = rows(student, case, 0)
    expect.equal(got, expected, "target_in", **inputs)


@graded(points=2, levels=3, claim="C22")
def writes_the_target(student: Student, case: Case) -> None:
    """It has to write the target and then the end token, padded."""
    got, expected, inputs = rows(student, case, 1)
    expect.equal(got, expected, "target_out", **inputs)


def compare_visible(student: Student, case: Case, masked: bool) -> None:
    """All three shifts, one length."""
    length, shifts = case.between(4, 7), (1, 0, 2)
    results = [student.call("visible", length, masked, shift) for shift in shifts]  # all are asked before any is judged
    for got, shift in zip(results, shifts, strict=True):
        name = f"visible({length}, masked={masked}, shift={shift})"
        expect.equal(got, seen(length, masked, shift), name, slot_reads=str(slots(length, shift)))


@graded(points=2, levels=2, claim="C14")
def with_the_mask(student: Student, case: Case) -> None:
    """With the mask, what a slot sees depends on the shift."""
    compare_visible(student, case, True)


@graded(points=2, levels=2, claim="C14")
def without_the_mask(student: Student, case: Case) -> None:
    """Without the mask, the shift hides nothing but the tokens that it pushes out."""
    compare_visible(student, case, False)


@graded(points=2, levels=2, claim="C14")
def best_loss_on_noise(student: Student, case: Case) -> None:
    """Only slots that cannot see their own token have to guess."""
    length, vocabulary = case.between(4, 9), case.between(8, 40)
    settings = ((True, 1), (False, 1), (True, 0), (False, 0), (True, 2), (False, 2))
    results = [student.call("noise_loss", length, vocabulary, *setting) for setting in settings]
    for got, (masked, shift) in zip(results, settings, strict=True):
        own = seen(length, masked, shift)
        losses = [0.0 if own[i, i] else math.log(vocabulary) for i in range(length)]
        expect.number(got, sum(losses) / length, f"noise_loss({length}, {vocabulary}, masked={masked}, shift={shift})")
