"""Checks of ex32-1: a model in which every feature has moved, run with the sinusoids of the other convention.

Paper: sections 3.4, 3.5
"""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model import Transformer
from annotated_grader import Case, Student, expect, graded


class SinesFirst(nn.Module):
    """Sinusoids, number by number: the sines of all waves, then the cosines."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model

    def forward(self, length: int) -> Tensor:
        """`[length, D]`"""
        waves = [10000 ** (-2 * i / self.d_model) for i in range(self.d_model // 2)]
        rows = [[f(p * w) for f in (math.sin, math.cos) for w in waves] for p in range(length)]
        return torch.tensor(rows)


AXES = {
    "embedding.weight": 1,
    "in_projection": 1,
    "inner.weight": 1,
    "inner.bias": None,
    "out_projection.weight": 0,
    "outer.weight": 0,
    "outer.bias": 0,
    "norm.weight": 0,
    "norm.bias": 0,
}
"""The axis of each kind of weight along which the features of the stream lie."""


def axis_of(name: str) -> int | None:
    """Of a weight of the model."""
    return next(axis for end, axis in AXES.items() if name.endswith(end))


def _template(d: int) -> Transformer:
    """A model whose hidden units, and whose heads together, are as many as the features of its stream."""
    sizes = {"vocab_size": d + 5, "d_model": d, "d_ff": d, "num_heads": 2, "d_k": 3, "d_v": d // 2}
    return Transformer(ModelConfig(**sizes, num_encoder_layers=1, num_decoder_layers=2, dropout=0.0)).eval()


with torch.random.fork_rng(devices=[]):  # checks draw nothing from global random numbers, as a new model does
    TEMPLATES = {d: _template(d) for d in (8, 12, 16)}


def small_model(case: Case) -> Transformer:
    """A model with weights drawn from the case."""
    model = copy.deepcopy(TEMPLATES[8 if case.level == 0 else case.choice([12, 16])])
    model.load_state_dict({name: 0.5 * case.normal(*tensor.shape) for name, tensor in model.state_dict().items()})
    return model


def returned(student: Student, weights: dict[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """What `carry` gives back, held to the names and shapes of the weights."""
    got: Any = student.call("carry", weights, order)
    expect.true(isinstance(got, dict), "carry returns a dictionary")
    expect.equal(sorted(got), sorted(weights), "the names of the weights")
    return {name: expect.shape(got[name], weights[name].shape, f"the new {name}") for name in weights}


def moved(weights: dict[str, Tensor], order: list[int]) -> dict[str, Tensor]:
    """The weights as they should be, feature by feature."""
    new = {}
    for name, tensor in weights.items():
        axis = axis_of(name)
        new[name] = tensor if axis is None else torch.stack([tensor.select(axis, i) for i in order], dim=axis)
    return new


def compare(student: Student, case: Case, ends: tuple[str, ...]) -> None:
    """Some kinds of weights after `carry` with a random order."""
    weights = small_model(case).state_dict()
    order = case.permutation(weights["embedding.weight"].size(1))
    got, expected = returned(student, weights, order), moved(weights, order.tolist())
    for name in weights:
        if name.endswith(ends):
            expect.close(got[name], expected[name], f"the new {name}", order=order, old=weights[name])


@graded(points=2, levels=3)
def where_the_sines_were(student: Student, case: Case) -> None:
    """The places of the sines come first, then those of the cosines."""
    d = 4 + 2 * case.level + 2 * case.between(0, 8)
    got = expect.shape(student.call("order", d), (d,), "the order", d_model=d)
    expect.equal(got.tolist(), [*range(0, d, 2), *range(1, d, 2)], "the old places, in the new order", d_model=d)


@graded(points=2, levels=2)
def what_reads(student: Student, case: Case) -> None:
    """Matrices that read the stream, and the embeddings."""
    compare(student, case, ("embedding.weight", "in_projection", "inner.weight"))


@graded(points=2, levels=2)
def what_writes(student: Student, case: Case) -> None:
    """Matrices and biases that write to the stream."""
    compare(student, case, ("out_projection.weight", "outer.weight", "outer.bias"))


@graded(points=1, levels=2)
def norms(student: Student, case: Case) -> None:
    """Gains and biases of the LayerNorms."""
    compare(student, case, ("norm.weight", "norm.bias"))


@graded(points=1, levels=2)
def hidden_units_stay(student: Student, case: Case) -> None:
    """The biases of the hidden units keep their places."""
    compare(student, case, ("inner.bias",))


@graded(points=3, levels=2)
def same_logits(student: Student, case: Case) -> None:
    """The carried model with sines first gives the logits of the old model."""
    model = small_model(case)
    width, size = model.config.d_model, model.config.vocab_size
    source, target = case.integers(3, size, 2, 5), case.integers(3, size, 2, 4)
    with torch.no_grad():
        expected = model(source, target)
        order = student.call("order", width)
        order = expect.shape(order, (width,), "the order", d_model=width)
        model.load_state_dict(returned(student, model.state_dict(), order))
        model.positions = SinesFirst(width)
        expect.close(model(source, target), expected, "the logits", atol=1e-3, rtol=1e-3)


@graded(points=1, levels=2)
def there_and_back(student: Student, case: Case) -> None:
    """`back` gives the inverse of any permutation."""
    d = 5 + case.level + case.between(0, 7)
    order = case.permutation(d)
    got = expect.shape(student.call("back", order), (d,), "the permutation", order=order)
    inverse = [order.tolist().index(j) for j in range(d)]
    expect.equal(got.tolist(), inverse, "the permutation that undoes it", order=order)


@graded(points=1, levels=2)
def nothing_is_shared(student: Student, case: Case) -> None:
    """The old checkpoint stays as it is, whatever happens to the new one."""
    weights = small_model(case).state_dict()
    order = case.permutation(weights["embedding.weight"].size(1))
    same: Any = student.given("changed_afterwards")(student.value("carry"), weights, order)
    expect.true(not same, "these weights changed with the result, or while it was made: " + ", ".join(map(str, same)))
