"""Checks of ex02-2: do all sentences sum to one?

Paper: sections 1 and 3
"""

import math

from annotated_grader import Case, Student, expect, graded

LONGEST = 120


def sums(share: float, longest: int) -> list[float]:
    """The probability of all sentences of at most 0, 1, 2 ... words, added up one length after another."""
    found, unfinished, ended = [], 1.0, 0.0
    for _ in range(longest + 1):
        ended += unfinished * share
        unfinished *= 1 - share
        found.append(ended)
    return found


@graded(points=2, levels=3)
def sum_up_to_a_length(student: Student, case: Case) -> None:
    """With a constant share, all sentences of at most n words together have the right probability."""
    share = 0.5 if case.level == 0 else float(case.uniform(1)[0]) * 0.3 + 0.01
    n = case.between(2, 30)
    for longest in (0, 1, n):
        got = student.call("ended_by", share, longest)
        expected = sums(share, longest)[-1]
        expect.number(got, expected, f"all sentences of at most {longest} words", e=share, n=longest)


@graded(points=2, levels=3)
def almost_all(student: Student, case: Case) -> None:
    """Whatever may be left over, there is a length that leaves no more, and you name the smallest."""
    while True:
        share = float(case.uniform(1)[0]) * 0.3 + 0.02
        rest = 0.001 + float(case.uniform(1)[0]) * 0.2 if case.level else 0.25
        steps = math.log(rest) / math.log(1 - share)
        if 0.02 < steps % 1 < 0.98:  # so that rounding cannot decide
            break
    expected = next(n for n, ended in enumerate(sums(share, 1000)) if ended >= 1 - rest)
    got = student.call("longest_needed", share, rest)
    expect.number(got, expected, "the smallest length", atol=0.0, rtol=0.0, e=share, rest=rest)
    got = student.call("longest_needed", 0.9, 0.2)  # the empty sentence alone is enough
    expect.number(got, 0, "the smallest length", atol=0.0, rtol=0.0, e=0.9, rest=0.2)


def shares_of_the_end(student: Student) -> list[float]:
    """The end's share after 0, 1, 2 ... words; each pair must be a distribution."""
    found = []
    for t in range(LONGEST + 1):
        got = student.call("next_distribution", ["a"] * t)
        pair = isinstance(got, list | tuple) and len(got) == 2
        expect.true(pair, f"after {t} words: two numbers are needed, in a list", returned=got)
        for value in got:
            expect.tensor(value, f"a probability after {t} words", (), returned=got)
        expect.true(min(got) >= 0, f"after {t} words: a probability is negative", returned=list(got))
        expect.number(sum(got), 1.0, f"the sum of the two probabilities after {t} words", returned=list(got))
        found.append(float(got[1]))
    return found


@graded(points=3, hidden=0, levels=1)
def some_never_end(student: Student, case: Case) -> None:
    """The sentences sum to less than 0.9, and the sum has settled."""
    unfinished, ended, table = 1.0, 0.0, []
    for share in shares_of_the_end(student):
        ended, unfinished = ended + unfinished * share, unfinished * (1 - share)
        table.append(ended)
    expect.true(ended < 0.9, f"sentences of at most {LONGEST} words sum to {ended:.3f}, which is not below 0.9")
    growth = table[LONGEST] - table[60]
    message = f"the sum still grows, from {table[60]:.4g} at 60 words to {ended:.4g} at 120: it has not settled"
    expect.true(growth < 0.02 * table[60], message)


@graded(points=2, hidden=0, levels=1)
def always_possible(student: Student, case: Case) -> None:
    """The end always has a positive share, and no floor under it."""
    shares = shares_of_the_end(student)
    never = [t for t, share in enumerate(shares) if share <= 0]
    expect.true(not never, f"the share of the end is zero after {never[0] if never else 0} words")
    floor = f"the share of the end never falls below {min(shares):.3g}: with such a floor the sum is one in the end"
    expect.true(min(shares[60:]) < min(shares[:60]), floor)
