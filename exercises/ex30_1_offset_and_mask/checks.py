"""Checks of ex30-1: which tokens a slot of the decoder sees.

Paper: sections 3.1, 3.2.3
"""

from annotated_grader import Case, Student, expect, graded


def table(length: int, offset: int, causal: bool) -> list[list[bool]]:
    """Whether slot i (row, from 1) sees target token j (column, from 1): token j stands in slot j + offset."""
    tokens = range(1, length + 1)
    return [[j + offset <= (i if causal else length) for j in tokens] for i in tokens]


def judged(length: int, offset: int, causal: bool) -> str:
    """The verdict, read off the table: its diagonal and above leak, below the diagonal lies the newest token."""
    seen = table(length, offset, causal)
    if any(seen[i][j] for i in range(length) for j in range(i, length)):
        return "leak"
    return "right" if all(seen[i][i - 1] for i in range(1, length)) else "blind"


@graded(points=3, levels=3, claim="C14")
def slots_with_the_mask(student: Student, case: Case) -> None:
    """With the mask a slot sees what stands in slots up to its own."""
    length = case.between(5, 8)
    i = case.between(3, length - 1)
    for offset in (1, 0, 2):
        expected = [j + 1 for j, sees in enumerate(table(length, offset, True)[i - 1]) if sees]
        got = student.call("visible", i, length, offset, True)
        expect.equal(got, expected, f"visible({i}, {length}, {offset}, True)")


@graded(points=2, levels=3, claim="C14")
def slots_without_the_mask(student: Student, case: Case) -> None:
    """Without it a slot sees what stands in any slot."""
    length = case.between(5, 8)
    i = case.between(2, length - 2)
    for offset in (1, 2, 0):
        expected = [j + 1 for j, sees in enumerate(table(length, offset, False)[i - 1]) if sees]
        got = student.call("visible", i, length, offset, False)
        expect.equal(got, expected, f"visible({i}, {length}, {offset}, False)")


@graded(points=3, levels=2, claim="C14")
def verdicts(student: Student, case: Case) -> None:
    """Each combination of mask and offset has its verdict."""
    length = case.between(4, 7)
    for size in (length, 3, 2, 1):
        offsets = [(0, True), (1, True), (2, True), (0, False), (1, False), (size - 1, False), (size, False)]
        for offset, causal in offsets:
            got = student.call("verdict", size, offset, causal)
            expect.equal(got, judged(size, offset, causal), f"verdict({size}, {offset}, {causal})")


@graded(points=2, levels=3)
def tokens_withheld(student: Student, case: Case) -> None:
    """The known tokens that larger offsets hide."""
    length = case.between(5, 9)
    for offset in (1, 2, 3, length + 1):
        seen = table(length, offset, True)
        expected = sum(not seen[i][j] for i in range(length) for j in range(i))
        got = student.call("withheld", length, offset)
        expect.equal(got, expected, f"withheld({length}, {offset})")
