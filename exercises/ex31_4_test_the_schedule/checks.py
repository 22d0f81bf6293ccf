"""Checks of ex31-4: a test is run on schedules of which it is known what they count.

Paper: section 5.3, equation 3
"""

from annotated_grader import Case, Student, expect, graded


def verdict(student: Student, kind: str) -> bool:
    """What the test says of one schedule."""
    found = student.call("follows_equation_3", student.given("schedule", kind))
    expect.true(isinstance(found, bool), "the result: expected True or False", result=found)
    return bool(found)


def rejects(student: Student, kind: str, what: str) -> None:
    """The test must say False."""
    expect.true(not verdict(student, kind), f"the test accepts a schedule {what}")


@graded(points=2)
def accepts_the_truth(student: Student, case: Case) -> None:
    """Equation 3 passes the test, in float64 and in float32."""
    for kind in ("right", "float32"):
        expect.true(verdict(student, kind), f"the test rejects a right schedule ({kind})")


@graded(points=2, claim="A2")
def rejects_micro_batches(student: Student, case: Case) -> None:
    """A schedule that counts micro-batches fails the test."""
    rejects(student, "micro-batches", "that counts micro-batches")


@graded(points=2)
def rejects_a_lag(student: Student, case: Case) -> None:
    """A schedule that is one update late fails the test."""
    rejects(student, "late", "that is one update late")


@graded(points=2)
def rejects_no_decay(student: Student, case: Case) -> None:
    """A schedule that stays at its peak fails the test."""
    rejects(student, "no decay", "that does not decay")


@graded(points=2)
def rejects_another_height(student: Student, case: Case) -> None:
    """A schedule that is twice as high fails the test, and one that is half as high."""
    rejects(student, "twice", "whose rates are twice as high")
    rejects(student, "half", "whose rates are half as high")
