"""Checks of ex17-1: batches under a budget of tokens, for the source and for the target.

Paper: section 5.1
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

Pair = tuple[list[int], list[int]]


def lengths(case: Case, long: str = "both") -> Pair:
    """Lengths of sentence pairs; one side may be much the longer."""
    n = 6 + case.between(4, 20)
    source, target = (case.integers(3, 30, n).tolist() for _ in range(2))
    if long == "source":
        target = [max(1, s // 4) for s in source]
    if long == "target":
        source = [max(1, t // 4) for t in target]
    return source, target


def batched(student: Student, source: list[int], target: list[int], budget: int) -> list[list[int]]:
    """The answer's batches: lists of indices that exist, and most of the pairs in them."""
    got: Any = student.call("make_batches", source, target, budget)
    good = isinstance(got, list) and all(isinstance(batch, list | tuple) and len(batch) for batch in got)
    message = "`make_batches` must return a list of batches, none of them empty, each a list of indices"
    expect.true(good, message, source=source, target=target, budget=budget, got=got)
    indices = [i for batch in got for i in batch]
    known = all(type(i) is int and 0 <= i < len(source) for i in indices)
    expect.true(known, message, source=source, target=target, budget=budget, got=got)
    expect.true(len(set(indices)) * 3 > len(source), "most of the pairs are in no batch", got=got, pairs=len(source))
    return [list(batch) for batch in got]


def within(case: Case, student: Student, side: int, name: str) -> None:
    """No rectangle of this side is above the budget, where this side is the longer one."""
    source, target = lengths(case, name)
    if case.level == 0:
        long, short = [4, 9, 4, 5, 10, 4], [1, 2, 1, 1, 2, 1]
        source, target = (long, short) if side == 0 else (short, long)
    budget = 20 if case.level == 0 else 60 + case.between(0, 40)
    for batch in batched(student, source, target, budget):
        mine = [(source, target)[side][i] for i in batch]
        cells = len(mine) * max(mine)
        message = (
            f"a batch with {name} lengths {mine} has {len(mine)} x {max(mine)} = {cells} tokens, the budget is {budget}"
        )
        expect.true(cells <= budget, message, source=source, target=target)


@graded(points=2, levels=3)
def source_within_the_budget(student: Student, case: Case) -> None:
    """On the source side no batch is above the budget, padding included."""
    within(case, student, 0, "source")


@graded(points=2, levels=3)
def target_within_the_budget(student: Student, case: Case) -> None:
    """On the target side no batch is above the budget, padding included."""
    within(case, student, 1, "target")


@graded(points=2, levels=3)
def every_pair_once(student: Student, case: Case) -> None:
    """Every pair is in exactly one batch."""
    source, target = lengths(case)
    indices = sorted(i for batch in batched(student, source, target, 75) for i in batch)
    expect.equal(indices, list(range(len(source))), "the indices of all batches, sorted", source=source, target=target)
    expect.equal(student.call("make_batches", [], [], 75), [], "the batches of no pairs")


@graded(points=2, levels=3)
def sorted_by_length(student: Student, case: Case) -> None:
    """The pairs stand in order of length: the longer side, then source, then target."""
    source, target = lengths(case)
    source[1], target[1] = source[0], target[0]
    got = [i for batch in batched(student, source, target, 90) for i in batch]
    keys = {i: (max(source[i], target[i]), source[i], target[i], i) for i in got}
    expect.equal(got, sorted(got, key=keys.__getitem__), "the order of the pairs", source=source, target=target)


@graded(points=2, levels=3)
def batches_are_full(student: Student, case: Case) -> None:
    """A batch ends only where the next pair would not fit."""
    if case.level == 0:
        source, target, budget = [5, 5, 5, 5, 6, 6], [4, 4, 4, 4, 3, 3], 20
    else:
        source, target = lengths(case)
        source, target, budget = [3, 3, 3, *source], [2, 2, 2, *target], 90
    batches = batched(student, source, target, budget)
    for batch, following in zip(batches, batches[1:], strict=False):
        more = [*batch, following[0]]
        fits = all(len(more) * max(side[i] for i in more) <= budget for side in (source, target))
        pairs = [(source[i], target[i]) for i in batch]
        first = (source[following[0]], target[following[0]])
        message = f"the batch {pairs} ends, though the next pair {first} would fit into a budget of {budget}"
        expect.true(not fits, message, source=source, target=target)


@graded(points=1, levels=2)
def refuses_what_fits_nowhere(student: Student, case: Case) -> None:
    """A pair that is longer than the budget on either side is refused."""
    budget = 20 + case.between(0, 9)
    for source, target in (([5, budget + 1], [5, 6]), ([5, 6], [budget + 1, 5])):
        what = f"make_batches({source}, {target}, {budget})"
        expect.raises(lambda s=source, t=target: student.call("make_batches", s, t, budget), "ValueError", what)
    batched(student, [5, budget], [budget, 6], budget)
