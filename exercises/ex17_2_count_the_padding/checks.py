"""Checks of ex17-2: the padding of given batches.

Paper: section 5.1
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

LENGTHS = [5, 30, 7, 28, 6, 33, 9, 26, 8, 31, 4, 25]


def draw(case: Case) -> tuple[list[int], list[list[int]]]:
    """Lengths, and batches of unequal size; the longest sentence of all is in no batch."""
    n = 5 if case.level == 0 else 9 + case.between(0, 8)
    lengths = case.integers(2, 40, n).tolist()
    order = [int(i) for i in case.permutation(n)]
    cut = 2 + case.between(0, 2)
    batches = [order[:1], order[1:cut], order[cut:]]
    return [*lengths, 50 + case.between(0, 9)], batches


def asked(student: Student, lengths: list[int], batches: list[list[int]]) -> list[Any]:
    """The answer's two numbers."""
    got = student.call("padding", lengths, batches)
    pair = isinstance(got, list | tuple) and len(got) == 2
    expect.true(pair, "`padding` must return two numbers, the cells and their share", got=got)
    return list(got)


def empty(lengths: list[int], batches: list[list[int]]) -> tuple[int, int]:
    """Empty cells and all cells, cell by cell."""
    free = total = 0
    for batch in batches:
        width = sorted(lengths[i] for i in batch)[-1]
        for i in batch:
            free += sum(place >= lengths[i] for place in range(width))
            total += width
    return free, total


@graded(points=2, levels=3)
def cells(student: Student, case: Case) -> None:
    """The cells of padding, over all batches."""
    lengths, batches = draw(case)
    free, _ = empty(lengths, batches)
    expect.equal(asked(student, lengths, batches)[0], free, "the cells of padding", lengths=lengths, batches=batches)


@graded(points=2, levels=3)
def share(student: Student, case: Case) -> None:
    """Their share of all cells."""
    lengths, batches = draw(case)
    free, total = empty(lengths, batches)
    got = asked(student, lengths, batches)[1]
    expect.number(got, free / total, "the share of padding", lengths=lengths, batches=batches)


@graded(points=1, levels=1)
def twelve_sentences_in_order(student: Student, case: Case) -> None:
    """The padding of twelve sentences as they come."""
    batches = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    expect.number(student.value("in_order"), empty(LENGTHS, batches)[0], "in_order")


@graded(points=1, levels=1)
def twelve_sentences_sorted(student: Student, case: Case) -> None:
    """The padding of the same sentences after sorting."""
    order = sorted(range(12), key=LENGTHS.__getitem__)
    expect.number(student.value("when_sorted"), empty(LENGTHS, [order[:4], order[4:8], order[8:]])[0], "when_sorted")


@graded(points=1, levels=1)
def a_fixed_width(student: Student, case: Case) -> None:
    """The padding of the same sentences at a fixed width of 72."""
    expect.number(student.value("fixed"), sum(72 - length for length in LENGTHS), "fixed")


@graded(points=1, levels=1)
def equal_sentences_unequal_work(student: Student, case: Case) -> None:
    """Cells of the last sorted batch over those of the first."""
    in_rows = sorted(LENGTHS)
    expect.number(student.value("work_ratio"), in_rows[11] / in_rows[3], "work_ratio", rtol=0.005)
