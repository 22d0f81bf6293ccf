"""Checks of ex12-2: is there a norm on top of this encoder?

Paper: section 3.1
"""

import torch
from torch import Tensor

from annotated_grader import Case, Handle, Student, expect, graded


def normalised(x: Tensor) -> Tensor:
    """Layer normalisation by its definition."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()


class Stack:
    """An input and its layers: here, and where the answer runs."""

    def __init__(self, student: Student, case: Case, start: float = 1.0, size: float = 1.0) -> None:
        self.d, n = 24 + case.between(1, 8), 4 + case.between(0, 3)
        self.x = start * case.normal(1 + case.between(1, 2), 5 + case.between(1, 4), self.d)
        self.size, self.w = size, [case.normal(self.d, self.d) for _ in range(n)]
        self.layers: list[Handle] = [student.given("layer", w, size) for w in self.w]
        self.gain, self.bias = 1.0 + case.uniform(self.d), 0.3 * case.normal(self.d)
        self.norm: Handle = student.given("norm", self.gain, self.bias)

    def outputs(self) -> list[Tensor]:
        """The bare sum after each layer."""
        found, x = [], self.x
        for w in self.w:
            x = x + self.size * torch.tanh(torch.einsum("bsd,de->bse", normalised(x), w))
            found.append(x)
        return found

    def final(self, x: Tensor) -> Tensor:
        """The norm on top."""
        return normalised(x) * self.gain + self.bias


def lengths_of(outputs: list[Tensor]) -> Tensor:
    """Root of the mean square of each vector's entries, averaged over positions."""
    return torch.stack([y.square().mean(-1).sqrt().mean() for y in outputs])


def verdict(student: Student, stack: Stack, encode: Handle) -> bool:
    """What the answer says about an encoder."""
    _, there = student.call("diagnose", encode, stack.layers, stack.x)
    there = bool(there) if isinstance(there, Tensor) and there.numel() == 1 else there
    expect.true(isinstance(there, bool), "the second result must be True or False")
    return there


@graded(points=2, levels=2)
def lengths(student: Student, case: Case) -> None:
    """The lengths at each depth, in units of the root of D."""
    stack = Stack(student, case)
    got, _ = student.call("diagnose", student.given("encoder"), stack.layers, stack.x)
    expect.close(got, lengths_of(stack.outputs()), "lengths without a norm", atol=1e-3, rtol=1e-3, x=stack.x)
    got, _ = student.call("diagnose", student.given("encoder", stack.norm), stack.layers, stack.x)
    expected = lengths_of([stack.final(y) for y in stack.outputs()])
    expect.close(got, expected, "lengths with a norm on top", atol=1e-3, rtol=1e-3, x=stack.x)


@graded(points=2, levels=2, claim="C46")
def tells_them_apart(student: Student, case: Case) -> None:
    """True for an encoder with a fresh norm on top, False for one without."""
    stack = Stack(student, case)
    ones, zeros = torch.ones(stack.d), torch.zeros(stack.d)
    encoders = {True: student.given("encoder", student.given("norm", ones, zeros)), False: student.given("encoder")}
    for there, encode in encoders.items():
        said = verdict(student, stack, encode)
        expect.equal(said, there, f"the verdict on an encoder {'with' if there else 'without'} a final norm")


@graded(points=2, levels=2)
def size_alone_says_nothing(student: Student, case: Case) -> None:
    """A norm with a gain is a norm, and a bare sum that ends at length 1 is none."""
    stack = Stack(student, case)
    said = verdict(student, stack, student.given("encoder", stack.norm))
    expect.equal(said, True, "the verdict on an encoder with a final norm whose gain is not 1", gain=stack.gain)
    small = Stack(student, case, start=0.1, size=0.2)
    end = float(lengths_of(small.outputs())[-1])
    small = Stack(student, case, start=0.1 / end, size=0.2 / end)
    ends = lengths_of(small.outputs())
    said = verdict(student, small, student.given("encoder"))
    expect.equal(said, False, "the verdict on a bare sum that ends near length 1", lengths=ends)


@graded(points=2, levels=2, claim="C46")
def mended_encoder(student: Student, case: Case) -> None:
    """The repaired encoder normalises once, at the top."""
    stack = Stack(student, case)
    got = student.call("repaired", stack.x, stack.layers, stack.norm)
    expect.close(got, stack.final(stack.outputs()[-1]), "the repaired encoder", atol=1e-3, rtol=1e-3, x=stack.x)
    slope = student.gradient("repaired", stack.x, stack.layers, stack.norm, cotangent=case.normal(*stack.x.shape))
    expect.shape(slope, stack.x.shape, "the gradient of x", x=stack.x)
