"""Checks of ex08-4: repair a famous class.

Paper: sections 3.2.1 and 3.2.2, figure 2
"""

import torch
from torch import Tensor, nn

from annotated_grader import Case, Handle, Student, expect, graded

NAMES = ("w_q", "w_k", "w_v", "w_concat")


def identity(d: int) -> dict[str, Tensor]:
    """A state in which all four layers leave their input as it is."""
    return {f"{n}.{part}": value for n in NAMES for part, value in (("weight", torch.eye(d)), ("bias", torch.zeros(d)))}


def state(case: Case, d: int) -> dict[str, Tensor]:
    """A state of random numbers."""
    parts = [(f"{n}.weight", case.normal(d, d) / d**0.5) for n in NAMES]
    return dict(parts + [(f"{n}.bias", case.normal(d) / 2) for n in NAMES])


def layer(student: Student, d: int, heads: int, numbers: dict[str, Tensor]) -> Handle:
    """The answer's layer with these numbers in it."""
    made = student.construct("MultiHeadAttention", d, heads)
    made.load(numbers)
    return made


def sizes(case: Case) -> tuple[int, int, int, int, int]:
    """Batch, T, S, heads and D."""
    heads, t = case.choice([2, 3, 5]), case.between(3, 4)
    return case.choice([2, 1, 3]), t, t + 2, heads, heads * case.choice([6, 7, 9])


