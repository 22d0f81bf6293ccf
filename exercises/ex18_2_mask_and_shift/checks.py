"""Checks of ex18-2: what each slot of a decoder reads, found from outside.

Paper: sections 3.1, 3.2.3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

SETTINGS = ((True, 1), (True, 0), (False, 1), (False, 0), (True, 2), (False, 2))


def held(length: int, shift: int) -> list[int | None]:
    """The token that each slot reads, None for a start mark: pushed in from the left, one after another."""
    row: list[int | None] = list(range(length))
    for _ in range(shift):
        row = [None, *row[:-1]]
    return row


def expected(length: int, masked: bool, shift: int) -> Tensor:
    """Slot by slot, the tokens among those that it may look at."""
    row = held(length, shift)
    sets = [set(row[: i + 1] if masked else row) for i in range(length)]
    return torch.tensor([[j in one for j in range(length)] for one in sets])


def make(student: Student, case: Case, masked: bool, shift: int, future: float = 1.0) -> tuple[Any, Tensor, int]:
    """A decoder in a box, a target whose tokens repeat, and the size of the vocabulary."""
    length, vocabulary, width = case.between(4, 6), case.between(4, 5) if case.level else 6, 5
    weights = case.uniform(length, length).double() + 0.3
    weights = weights.tril() if masked else weights.tril() + future * weights.triu(1)
    table = case.normal(vocabulary + 1, width, dtype=torch.float64)
    target = case.integers(0, vocabulary, 1, length)
    target[0, 1] = 0  # an id that a careless change leaves as it is
    target[0, 2] = target[0, 0]
    last = case.normal(width, vocabulary, dtype=torch.float64)
    last[:, 0] = 0.0  # the first logit never changes
    return student.given("box", table, weights, last, shift), target, vocabulary


def compare(student: Student, case: Case, settings: Any, future: float = 1.0) -> None:
    """The matrices of some decoders."""
    boxes = [make(student, case, *setting, future) for setting in settings]
    found = [student.call("reads", *one) for one in boxes]
    for got, (_, target, _), (masked, shift) in zip(found, boxes, settings, strict=True):
        name = f"reads(...) of a decoder {'with' if masked else 'without'} a mask, shift {shift}"
        expect.equal(got, expected(target.size(1), masked, shift), name, target=target)


@graded(points=2, levels=2, claim="C14")
def with_the_mask(student: Student, case: Case) -> None:
    """Decoders with the mask, and shifts of 1, 0 and 2."""
    compare(student, case, [s for s in SETTINGS if s[0]])


@graded(points=2, levels=2, claim="C13")
def without_the_mask(student: Student, case: Case) -> None:
    """Decoders without the mask, and shifts of 1, 0 and 2."""
    compare(student, case, [s for s in SETTINGS if not s[0]])


@graded(points=2, levels=1)
def small_leaks(student: Student, case: Case) -> None:
    """The future weighs a thousand-millionth of the past, and is seen all the same."""
    compare(student, case, [(False, 1), (False, 0)], future=1e-9)


@graded(points=2, levels=1, claim="C22")
def who_cheats(student: Student, case: Case) -> None:
    """The slots that see their own answer, in all six decoders."""
    boxes = [make(student, case, *setting) for setting in SETTINGS]
    found = [student.call("cheating_slots", *one) for one in boxes]
    for got, (_, target, _), (masked, shift) in zip(found, boxes, SETTINGS, strict=True):
        row = held(target.size(1), shift)
        slots = [i for i in range(len(row)) if i in (row[: i + 1] if masked else row)]
        name = f"cheating_slots(...), {'mask' if masked else 'no mask'}, shift {shift}"
        fits = isinstance(got, list | tuple | set) and all(type(i) is int for i in got)
        expect.true(fits, f"{name}: expected a list of whole numbers", result=got)
        expect.equal(sorted(got), slots, name, target=target)


@graded(points=2, levels=1, claim="C14")
def which_decoder(student: Student, case: Case) -> None:
    """Mask and shift, found from outside."""
    boxes = [make(student, case, *setting) for setting in SETTINGS]
    found = [student.call("identify", *one) for one in boxes]
    for got, (_, target, _), setting in zip(found, boxes, SETTINGS, strict=True):
        pair = isinstance(got, list | tuple) and len(got) == 2
        expect.true(pair, "identify must return (masked, shift)", result=got)
        result = [bool(got[0]), got[1]] if isinstance(got[0], bool | int | Tensor) else list(got)
        expect.equal(result, list(setting), f"identify(...) of {setting}", target=target)
