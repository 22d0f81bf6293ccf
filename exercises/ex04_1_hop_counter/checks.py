"""Checks of ex04-1: a hop counter.

The expected numbers come from the windows alone: which positions can have heard of position 1 after each layer.

Paper: section 4, Table 1
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

Plan = dict[str, Any]
"""One layer: its kind, size, dilation and which way it looks."""


def plan(size: int, dilation: int = 1, look: str = "back", kind: str = "convolution", **more: Any) -> Plan:
    """A layer, described."""
    return {"kind": kind, "size": size, "dilation": dilation, "look": look, **more}


def reached(plans: list[Plan], n: int) -> int | None:
    """How many layers until position n has heard of position 1: by sets of positions, without any tensor."""
    heard = {1}
    for count, one in enumerate(plans, 1):
        start = {"back": 1 - one["size"], "around": -(one["size"] // 2), "ahead": 0}[one["look"]]
        window = [one["dilation"] * (start + j) for j in range(one["size"])]
        heard = {t for t in range(1, n + 1) if any(t + offset in heard for offset in window)}
        if n in heard:
            return count
    return None


def compare(student: Student, case: Case, plans: list[Plan], n: int) -> None:
    """Build the layers where the answer runs, and compare the counts."""
    seeds, d = case.integers(0, 10**6, len(plans)).tolist(), case.choice([4, 6, 8])
    layers = [student.given("layer", d=d, seed=seed, **one) for seed, one in zip(seeds, plans, strict=True)]
    shown = [" ".join(f"{key} {value}" for key, value in one.items()) for one in plans]
    expect.equal(student.call("hops", layers, n, d), reached(plans, n), "the number of hops", n=n, layers=shown)


@graded(points=2, levels=3, claim="C31")
def touching(student: Student, case: Case) -> None:
    """Windows that touch: position n hears of position 1 after (n - 1) / (k - 1) layers, rounded up."""
    size = case.between(2, 4)
    n = 4 + case.between(0, 3) + 2 * case.level
    compare(student, case, [plan(size)] * (n + 1), n)


@graded(points=2, levels=3)
def dilated(student: Student, case: Case) -> None:
    """Dilated windows: each layer reaches further than the one before."""
    size = case.between(2, 3)
    n = 7 + case.between(0, 6) + 4 * case.level
    compare(student, case, [plan(size, size**depth) for depth in range(6)], n)


@graded(points=2, levels=3)
def any_kind(student: Student, case: Case) -> None:
    """Convolutions and attention, looking back or centred, one after another."""
    n = 6 + case.between(0, 3) + case.level
    kinds = [("convolution", "attention")[(i + case.level) % 2] for i in range(n)]
    size = 3 + 2 * (case.level % 2)
    plans = [plan(size, look="around", kind=kind) for kind in kinds]
    compare(student, case, plans, n)
    compare(student, case, [plan(2), plan(2 * n, kind="attention"), plan(2)], n)


@graded(points=2, levels=2)
def tiny_gradients(student: Student, case: Case) -> None:
    """A gradient of 1e-20 is small, and is not zero."""
    n = 6 + case.between(0, 4)
    compare(student, case, [plan(3, gain=1e-20)] + [plan(3)] * n, n)


@graded(points=2, levels=2)
def cancelling_features(student: Student, case: Case) -> None:
    """Features whose sum is constant hide nothing, nor does one that a layer does not read, if all are looked at."""
    size = case.between(2, 3)
    n = 4 + case.between(0, 4)
    compare(student, case, [plan(size, cancel=True)] * n, n)
    compare(student, case, [plan(size, blind=True)] * n, n)


@graded(points=1, levels=2)
def never(student: Student, case: Case) -> None:
    """None where position n never hears of position 1; the right number where the last layer makes it."""
    n = 5 + case.between(0, 3)
    compare(student, case, [plan(3, look="ahead")] * n, n)
    compare(student, case, [plan(2)] * (n - 2), n)
    compare(student, case, [plan(2)] * (n - 1), n)
