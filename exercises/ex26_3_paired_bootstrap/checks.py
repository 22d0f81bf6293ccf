"""Checks of ex26-3: the paired bootstrap.

Paper: sections 6.1, 6.2
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def ratio(sums: list[float]) -> float:
    """The score that given.py has too: a ratio of sums, squared and with a penalty, so that nothing is linear, and
    smoothed, so that means in place of sums have another score."""
    right, total, length = sums
    return 100 * (right / (total + 9)) ** 2 * min(1.0, total / length)


def system(case: Case, totals: Tensor, quality: float) -> Tensor:
    """Counts (right, all, length of the reference) of each sentence."""
    right = (totals * (quality + 0.3 * case.uniform(len(totals)))).round()
    return torch.stack([right, totals, totals + 2], dim=1)


def draw(case: Case, rounds: int) -> tuple[Tensor, Tensor]:
    """Sentence lengths that differ a great deal, and test sets drawn from them."""
    size = 11 + case.between(0, 6)
    totals = case.integers(3, 60, size).float()
    return totals, case.integers(0, size, rounds, size)


def by_hand(statistics: Tensor, draws: Tensor) -> list[float]:
    """Scores of the drawn test sets, added up in plain Python."""
    rows = statistics.tolist()
    return [ratio([sum(rows[i][c] for i in row) for c in range(3)]) for row in draws.tolist()]


def quantile(values: list[float], share: float) -> float:
    """Linear between the two nearest values."""
    ordered, place = sorted(values), share * (len(values) - 1)
    low = int(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


@graded(points=3, levels=3)
def scores_of_sums(student: Student, case: Case) -> None:
    """A drawn test set is scored by its sums, and a sentence drawn twice counts twice."""
    totals, draws = draw(case, 5 + case.between(0, 4))
    statistics = system(case, totals, 0.4)
    got = student.call("resampled_scores", statistics, draws, student.given("ratio"))
    expected = torch.tensor(by_hand(statistics, draws))
    expect.close(expect.tensor(got, "the scores", expected.shape), expected, "the scores", draws=draws)


@graded(points=2, levels=2)
def the_interval(student: Student, case: Case) -> None:
    """The interval holds the middle 95 % of the scores."""
    totals, draws = draw(case, 90 + case.between(0, 30))
    statistics = system(case, totals, 0.4)
    got = student.call("interval", statistics, draws, student.given("ratio"))
    expect.true(isinstance(got, (tuple, list)) and len(got) == 2, "interval returns two numbers")
    scores = by_hand(statistics, draws)
    for value, share in zip(got, (0.025, 0.975), strict=True):
        expect.number(value, quantile(scores, share), f"the end of the interval at {share}", rtol=1e-4)


@graded(points=3, levels=3)
def the_same_draws(student: Student, case: Case) -> None:
    """Both systems are scored on the same draws, and the better one on the whole set is the one that is asked about."""
    totals, draws = draw(case, 130 + case.between(0, 20))
    a = system(case, totals, 0.40)
    b = a.clone()
    b[:, 0] = (b[:, 0] + case.normal(len(b)) * 0.1 * b[:, 1]).clamp(min=1)
    for first, second in ((a, b), (b, a)):
        d = [y - x for x, y in zip(by_hand(first, draws), by_hand(second, draws), strict=True)]
        whole = ratio(second.sum(0).tolist()) > ratio(first.sum(0).tolist())
        expected = sum((x <= 0) if whole else (x >= 0) for x in d) / len(d)
        got = student.call("p_value", first, second, draws, student.given("ratio"))
        expect.number(got, expected, "the share of draws in which the better system is not better", atol=1e-5)


@graded(points=2, levels=2)
def a_tie_is_no_win(student: Student, case: Case) -> None:
    """Where both score the same, the better system is not better."""
    totals, draws = draw(case, 50 + case.between(0, 9))
    a = system(case, totals, 0.4)
    b = a.clone()
    b[0, 0] += 2  # better in one sentence; a tie in every draw without it
    expected = sum(0 not in row for row in draws.tolist()) / len(draws)
    for first, second in ((a, b), (b, a)):
        got = student.call("p_value", first, second, draws, student.given("ratio"))
        expect.number(got, expected, "the share of draws in which the better system is not better", atol=1e-5)
