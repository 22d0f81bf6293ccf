"""Checks of ex13-1: one embedding matrix with three uses.

Paper: section 3.4
"""

import torch
from torch import Tensor

from annotated_grader import Case, Handle, Student, expect, graded

WEIGHTS = ("source_embedding.weight", "target_embedding.weight", "generator.weight")


def filled(student: Student, case: Case) -> tuple[Handle, Handle, Tensor]:
    """An answer's module, the probe around it, and the matrix that is now in it."""
    v, d = 5 + case.between(2, 9), case.choice([4, 9, 16])
    shared, matrix = student.construct("SharedEmbedding", v, d), case.normal(v, d)
    probe = student.given("Probe", shared)
    shapes = probe.method("shapes")
    expect.true([v, d] in shapes, f"there is no parameter of shape [{v}, {d}]; found {shapes}")
    probe.method("fill", matrix)
    return shared, probe, matrix


def tied(student: Student, case: Case) -> tuple[Handle, Tensor]:
    """The given model after `tie`, and the matrix that it should have kept."""
    model = student.given("Model", 7 + case.between(1, 9), 3 + case.between(1, 4))
    kept = model.state()[WEIGHTS[0]]
    student.call("tie", model)
    return model, kept


@graded(points=1)
def one_parameter(student: Student, case: Case) -> None:
    """SharedEmbedding has one parameter, of shape [V, D]."""
    v, d = 6 + case.between(2, 9), case.between(3, 6)
    shapes = student.given("Probe", student.construct("SharedEmbedding", v, d)).method("shapes")
    expect.equal(shapes, [[v, d]], "the shapes of all parameters", vocab_size=v, d_model=d)


@graded(points=1, levels=1)
def rows_start_short(student: Student, case: Case) -> None:
    """Rows start from N(0, 1/d_model), so that their length is about 1."""
    v, d = 200 + case.between(1, 40), 64
    length, mean = student.given("Probe", student.construct("SharedEmbedding", v, d)).method("start")
    expect.number(length, 1.0, "the length of a row, to the nearest half", vocab_size=v, d_model=d)
    expect.number(mean, 0.0, "the mean of all entries, to one decimal", vocab_size=v, d_model=d)


@graded(points=2, claim="C37")
def way_in(student: Student, case: Case) -> None:
    """embed picks rows and multiplies them by the root of d_model."""
    shared, _, matrix = filled(student, case)
    ids = case.integers(0, matrix.size(0), case.between(1, 3), case.between(2, 5))
    expected = torch.stack([torch.stack([matrix[i] * len(matrix[i]) ** 0.5 for i in row]) for row in ids.tolist()])
    expect.close(shared.method("embed", ids), expected, "embed(ids)", ids=ids, matrix=matrix)


@graded(points=2)
def way_out(student: Student, case: Case) -> None:
    """logits compares with every row: no factor, no bias."""
    shared, _, matrix = filled(student, case)
    x = case.normal(case.between(1, 3), case.between(2, 5), matrix.size(1))
    expected = torch.einsum("btd,vd->btv", x, matrix)
    expect.close(shared.method("logits", x), expected, "logits(x)", atol=1e-4, x=x, matrix=matrix)


@graded(points=1)
def learns_from_both_ends(student: Student, case: Case) -> None:
    """The matrix gets its gradient from both ends."""
    shared, probe, matrix = filled(student, case)
    ids = case.integers(0, matrix.size(0), 2, case.between(2, 4))
    cotangent = case.normal(*ids.shape, matrix.size(0))
    # Both ends as the answer scales them: a wrong factor is another check's affair.
    inward = shared.method("embed", ids)[0, 0, 0] / matrix[ids[0, 0], 0]
    unit = torch.eye(matrix.size(1))[:1, None]
    outward = (shared.method("logits", unit) - shared.method("logits", 0 * unit))[0, 0, 0] / matrix[0, 0]
    e = matrix.clone().requires_grad_(True)
    (torch.tanh(inward * e[ids]) @ e.T * outward).backward(cotangent)
    _, gradients = probe.gradient(ids, cotangent=cotangent)
    total = sum(g for g in gradients.values() if g.shape == matrix.shape)
    expect.close(total, e.grad, "the gradient of the matrix", atol=1e-3, rtol=1e-3, ids=ids)


@graded(points=2, claim="C36")
def one_tensor_after_tie(student: Student, case: Case) -> None:
    """After tie the model has one matrix under three names."""
    model, kept = tied(student, case)
    state = model.state()
    for name in WEIGHTS:
        expect.close(state[name], kept, name, atol=0.0, rtol=0.0)
    wide = [name for name, x in model.parameters().items() if x.shape == kept.shape]
    expect.equal(len(wide), 1, "the number of parameters of shape [V, D]", found=wide)


@graded(points=2)
def still_one_after_load_and_step(student: Student, case: Case) -> None:
    """It is still one after load_state_dict and one step."""
    model, kept = tied(student, case)
    model.load({name: case.normal(*x.shape) for name, x in model.state().items()})
    before = model.state()
    source, target, gold = case.integers(0, len(kept), 3, 2, case.between(2, 5))
    model.method("step", source, target, gold)
    for when, state in (("after load_state_dict", before), ("after one step", model.state())):
        for name in WEIGHTS[1:]:
            expect.close(state[name], state[WEIGHTS[0]], f"{name} {when}, beside {WEIGHTS[0]}", atol=0.0, rtol=0.0)
    moved = (model.state()[WEIGHTS[0]] - before[WEIGHTS[0]]).abs().max()
    expect.true(bool(moved > 0), "the step has changed nothing", before=before[WEIGHTS[0]])


@graded(points=1)
def no_bias_left(student: Student, case: Case) -> None:
    """The tied generator has no bias."""
    model, _ = tied(student, case)
    names = sorted(name for name in model.parameters() if "bias" in name)
    expect.equal(names, [], "parameters called bias")
    expect.equal(sorted(model.state()), sorted([*WEIGHTS, "middle.weight"]), "the names in the state")
