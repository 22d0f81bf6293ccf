"""Checks of ex11-1: attention over parameters, with matched count.

Paper: early appendix, section 3.3
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def sizes(case: Case) -> tuple[int, int, int, int]:
    """d_model, heads, width and pairs, all different; d_model is even, as it is in any model."""
    heads = case.choice([2, 3, 4])
    width = heads + case.between(1, 3)
    pairs = width + case.between(1, 4)
    d = pairs + case.between(1, 5)
    return d + d % 2, heads, width, pairs


def count(d: int, heads: int, width: int, pairs: int) -> int:
    """All parameters, added up one tensor at a time."""
    query = output = d * heads * width
    keys = values = heads * pairs * width
    return query + output + keys + values


def shapes(d: int, heads: int, width: int, pairs: int) -> dict[str, list[int]]:
    """The shape of each parameter."""
    return {
        "query.weight": [heads * width, d], "output.weight": [d, heads * width],
        "keys": [heads, pairs, width], "values": [heads, pairs, width],
    }  # fmt: skip


def reference(x: Tensor, state: dict[str, Tensor]) -> Tensor:
    """Head by head, with the output projection's columns of each head."""
    total = torch.zeros_like(x)
    for i, (keys, values) in enumerate(zip(state["keys"], state["values"], strict=True)):
        mine = slice(i * keys.size(1), (i + 1) * keys.size(1))
        scores = torch.einsum("bsd,kd,nk->bsn", x, state["query.weight"][mine], keys) / keys.size(1) ** 0.5
        shares = torch.exp(scores - scores.amax(-1, keepdim=True))
        found = torch.einsum("bsn,nk->bsk", shares / shares.sum(-1, keepdim=True), values)
        total = total + found @ state["output.weight"][:, mine].T
    return total


@graded(points=3, levels=3)
def matched_count(student: Student, case: Case) -> None:
    """All parameters together are as many numbers as asked for."""
    d, heads, width, pairs = sizes(case)
    wanted = count(d, heads, width, pairs)
    made = student.construct("ParameterAttention", d, heads, width, wanted)
    tensors = made.parameters()
    missing = sorted(set(shapes(d, heads, width, pairs)) - set(tensors))
    expect.true(not missing, f"no parameter is called {' or '.join(missing)}")
    found = sum(p.numel() for p in tensors.values())
    expect.equal(found, wanted, "the number of parameters", d_model=d, heads=heads, width=width)


@graded(points=2, levels=3)
def memory_of_each_head(student: Student, case: Case) -> None:
    """Every head has keys and values of its own, and nothing else is trained but two projections."""
    d, heads, width, pairs = sizes(case)
    made = student.construct("ParameterAttention", d, heads, width, count(d, heads, width, pairs))
    found = {name: list(p.shape) for name, p in made.parameters().items()}
    expect.equal(
        found, shapes(d, heads, width, pairs), "the shapes of the parameters", d_model=d, heads=heads, width=width
    )


@graded(points=2, levels=3)
def refuses_what_does_not_fit(student: Student, case: Case) -> None:
    """Numbers that leave no whole positive number of pairs raise ValueError; the smallest that fits does not."""
    d, heads, width, pairs = sizes(case)
    student.construct("ParameterAttention", d, heads, width, count(d, heads, width, 1))
    fits = count(d, heads, width, pairs)
    none = count(d, heads, width, 0)
    for wrong in (fits + 1, fits + heads * width, none, none - 2 * heads * width):
        make = lambda n=wrong: student.construct("ParameterAttention", d, heads, width, n)  # noqa: E731
        expect.raises(make, "ValueError", f"{wrong} parameters", d_model=d, heads=heads, width=width)


@graded(points=3, levels=3)
def attends(student: Student, case: Case) -> None:
    """Each head attends to its pairs, and the output projection mixes the heads."""
    d, heads, width, pairs = sizes(case)
    x = case.normal(case.between(1, 2), pairs + 2, d)
    made = student.construct("ParameterAttention", d, heads, width, count(d, heads, width, pairs))
    pairs = made.parameters()["keys"].size(1)  # the answer's own number: that it is right is another check
    state = {name: case.normal(*shape) for name, shape in shapes(d, heads, width, pairs).items()}
    state["query.weight"] = state["query.weight"] / d**0.5
    made.load(state)
    expect.close(made(x), reference(x, state), "the output", atol=1e-4, x=x, **state)
    _, moved = made.gradient(x, cotangent=case.normal(*x.shape))
    still = [name for name in state if not bool(moved[name].any())]
    expect.true(not still, f"no gradient reaches {' or '.join(still)}: training would leave it as it is", x=x)


@graded(points=1, hidden=0, levels=1)
def no_pair_left(student: Student, case: Case) -> None:
    """The number of heads whose projections use up all parameters of the paper's network."""
    heads = student.value("heads_without_a_pair")
    is_number = isinstance(heads, int | float) and not isinstance(heads, bool)
    expect.true(is_number, "heads_without_a_pair: a number is needed")
    left = 2 * 512 * 2048 - 2 * 512 * heads * 64
    expect.true(left == 0, f"the projections of {heads:g} heads leave {left:,.0f} parameters, and not 0")
