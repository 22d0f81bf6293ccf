"""Checks of ex35-3: distributions small enough to list all sentences.

Paper: section 3.1
"""

import itertools
import math
from typing import Any

from annotated_grader import Case, Student, expect, graded

Joint = dict[tuple[int, ...], float]


def random_joint(case: Case, length: int, targets: int) -> Joint:
    """Some targets with unequal probabilities."""
    rows: set[tuple[int, ...]] = set()
    while len(rows) < targets:
        rows.add(tuple(case.integers(3, 6, length).tolist()))
    weights = [0.2 + float(x) for x in case.uniform(targets)]
    return {row: weight / sum(weights) for row, weight in zip(sorted(rows), weights, strict=True)}


def place(joint: Joint, t: int) -> dict[int, float]:
    """The marginal of a place."""
    tokens = sorted({target[t] for target in joint})
    return {token: math.fsum(p for target, p in joint.items() if target[t] == token) for token in tokens}


def sentences(joint: Joint) -> Joint:
    """Every sentence that independent draws can form, with its probability."""
    length = len(next(iter(joint)))
    places = [place(joint, t) for t in range(length)]
    return {
        row: math.prod(places[t][token] for t, token in enumerate(row))
        for row in itertools.product(*(sorted(one) for one in places))
    }


@graded(points=2, levels=3)
def tokens_of_each_place(student: Student, case: Case) -> None:
    """A place's distribution adds up the targets that have a token there."""
    joint = random_joint(case, 2 + case.level, 3 + case.between(0, 2))
    length = len(next(iter(joint)))
    got: Any = student.call("marginals", joint)
    right = isinstance(got, list | tuple) and len(got) == length and all(isinstance(one, dict) for one in got)
    expect.true(right, f"marginals returns a list of {length} dictionaries", result=got)
    for t in range(length):
        expected = place(joint, t)
        seen = {token: p for token, p in got[t].items() if p}
        expect.equal(sorted(seen), sorted(expected), f"the tokens of place {t + 1}", joint=joint)
        for token, p in expected.items():
            expect.number(seen[token], p, f"the probability of {token} at place {t + 1}", joint=joint)


@graded(points=2, levels=3)
def best_token_of_each_place(student: Student, case: Case) -> None:
    """The most probable tokens, which need not form the most probable target, nor any."""
    a, b, c, d, e = (3 + int(x) for x in case.permutation(5))
    share = 0.26 + 0.06 * float(case.uniform(1))
    joint = {(a, b): 0.4, (c, d): share, (c, e): 0.6 - share}
    got: Any = student.call("parallel_choice", joint)
    expect.equal(list(got), [c, b], "the choice", joint=joint)
    low, high = sorted((a, b))
    got = student.call("parallel_choice", {(high, low): 0.5, (low, high): 0.5})
    expect.equal(list(got), [low, low], "the choice between equals", tokens=[low, high])


@graded(points=2, levels=3)
def how_often_it_is_a_target(student: Student, case: Case) -> None:
    """Over all sentences that draws can form, the share of the targets."""
    joint = random_joint(case, 2 + case.level, 3 + case.between(0, 2))
    expected = math.fsum(p for row, p in sentences(joint).items() if row in joint)
    expect.number(student.call("chance_of_valid", joint), expected, "the chance of a target", joint=joint)


@graded(points=3, levels=3)
def nats_for_each_target(student: Student, case: Case) -> None:
    """The mean over targets of what the parallel model pays more, target by target."""
    joint = random_joint(case, 2 + case.level, 3 + case.between(0, 2))
    drawn = sentences(joint)
    expected = math.fsum(p * (math.log(p) - math.log(drawn[row])) for row, p in joint.items())
    expect.number(student.call("price", joint), expected, "the price in nats", joint=joint)


@graded(points=1, levels=2)
def independent_places_cost_nothing(student: Student, case: Case) -> None:
    """Where all combinations occur with the product of their probabilities, nothing is lost."""
    p, q = (0.2 + 0.6 * float(x) for x in case.uniform(2))
    joint = {(3 + i, 5 + j): (p, 1 - p)[i] * (q, 1 - q)[j] for i in (0, 1) for j in (0, 1)}
    expect.number(student.call("price", joint), 0.0, "the price in nats", joint=joint)
    expect.number(student.call("chance_of_valid", joint), 1.0, "the chance of a target", joint=joint)
