"""Checks of ex14-3: a head and a network, written by hand, that count.

Paper: sections 3.2.3 and 3.5
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def words(case: Case, length: int) -> Tensor:
    """A start token and random words as unit vectors: [T, D]."""
    d_model = 6 + case.between(0, 6)
    ids = torch.cat([torch.zeros(1, dtype=torch.long), case.integers(1, d_model - 2, length - 1)])
    return torch.eye(d_model, dtype=torch.float64)[ids]


def written(student: Student, x: Tensor) -> Tensor:
    """What the answer's head writes at each position, by loops: [T, D]."""
    length, d_model = x.shape
    parts = student.call("head", d_model)
    expect.true(isinstance(parts, list | tuple) and len(parts) == 4, "head must return four matrices", d_model=d_model)
    w_q, w_k, w_v, w_o = (expect.tensor(part, f"part {i} of head").double() for i, part in enumerate(parts))
    expect.tensor(w_q, "w_q", (d_model, w_k.size(-1)))
    expect.tensor(w_k, "w_k", (d_model, w_q.size(-1)))
    expect.tensor(w_v, "w_v", (d_model, w_o.size(0)))
    expect.tensor(w_o, "w_o", (w_v.size(-1), d_model))
    rows = []
    for t in range(length):
        scores = torch.stack([(x[t] @ w_q) @ (x[s] @ w_k) for s in range(t + 1)]) / w_q.size(1) ** 0.5
        weights = scores.softmax(0)
        rows.append(sum(weights[s] * (x[s] @ w_v) for s in range(t + 1)) @ w_o)
    return torch.stack(rows)


@graded(points=2, levels=2, claim="C25")
def head_counts(student: Student, case: Case) -> None:
    """The head writes 1/(t+1), whatever the words are."""
    x = words(case, 4 + case.between(0, 20))
    expected = torch.tensor([1 / (t + 1) for t in range(len(x))])
    got = written(student, x)
    expect.true(bool((got != 0).any()), "the head writes nothing", words=x.argmax(1))
    # Up to a constant factor: in which dimension it stands, and how large, is asked below.
    column = got[:, got.abs().amax(0).argmax()]
    top = column[0] if bool(column[0] != 0) else torch.tensor(1.0)
    expect.close(
        column / top, expected, "what the head writes at each position, divided by position 0's", words=x.argmax(1)
    )


@graded(points=2, levels=2)
def head_writes_in_its_place(student: Student, case: Case) -> None:
    """It begins with 1 in dimension -2, and writes nothing elsewhere."""
    x = words(case, 4 + case.between(0, 5))
    got = written(student, x)
    expect.number(got[0, -2], 1.0, "dimension -2 at position 0", words=x.argmax(1))
    rest = got.clone()
    rest[:, -2] = 0.0
    expect.close(rest, torch.zeros_like(rest), "what the head writes into the other dimensions", words=x.argmax(1))


@graded(points=3, levels=3)
def network_marks_one_place(student: Student, case: Case) -> None:
    """The network writes 1 at position n, and 0 at every other."""
    n, x = case.between(2, 7), words(case, 9 + case.between(0, 12))
    n = 0 if case.level == 2 else n
    x[:, -2] = torch.tensor([1 / (t + 1) for t in range(len(x))])
    parts = student.call("network", n, x.size(1))
    expect.true(isinstance(parts, list | tuple) and len(parts) == 4, "network must return four tensors", n=n)
    w_1, b_1, w_2, b_2 = (expect.tensor(part, f"part {i} of network").double() for i, part in enumerate(parts))
    inner = torch.einsum("td,df->tf", x, w_1) + b_1
    got = torch.einsum("tf,fd->td", torch.where(inner > 0, inner, torch.zeros_like(inner)), w_2) + b_2
    expected = torch.zeros_like(x)
    expected[n, -1] = 1.0
    expect.close(got, expected, f"what network({n}, {x.size(1)}) writes", atol=1e-3, words=x[:, :-2].argmax(1), n=n)


@graded(points=2, levels=3, claim="C25")
def without_the_mask(student: Student, case: Case) -> None:
    """Without the mask every position gets the same number."""
    length = 3 + case.between(1, 20)
    for t in (0, 1, length - 1):
        got = student.call("unmasked", t, length)
        expect.number(got, sum([1.0] + [0.0] * (length - 1)) / length, f"unmasked({t}, {length})", atol=1e-5)
