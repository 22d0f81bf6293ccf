"""Checks of ex03-2: one vector, or all of them.

Paper: sections 1 and 2
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def inputs(case: Case, padded: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The decoder's state, the reader's states and lengths; with padding, one sentence is short, and may be alone."""
    dtype = torch.float64 if case.hidden else torch.float32
    b, length, k = case.between(2, 3), 4 + case.between(0, 2), 7 + case.between(0, 3)
    b = 1 if padded and case.level == 2 else b
    state, states = case.normal(b, k, dtype=dtype), case.normal(length, b, k, dtype=dtype)
    lengths = torch.full((b,), length)
    if padded:
        lengths = 1 + case.integers(0, length, b)
        lengths[int(case.integers(0, b))] = 2
        lengths[lengths == 1] = length - 1  # one real position says little about weights
    return state, states, lengths


def called(student: Student, *args: Tensor) -> tuple[Any, Any]:
    """What the answer gives back: context and weights."""
    result = student.call("attend", *args)
    pair = isinstance(result, tuple | list) and len(result) == 2
    expect.true(pair, "`attend` must return two things, the context and the weights")
    return result[0], result[1]


@graded(points=2, levels=3)
def weights_over_positions(student: Student, case: Case) -> None:
    """The weights of a sentence are the softmax of its own dot products."""
    state, states, lengths = inputs(case, padded=False)
    b, length = len(lengths), len(states)
    _, weights = called(student, state, states, lengths)
    weights = expect.shape(weights, (b, length), "the weights", state=state, states=states)
    table = [[float(torch.dot(states[j, i], state[i])) for j in range(length)] for i in range(b)]
    shares = torch.tensor(table, dtype=torch.float64).exp()
    expected = shares / shares.sum(1, keepdim=True)
    expect.close(weights, expected, "the weights", atol=1e-4, state=state, states=states, lengths=lengths)


@graded(points=2, levels=3)
def padding_gets_nothing(student: Student, case: Case) -> None:
    """Padding has weight zero, and a sentence's real positions share it all."""
    state, states, lengths = inputs(case, padded=True)
    _, weights = called(student, state, states, lengths)
    weights = expect.shape(weights, (len(lengths), len(states)), "the weights", lengths=lengths)
    for i, count in enumerate(lengths.tolist()):
        rest = weights[i, count:]
        shown = {"lengths": lengths, "your_weights": weights}
        expect.equal(rest, torch.zeros_like(rest), f"the weights of padding in sentence {i}", **shown)
        expect.number(weights[i].double().sum(), 1.0, f"the sum of the weights in sentence {i}", **shown)


@graded(points=2, levels=3, claim="C33")
def context_is_a_mean(student: Student, case: Case) -> None:
    """The context is the mean of all states under your weights."""
    state, states, lengths = inputs(case, padded=False)
    context, weights = called(student, state, states, lengths)
    weights = expect.shape(weights, (len(lengths), len(states)), "the weights", lengths=lengths)
    expected = torch.einsum("bs,sbk->bk", weights.double(), states.double())
    what = "the context beside your own weights times the states"
    expect.close(context, expected, what, your_weights=weights, states=states)


@graded(points=2, levels=3)
def company_does_not_matter(student: Student, case: Case) -> None:
    """A sentence gets the same context in any company, and another one from another state."""
    state, states, lengths = inputs(case, padded=False)
    others, asked = states.clone(), state.clone()
    others[:, 1:] = case.normal(*others[:, 1:].shape, dtype=states.dtype)
    asked[0] = -state[0]
    asks = ((state, states, lengths), (state, others, lengths), (asked, states, lengths))
    first, second, third = (called(student, *args)[0] for args in asks)
    first = expect.shape(first, state.shape, "the context", state=state)
    third = expect.shape(third, state.shape, "the context", state=asked)
    change = (first[0] - third[0]).abs().max()
    expect.true(change > 1e-3, "another decoder state does not change the context", state=state)
    what = "the context of sentence 0 beside other sentences"
    expect.close(second[0], first[0], what, state=state, before=states, after=others)


@graded(points=2, levels=3)
def last_real_state(student: Student, case: Case) -> None:
    """The summary is the state after each sentence's last real position."""
    _, states, lengths = inputs(case, padded=True)
    expected = torch.stack([states[count - 1, i] for i, count in enumerate(lengths.tolist())])
    expect.close(student.call("summary", states, lengths), expected, "the summary", states=states, lengths=lengths)
