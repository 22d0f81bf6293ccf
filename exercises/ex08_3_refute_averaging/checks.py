"""Checks of ex08-3: refute "averaging".

Paper: section 3.2.2
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def wanted(x: Tensor) -> Tensor:
    """For words in a ring, the number before and the number after: [N, 3, 1] to [N, 3, 2]."""
    order = ((2, 1), (0, 2), (1, 0))
    return torch.stack([torch.stack([x[:, before, 0], x[:, after, 0]], -1) for before, after in order], 1)


def sequences(case: Case) -> Tensor:
    """Many sequences of three numbers, [N, 3, 1]; the first is easy to read."""
    readable = torch.tensor([[1.0, 2.0, 4.0]])
    drawn = case.normal(20, 3) if case.level == 0 else 10 * case.normal(20, 3)
    return torch.cat([readable, drawn])[..., None].double()


def construction(answer: Any) -> tuple[Tensor, Tensor, Tensor]:
    """An answer's three tensors, after a look at shapes and weights."""
    expect.true(isinstance(answer, list | tuple) and len(answer) == 3, "expected three tensors")
    weights = expect.tensor(answer[0], "the weights", (2, 3, 3)).double()
    w_v = expect.tensor(answer[1], "w_v").double()
    expect.true(w_v.ndim == 3 and w_v.shape[:2] == (2, 1), f"w_v: expected shape [2, 1, K], got {list(w_v.shape)}")
    expect.true((weights >= 0).all(), "a weight is below zero, which no softmax gives", weights=weights)
    expect.close(weights.sum(-1), torch.ones(2, 3), "the sum of each row of weights", weights=weights)
    return weights, w_v, expect.tensor(answer[2], "the last matrix").double()


def heads_of(x: Tensor, weights: Tensor, w_v: Tensor) -> Tensor:
    """What both heads return for each sequence: [N, 2, 3, K]."""
    return torch.einsum("its,nsd,idk->nitk", weights, x, w_v)


def best_error(found: Tensor, target: Tensor) -> float:
    """Largest error of the best linear map from what was found to the target."""
    a, b = found.flatten(0, 1), target.flatten(0, 1)
    return float((a @ torch.linalg.pinv(a, rtol=1e-9) @ b - b).abs().max())


@graded(points=3, levels=2, claim="C04")
def concatenation_is_exact(student: Student, case: Case) -> None:
    """Concatenated heads times w_o give both numbers, whatever the numbers are."""
    weights, w_v, w_o = construction(student.call("average_loses"))
    x = sequences(case)
    joined = torch.cat(list(heads_of(x, weights, w_v).unbind(1)), dim=-1)
    expect.tensor(w_o, "w_o", (2 * w_v.size(-1), 2))
    for one, target, word in zip(joined @ w_o, wanted(x), x, strict=True):
        expect.close(one, target, "the concatenation times w_o", atol=1e-4, x=word, weights=weights, w_v=w_v, w_o=w_o)


@graded(points=3, levels=2, claim="C04")
def no_matrix_saves_the_average(student: Student, case: Case) -> None:
    """The heads have found both numbers, and no matrix gets them back from their average."""
    weights, w_v, _ = construction(student.call("average_loses"))
    x = sequences(case)
    heads = heads_of(x, weights, w_v)
    missing = best_error(torch.cat(list(heads.unbind(1)), dim=-1), wanted(x))
    message = f"even side by side the two heads have not found both numbers: the best matrix is wrong by {missing:.3g}"
    expect.true(missing < 1e-3, message, weights=weights, w_v=w_v)
    error = best_error(heads.mean(1), wanted(x))
    expect.true(error > 0.05, "there is a matrix that gives both numbers from this average", weights=weights, w_v=w_v)


@graded(points=3, levels=2, claim="C04")
def average_is_exact(student: Student, case: Case) -> None:
    """In the second case the average times w_a gives both numbers."""
    weights, w_v, w_a = construction(student.call("average_keeps"))
    x = sequences(case)
    average = heads_of(x, weights, w_v).mean(1)
    expect.tensor(w_a, "w_a", (w_v.size(-1), 2))
    for one, target, word in zip(average @ w_a, wanted(x), x, strict=True):
        expect.close(one, target, "the average times w_a", atol=1e-4, x=word, weights=weights, w_v=w_v, w_a=w_a)


@graded(points=2, hidden=0, levels=1)
def width_that_averaging_needs(student: Student, case: Case) -> None:
    """The width of a head at which averaging eight of them need not lose anything."""
    got = student.value("width")
    expect.true(isinstance(got, int | float) and not isinstance(got, bool), "width: a number is needed")
    expect.true(got == 512, f"width: {got:g} is not it")
