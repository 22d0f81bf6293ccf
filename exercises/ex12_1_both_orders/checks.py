"""Checks of ex12-1: a residual connection in both orders.

Paper: sections 3.1 and 5.4
"""

import torch
from torch import Tensor

from annotated_grader import Case, Handle, Student, expect, graded


def normalised(x: Tensor, gain: Tensor | float = 1.0, bias: Tensor | float = 0.0) -> Tensor:
    """Layer normalisation by its definition."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain + bias


class Parts:
    """One input with its functions: here, and where the answer runs."""

    def __init__(self, student: Student, case: Case) -> None:
        b, s, d = case.between(1, 3), case.between(2, 5), 3 + case.between(1, 4)
        self.x = 2 * case.normal(b, s, d) + 1
        self.w, self.gain, self.bias = case.normal(d, d), 1 + case.uniform(d), case.normal(d)
        self.sublayer: Handle = student.given("sublayer", self.w)
        self.norm: Handle = student.given("layer_norm", self.gain, self.bias)
        self.nothing: Handle = student.given("unchanged")

    def f(self, x: Tensor) -> Tensor:
        """The sub-layer."""
        return torch.einsum("...i,ij->...j", x, self.w).tanh()

    def n(self, x: Tensor) -> Tensor:
        """The norm."""
        return normalised(x, self.gain, self.bias)


@graded(points=2, levels=3, claim="C46")
def post_norm(student: Student, case: Case) -> None:
    """Post-norm: the sum is normalised."""
    p = Parts(student, case)
    got = student.call("residual", p.x, p.sublayer, p.norm, p.nothing, "post")
    expect.close(got, p.n(p.x + p.f(p.x)), "post-norm, no dropout", atol=1e-4, x=p.x)


@graded(points=2, levels=3, claim="C46")
def pre_norm(student: Student, case: Case) -> None:
    """Pre-norm: only what the sub-layer reads is normalised."""
    p = Parts(student, case)
    got = student.call("residual", p.x, p.sublayer, p.norm, p.nothing, "pre")
    expect.close(got, p.x + p.f(p.n(p.x)), "pre-norm, no dropout", atol=1e-4, x=p.x)


@graded(points=2, levels=3)
def dropout_is_on_the_output(student: Student, case: Case) -> None:
    """Dropout falls on the sub-layer's output, before it is added."""
    p = Parts(student, case)
    mask = 2.0 * (case.uniform(*p.x.shape) > 0.5)
    mask[0, 0, 0], mask[0, 0, 1] = 0.0, 2.0
    dropout = student.given("masked", mask)
    # Without a norm both orders are one formula.
    for order in ("post", "pre"):
        got = student.call("residual", p.x, p.sublayer, p.nothing, dropout, order)
        expect.close(got, p.x + p.f(p.x) * mask, f"{order}, with a norm that does nothing", atol=1e-4, x=p.x, mask=mask)


@graded(points=1, levels=2)
def other_orders_are_refused(student: Student, case: Case) -> None:
    """Any order but post and pre raises ValueError."""
    p = Parts(student, case)
    rest = (p.x, p.sublayer, p.norm, p.nothing)
    for order in ("post", "pre"):
        expect.shape(student.call("residual", *rest, order), p.x.shape, f"the result with order {order!r}")
    for order in ("sandwich", "Post", "", "prenorm"):
        expect.raises(lambda order=order: student.call("residual", *rest, order), "ValueError", f"order {order!r}")


@graded(points=1, levels=2)
def x_is_left_alone(student: Student, case: Case) -> None:
    """x itself is not changed, so that a gradient can flow back to it."""
    p = Parts(student, case)
    for order in ("post", "pre"):
        # Torch refuses to differentiate by an input that was changed in place.
        slope = student.gradient("residual", p.x, p.sublayer, p.norm, p.nothing, order, cotangent=p.f(p.x))
        expect.shape(slope, p.x.shape, f"the gradient by x, order {order!r}", x=p.x)


@graded(points=2, levels=3, claim="C46")
def where_they_agree(student: Student, case: Case) -> None:
    """Your x and w make both orders agree."""
    d = 2 + case.between(2, 9)
    x, w = student.call("agree", d)
    x, w = expect.tensor(x, "x", (d,)).double(), expect.tensor(w, "w", (d, d)).double()
    expect.true(bool(w.abs().max() > 1e-2) and bool(x.abs().max() > 1e-2), "x and w must not be all zeros", x=x, w=w)
    expect.close(
        normalised(x + x @ w), x + normalised(x) @ w, "post-norm beside pre-norm", atol=1e-3, rtol=0.0, x=x, w=w
    )
