"""Checks of ex31-3: a test is run on layers whose formula is known.

Paper: section 3.1
"""

from annotated_grader import Case, Student, expect, graded


def verdict(student: Student, kind: str) -> bool:
    """What the test says of one layer."""
    found = student.call("is_post_norm", student.given("layer", kind))
    expect.true(isinstance(found, bool), "the result: expected True or False", result=found)
    return bool(found)


def rejects(student: Student, kind: str, what: str) -> None:
    """The test must say False."""
    expect.true(not verdict(student, kind), f"the test accepts a layer {what}")


@graded(points=2)
def accepts_the_truth(student: Student, case: Case) -> None:
    """Two ways to write post-norm pass the test, and another epsilon."""
    for kind in ("post-norm", "by hand"):
        expect.true(verdict(student, kind), f"the test rejects a right layer ({kind})")


@graded(points=2, claim="C46")
def rejects_pre_norm(student: Student, case: Case) -> None:
    """A layer that normalises before the sub-layer fails the test."""
    rejects(student, "pre-norm", "that normalises before the sub-layer")


@graded(points=2, claim="C44")
def rejects_no_residual(student: Student, case: Case) -> None:
    """A layer without the residual connection fails the test."""
    rejects(student, "no residual", "without a residual connection")


@graded(points=2)
def rejects_no_norm_of_the_sum(student: Student, case: Case) -> None:
    """Layers that do not normalise the sum fail the test."""
    rejects(student, "output alone", "that normalises the sub-layer's output alone")
    rejects(student, "no norm", "without a normalisation")


@graded(points=2)
def rejects_both(student: Student, case: Case) -> None:
    """A layer that normalises before the sub-layer and after the sum fails the test."""
    rejects(student, "both", "that normalises twice")
