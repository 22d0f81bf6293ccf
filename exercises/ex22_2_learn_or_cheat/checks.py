"""Checks of ex22-2: which evidence cannot be faked.

Paper: sections 3.1, 5
"""

import math
from typing import Any

from annotated_grader import Case, Student, expect, graded

FLOOR = math.log(16)


def falling(case: Case, start: float, end: float, steps: int) -> list[float]:
    """Losses from start to end, each lower than the one before."""
    ratio = (end / start) ** (1 / (steps - 1))
    return [round(start * ratio**k, 3) for k in range(steps)]


def run(
    case: Case, train_end: float, valid_end: float, noise: float, forced: float, size: int | None = None
) -> dict[str, Any]:
    """A run whose two losses fall evenly."""
    size = size or case.choice([500, 2000, 8000, 37000])
    steps, start = 4 + case.between(0, 6), math.log(size)
    return {
        "vocab_size": size,
        "train": falling(case, start + 0.05, train_end, steps),
        "valid": falling(case, start + 0.05, valid_end, steps),
        "noise_loss": round(noise, 3),
        "forced": forced,
    }


def check(student: Student, one: dict[str, Any], expected: str) -> None:
    """The verdict on one run."""
    expect.text(student.call("verdict", one), expected, "the verdict", **one)


def plain(case: Case) -> dict[str, Any]:
    """An honest run that learns, with nothing odd about it: so that no constant answer passes a check."""
    return run(case, 0.5, 0.52, FLOOR + little(case), 0.85, 8000)


def little(case: Case) -> float:
    """Noise of a measurement, of either sign."""
    return 0.05 * (2 * float(case.uniform(1)[0]) - 1)


@graded(points=1, levels=2)
def an_even_bet(student: Student, case: Case) -> None:
    """An even bet on V tokens costs ln V nats."""
    size = case.between(10, 40_000)
    expect.number(student.call("guessing", size), math.log(size), "the loss of an even bet", vocab_size=size)


@graded(points=3, levels=2, claim="C01")
def cheats(student: Student, case: Case) -> None:
    """Noise cannot be learned, so whoever does better than its floor reads ahead, whatever else looks good or bad."""
    for noise in (0.05, 0.6, 1.4, FLOOR - 0.5):
        for low, forced in ((0.05, 0.99), (1.5, 0.7), (0.4, 0.9)):
            one = run(case, low, low + little(case), noise, forced)
            check(student, one, "cheats")
            check(student, {**one, "valid": [*one["valid"], one["valid"][-1] + 1.0]}, "cheats")
    honest = plain(case)
    got = student.call("verdict", honest)
    expect.text(got, ["learns", "memorises", "has not begun"], "the verdict on a run without a leak", **honest)


@graded(points=2, levels=2)
def learns(student: Student, case: Case) -> None:
    """An honest run that gets better on new text learns, be its loss high or very low, and its accuracy too."""
    for end, forced in ((0.06, 0.99), (0.5, 0.95), (3.1, 0.35)):
        for size in (2000, 8000, 37000):
            check(student, run(case, 0.8 * end, end + little(case), FLOOR + little(case), forced, size), "learns")
    noisy = run(case, 0.4, 0.5, FLOOR + little(case), 0.9, 2000)
    noisy["valid"][-1] = noisy["valid"][-2] + 0.05
    check(student, noisy, "learns")
    idle = run(case, math.log(2000), math.log(2000), FLOOR + little(case), 0.001, 2000)
    expect.true(student.call("verdict", idle) != "learns", "a run that stays at ln V does not learn", **idle)


@graded(points=2, levels=2)
def has_not_begun(student: Student, case: Case) -> None:
    """A last model that pays ln V has learned nothing, and what ln V is depends on the vocabulary."""
    for size in (12, 40, 500, 37000):
        for noise in (0.05, -0.06, little(case)):
            end = math.log(size) + noise
            check(student, run(case, end, end, FLOOR + noise, round(1.2 / size, 4), size), "has not begun")
    begun = plain(case)
    expect.true(student.call("verdict", begun) != "has not begun", "a loss of half a nat is far from guessing", **begun)


@graded(points=2, levels=2)
def memorises(student: Student, case: Case) -> None:
    """New text gets worse while the training text gets better."""
    for end, size in ((0.1, 2000), (0.4, 8000), (0.2, 37000)):
        rise = 0.5 + 0.1 * case.between(0, 3)
        one = run(case, end, 1.5 + 0.1 * case.between(0, 5), FLOOR + little(case), 0.55, size)
        lowest = one["valid"][-1]
        one["valid"] += [round(lowest + rise * share, 3) for share in (0.3, 0.7, 1.0)]
        one["train"] += [end * 0.9, end * 0.8, end * 0.7]
        check(student, one, "memorises")
    steady = plain(case)
    expect.true(student.call("verdict", steady) != "memorises", "new text never got worse in this run", **steady)
    rising = {**steady, "train": [2.0, 1.1, 1.8, 2.7], "valid": [2.1, 1.2, 1.9, 2.8]}
    message = "in this run the training text gets worse too: that is no memorising"
    expect.true(student.call("verdict", rising) != "memorises", message, **rising)
