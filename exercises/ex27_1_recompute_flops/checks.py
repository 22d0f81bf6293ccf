"""Checks of ex27-1: both ways to FLOPs against products written out one by one, and the front against a sweep.

Paper: sections 5.2, 6.1, Table 2
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

RATES = (9.5e12, 2.8e12, 3.7e12, 6.0e12)


def products(tokens: int, d: int, f: int, layers: int, V: int) -> int:
    """Forward operations: each matrix of the model as (rows it reads, in, out), two operations each."""
    attention = [(tokens, d, d)] * 4
    feed_forward = [(tokens, d, f), (tokens, f, d)]
    every = layers * (attention + feed_forward) + layers * (attention + attention + feed_forward) + [(tokens, d, V)]
    return sum(2 * rows * n * m for rows, n, m in every)


def count(student: Student, updates: int, tokens: int, d: int, f: int, layers: int, V: int) -> float:
    """What the answer counts."""
    got: Any = student.call("by_counting", updates, tokens, d, f, layers, V)
    expect.true(isinstance(got, (int, float)), "by_counting returns a number")
    return float(got)


@graded(points=1, levels=2, claim="C38")
def time_times_machines(student: Student, case: Case) -> None:
    """By time: seconds, GPUs and the rate of one are multiplied."""
    hours, gpus, rate = 12 + 7 * case.level + case.between(0, 50), case.between(8, 96), case.choice(RATES)
    got = student.call("by_time", hours, gpus, rate)
    expect.number(got, hours * 60 * 60 * gpus * rate, "FLOPs by time", rtol=1e-6, hours=hours, gpus=gpus, rate=rate)


@graded(points=2, levels=2)
def one_layer_each(student: Student, case: Case) -> None:
    """One layer on each side, one update: every matrix is counted once forward and twice backward."""
    d, f, V = 4 + case.between(0, 5), 7 + case.between(0, 6), 11 + case.between(0, 9)
    got = count(student, 1, 1, d, f, 1, V)
    expect.number(got, 3 * products(1, d, f, 1, V), "FLOPs of one update", rtol=1e-9, d=d, f=f, layers=1, V=V)


@graded(points=2, levels=3)
def any_training(student: Student, case: Case) -> None:
    """Any training: updates, tokens and layers multiply what has to be multiplied, and nothing else."""
    d, f, V = 64 + case.between(0, 40), 130 + case.between(0, 90), 500 + case.between(0, 400)
    layers, tokens, updates = 2 + case.between(0, 4), 30 + case.between(0, 90), 5 + case.between(0, 7)
    got = count(student, updates, tokens, d, f, layers, V)
    expected = 3 * updates * products(tokens, d, f, layers, V)
    shape = {"updates": updates, "tokens": tokens, "d": d, "f": f, "layers": layers, "V": V}
    expect.number(got, expected, "FLOPs of the training", rtol=1e-9, **shape)


def swept(rows: list[tuple[str, float, float]]) -> list[str]:
    """The front by a sweep from cheap to dear: a row stays if it has more BLEU than all before it."""
    found, best = [], float("-inf")
    for cost in sorted({r[2] for r in rows}):
        here = max(r[1] for r in rows if r[2] == cost)
        if here > best:
            found += [r[0] for r in rows if r[2] == cost and r[1] == here]
            best = here
    return sorted(found)


def check_front(student: Student, rows: list[tuple[str, float, float]]) -> None:
    """The names, whatever their order."""
    got: Any = student.call("front", rows)
    expect.true(isinstance(got, (set, list, tuple)), "front returns a set of names", rows=rows)
    expect.equal(sorted(got), swept(rows), "the names on the front", rows=rows)


@graded(points=2, levels=3, claim="C39")
def nobody_beats_these(student: Student, case: Case) -> None:
    """The front keeps what is best for its cost, and nothing else."""
    bleu = [24.0 + 0.5 * int(k) for k in case.permutation(6 + case.level)]
    costs = [1e18 * 3.0 ** int(k) for k in case.permutation(6 + case.level)]
    rows = [(f"system {n}", b, c) for n, (b, c) in enumerate(zip(bleu, costs, strict=True))]
    check_front(student, [*rows, ("the best for a fortune", 40.0, 1e24)])


@graded(points=1, levels=2, claim="C39")
def ties(student: Student, case: Case) -> None:
    """Equal BLEU for more is beaten, equal cost with less too; two equal rows are both kept."""
    low, high = 25.0 + case.between(0, 3), 29.0 + case.between(0, 3)
    rows = [
        ("a", low, 2e18),
        ("b", low, 5e18),
        ("c", high, 5e19),
        ("d", low, 5e19),
        ("e", high, 5e19),
        ("f", low + 0.5, 5e19),
    ]
    check_front(student, rows)


@graded(points=1)
def of_the_base_model(student: Student, case: Case) -> None:
    """The share of the printed cost that the base model needed."""
    seconds = 12 * 3600
    needed = 3 * 100_000 * products(25_000, 512, 2048, 6, 37_000)
    expect.number(student.value("base_share"), needed / (8 * 9.5e12 * seconds), "base_share", rtol=2e-3)
