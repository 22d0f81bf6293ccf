"""Checks of ex00-0: means that are computed here word by word, from lists.

Paper: section 3.2.3
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def expected(x: Tensor, lengths: list[int]) -> Tensor:
    """The means, from sums of single vectors: independent of the solution."""
    means = []
    for sentence, length in zip(x, lengths, strict=True):
        total = torch.zeros(x.size(-1))
        for vector in sentence[:length]:
            total += vector
        means.append(total / length)
    return torch.stack(means)


def sizes(case: Case) -> tuple[int, int, int]:
    """Batch, positions and width: all different, and on the last case equal, so that no axis hides behind a shape."""
    return (4, 4, 4) if case.level == 2 else (2 + case.between(0, 1), 5 + case.between(0, 2), 9)


@graded(points=2, levels=3)
def over_the_positions(student: Student, case: Case) -> None:
    """Without padding it is the mean over the positions."""
    batch, length, width = sizes(case)
    x = case.normal(batch, length, width)
    got = student.call("masked_mean", x, torch.ones(batch, length, dtype=torch.bool))
    expect.close(got, expected(x, [length] * batch), "the mean of sentences that fill the batch", x=x)


@graded(points=3, levels=3)
def padding_is_left_out(student: Student, case: Case) -> None:
    """Padding is neither summed nor counted."""
    batch, length, width = sizes(case)
    x = case.normal(batch, length, width)
    lengths = [1 + (case.between(0, length - 2) + row) % (length - 1) for row in range(batch)]
    mask = torch.arange(length) < torch.tensor(lengths)[:, None]
    expect.close(student.call("masked_mean", x, mask), expected(x, lengths), "the mean of the words", x=x, mask=mask)