def attend(
    made: Handle, heads: int, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Output and weights, which must have the right shapes."""
    output, weights = made(q, k, v) if mask is None else made(q, k, v, mask)
    weights = expect.shape(weights, (q.size(0), heads, q.size(1), k.size(1)), "the weights", q=q, k=k, mask=mask)
    return expect.shape(output, q.shape, "the output", q=q, k=k, mask=mask), weights


def symmetric(case: Case, heads: int, width: int) -> Tensor:
    """As many words as heads; piece h of word t is piece t of word h, so that every way to cut gives the same heads."""
    grid = case.normal(heads, heads, width)
    return (grid + grid.transpose(0, 1)).flatten(1)[None] / 2


def twin(numbers: dict[str, Tensor], d: int, heads: int) -> nn.MultiheadAttention:
    """PyTorch's own layer with the same numbers."""
    made = nn.MultiheadAttention(d, heads, batch_first=True, device="meta")  # its first numbers are never drawn
    state = {f"in_proj_{end}": torch.cat([numbers[f"{n}.{end}"] for n in NAMES[:3]]) for end in ("weight", "bias")}
    state |= {f"out_proj.{end}": numbers[f"w_concat.{end}"] for end in ("weight", "bias")}
    made.load_state_dict(state, assign=True)
    return made


@graded(points=2, levels=2)
def words_stay_words(student: Student, case: Case) -> None:
    """Where words change places, rows and columns of every head's weights change places, and nothing else."""
    b, t, s, heads, d = sizes(case)
    q, k = case.normal(b, t, d), case.normal(b, s, d)
    made = layer(student, d, heads, state(case, d))
    rows, cols = torch.arange(t).roll(1), torch.arange(s).roll(1)
    _, weights = attend(made, heads, q, k, k)
    _, moved = attend(made, heads, q[:, rows], k[:, cols], k[:, cols])
    back = moved[:, :, rows.argsort()][..., cols.argsort()]
    expect.close(
        back, weights, "the weights of reordered words, put back in order", q=q, k=k, queries_from=rows, keys_from=cols
    )


@graded(points=2, levels=3, claim="C08")
def scale(student: Student, case: Case) -> None:
    """The scores are divided by the root of the width of a head."""
    heads, width = case.choice([2, 3, 5]), case.choice([4, 9])
    q, k = symmetric(case, heads, width), symmetric(case, heads, width)
    made = layer(student, heads * width, heads, identity(heads * width))
    _, weights = attend(made, heads, q, k, k)
    logs = weights.double().log()
    pieces = [x.unflatten(-1, (heads, width)).double() for x in (q, k)]
    scores = torch.einsum("bthk,bshk->bhts", *pieces) / width**0.5
    # Differences of log-weights are differences of scores: whatever normalises them drops out.
    what = "score of each key minus that of key 0, all layers being the identity"
    expect.close(logs - logs[..., :1], scores - scores[..., :1], what, atol=1e-3, q=q, k=k, heads=heads)


@graded(points=2, levels=3, claim="C01")
def masked_in_every_head(student: Student, case: Case) -> None:
    """A key that is hidden in a sentence has weight zero in all heads of this sentence, and in no other."""
    b, t, s, heads, d = sizes(case)
    q, k = case.normal(b, t, d), case.normal(b, s, d)
    mask = case.uniform(b, t, s) > 0.5
    mask[..., -1], mask[..., 0] = True, False
    made = layer(student, d, heads, state(case, d))
    _, free = attend(made, heads, q, k, k)
    _, weights = attend(made, heads, q, k, k, mask)
    left = torch.stack([free[i] * mask[i] for i in range(b)])
    expected = left / left.sum(-1, keepdim=True)
    expect.close(
        weights, expected, "the weights beside your own unmasked ones, cut and rescaled", mask=mask, heads=heads
    )


@graded(points=2, levels=2, claim="C04")
def joined_in_order(student: Student, case: Case) -> None:
    """Row t of the output joins what all heads found for word t, and goes through w_concat."""
    heads, width = case.choice([2, 3, 5]), case.choice([3, 4])
    d = heads * width
    q, k, v = (symmetric(case, heads, width) for _ in range(3))
    numbers = identity(d) | {"w_concat.weight": case.normal(d, d), "w_concat.bias": case.normal(d)}
    output, weights = attend(layer(student, d, heads, numbers), heads, q, k, v)
    found = torch.einsum("bhts,bshk->bthk", weights, v.unflatten(-1, (heads, width)))
    expected = torch.cat(list(found.unbind(2)), -1) @ numbers["w_concat.weight"].T + numbers["w_concat.bias"]
    expect.close(
        output, expected, "the output beside your own weights, times v, joined, through w_concat", v=v, heads=heads
    )


@graded(points=2, levels=2)
def same_as_torch(student: Student, case: Case) -> None:
    """With the same numbers, the layer agrees with torch.nn.MultiheadAttention."""
    b, t, s, heads, d = sizes(case)
    q, k, v, numbers = case.normal(b, t, d), case.normal(b, s, d), case.normal(b, s, d), state(case, d)
    output, weights = attend(layer(student, d, heads, numbers), heads, q, k, v)
    expected, maps = twin(numbers, d, heads)(q, k, v, average_attn_weights=False)
    expect.close(weights, maps, "the weights", atol=1e-4, q=q, k=k, heads=heads)
    expect.close(output, expected, "the output", atol=1e-4, q=q, k=k, v=v, heads=heads)


@graded(points=2, levels=2)
def gradients_as_torch(student: Student, case: Case) -> None:
    """So do the gradients, of the inputs and of all parameters."""
    b, t, s, heads, d = sizes(case)
    q, k, v, numbers = case.normal(b, t, d), case.normal(b, s, d), case.normal(b, s, d), state(case, d)
    cotangent, other = case.normal(b, t, d), twin(numbers, d, heads)
    made = layer(student, d, heads, numbers)
    inputs, parameters = made.gradient(q, k, v, wrt=(0, 1, 2), cotangent=cotangent, output=0)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    (other(*leaves)[0] * cotangent).sum().backward()
    for name, got, leaf in zip("qkv", inputs, leaves, strict=True):
        expect.close(got, leaf.grad, f"the gradient of {name}", atol=1e-3, q=q, k=k, v=v, heads=heads)
    weights = *other.in_proj_weight.grad.chunk(3), other.out_proj.weight.grad
    biases = *other.in_proj_bias.grad.chunk(3), other.out_proj.bias.grad
    for name, weight, bias in zip(NAMES, weights, biases, strict=True):
        expect.close(parameters[f"{name}.weight"], weight, f"the gradient of {name}.weight", atol=1e-3, heads=heads)
        expect.close(parameters[f"{name}.bias"], bias, f"the gradient of {name}.bias", atol=1e-3, heads=heads)
