"""Checks of ex04-3: hops without a program.

The paths are walked here, hop by hop. A wrong number is not corrected: whoever predicts should predict again.

Paper: section 4, Table 1
"""

from collections.abc import Iterable
from typing import Any

from annotated_grader import Case, Student, expect, graded

N, K, R = 70, 5, 10


def walked(hops: Iterable[int], n: int = N) -> int:
    """How many hops of these lengths, in order, lead from position 1 to position n or past it."""
    place = 1
    for count, hop in enumerate(hops, 1):
        place += hop
        if place >= n:
            return count
    raise ValueError("they do not lead so far")


def entry(student: Student, table: str, row: str) -> Any:
    """One entry of a dictionary of the answer."""
    found = student.value(table)
    expect.true(isinstance(found, dict), f"`{table}` must be a dictionary")
    expect.true(row in found, f"`{table}` has no entry {row!r}")
    return found[row]


def right(got: Any, expected: int, what: str) -> None:
    """The right number; a wrong one is told so, and no more."""
    is_number = isinstance(got, int | float) and not isinstance(got, bool)
    expect.true(is_number, f"{what}: a number is needed")
    expect.true(got == expected, f"{what}: {got:g} is not it")


def hop_count(student: Student, row: str, hops: Iterable[int]) -> None:
    """One number of `hops`."""
    right(entry(student, "hops", row), walked(hops), f"hops of {row!r}")


@graded(points=2, hidden=0, levels=1)
def at_once_or_in_steps(student: Student, case: Case) -> None:
    """Self-attention connects all pairs at once, a recurrent layer goes step by step."""
    hop_count(student, "self-attention", [N - 1])
    hop_count(student, "recurrent", [1] * N)


@graded(points=2, hidden=0, levels=1, claim="C31")
def touching_windows(student: Student, case: Case) -> None:
    """Touching kernels reach four positions back, or two if they are centred."""
    hop_count(student, "touching", [K - 1] * N)
    hop_count(student, "touching, centred", [K // 2] * N)


@graded(points=2, hidden=0, levels=1, claim="C31")
def dilated_windows(student: Student, case: Case) -> None:
    """Dilated kernels: what is seen multiplies with each layer."""
    dilations = [K**i for i in range(6)]
    hop_count(student, "dilated", [dilation * (K - 1) for dilation in dilations])
    right(student.value("farthest"), 1 + sum(dilation * (K - 1) for dilation in dilations[:3]), "farthest")


@graded(points=2, hidden=0, levels=1)
def neighbourhoods(student: Student, case: Case) -> None:
    """A neighbourhood that looks back holds the position itself and those before it."""
    hop_count(student, "restricted", [R - 1] * N)


@graded(points=2, hidden=0, levels=1)
def what_waits(student: Student, case: Case) -> None:
    """Only the recurrent layer waits for its own output."""
    for row in ("self-attention", "recurrent", "convolutional", "restricted"):
        accepted = ["O(n)", "n"] if row == "recurrent" else ["O(1)", "1"]
        expect.text(entry(student, "sequential", row), accepted, f"sequential operations of {row!r}")


@graded(points=1, hidden=0, levels=1, claim="C21")
def writing(student: Student, case: Case) -> None:
    """Writing takes one run of the decoder for each piece, the end token included."""
    right(student.value("decoder_runs"), len(range(N)) + 1, "runs of the decoder")
