"""Checks of ex31-2: a test is run on multi-head attentions of which it is known what they do.

Paper: section 3.2.2
"""

from annotated_grader import Case, Student, expect, graded


def verdict(student: Student, kind: str) -> bool:
    """What the test says of one attention."""
    found = student.call("mixes_concatenated_heads", student.given("attention", kind))
    expect.true(isinstance(found, bool), "the result: expected True or False", result=found)
    return bool(found)


def rejects(student: Student, kind: str, what: str) -> None:
    """The test must say False."""
    expect.true(not verdict(student, kind), f"the test accepts an attention {what}")


@graded(points=2)
def accepts_the_truth(student: Student, case: Case) -> None:
    """Three ways to write multi-head attention pass the test."""
    for kind in ("loop", "at once", "sum of products"):
        expect.true(verdict(student, kind), f"the test rejects a right attention ({kind})")


@graded(points=2, claim="C04")
def rejects_averages(student: Student, case: Case) -> None:
    """Averaged heads fail the test."""
    rejects(student, "averaged", "that averages its heads")


@graded(points=2, claim="C06")
def rejects_a_missing_projection(student: Student, case: Case) -> None:
    """Heads that are concatenated and not mixed fail the test."""
    rejects(student, "without w_o", "without the output matrix")


@graded(points=2, claim="C07")
def rejects_slices(student: Student, case: Case) -> None:
    """Heads that read only their own slice of the words fail the test."""
    rejects(student, "slices", "whose heads read only a slice of the words")


@graded(points=2)
def rejects_copies(student: Student, case: Case) -> None:
    """Heads that share the first head's matrices fail the test."""
    rejects(student, "shared", "whose heads are all the first head")
