"""Checks of ex31-1: a test is run on attentions whose divisor is known.

Paper: section 3.2.1, equation 1
"""

from annotated_grader import Case, Student, expect, graded


def verdict(student: Student, kind: str) -> bool:
    """What the test says of one attention."""
    found = student.call("divides_by_root", student.given("attention", kind))
    expect.true(isinstance(found, bool), "the result: expected True or False", result=found)
    return bool(found)


def rejects(student: Student, kind: str, what: str) -> None:
    """The test must say False."""
    expect.true(not verdict(student, kind), f"the test accepts an attention {what}")


@graded(points=2)
def accepts_the_truth(student: Student, case: Case) -> None:
    """Four ways to write equation 1 pass the test."""
    for kind in ("plain", "query first", "by hand", "in float64"):
        expect.true(verdict(student, kind), f"the test rejects a right attention ({kind})")


@graded(points=2)
def rejects_other_powers(student: Student, case: Case) -> None:
    """An attention that does not divide fails the test, and one that divides by d_k."""
    rejects(student, "none", "that does not divide its scores")
    rejects(student, "d_k", "that divides by d_k and not by its root")


@graded(points=2)
def rejects_a_constant(student: Student, case: Case) -> None:
    """An attention that divides by 8 at every width fails the test."""
    rejects(student, "eight", "that divides by 8 at every width")


@graded(points=2)
def rejects_the_size_of_values(student: Student, case: Case) -> None:
    """An attention that divides by the root of d_v fails the test."""
    rejects(student, "root of d_v", "that divides by the root of d_v")


@graded(points=2)
def rejects_counts(student: Student, case: Case) -> None:
    """Attentions that divide by the root of the number of keys or of queries fail the test."""
    rejects(student, "root of keys", "that divides by the root of the number of keys")
    rejects(student, "root of queries", "that divides by the root of the number of queries")
