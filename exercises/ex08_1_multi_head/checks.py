"""Checks of ex08-1: multi-head attention without loops.

Paper: section 3.2.2, figure 2
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def weights_of_head(x_q: Tensor, x_kv: Tensor, w_q: Tensor, w_k: Tensor, mask: Tensor | None = None) -> Tensor:
    """Equation 1 for the columns of one head, entry by entry."""
    scores = torch.einsum("btd,dk,bse,ek->bts", x_q, w_q, x_kv, w_k) / w_q.size(1) ** 0.5
    shares = torch.exp(scores - scores.amax(-1, keepdim=True))
    shares = shares if mask is None else shares * mask
    return shares / shares.sum(-1, keepdim=True)


def columns(w: Tensor, heads: int) -> tuple[Tensor, ...]:
    """The columns of each head."""
    return w.split(w.size(1) // heads, dim=1)


def inputs(case: Case, alike: bool = False) -> tuple[Tensor, Tensor, list[Tensor], int]:
    """Two sequences of different lengths, and four matrices; if asked for, as many sentences, words and heads."""
    heads, width = case.between(2, 4), case.choice([3, 4, 5])
    batch, t = case.between(1, 3), case.between(2, 4)
    dtype = torch.float64 if case.hidden else torch.float32
    if alike:
        batch = t = heads = 3
    d, s = heads * width, t if alike else t + 3
    x_q, x_kv = case.normal(batch, t, d, dtype=dtype), case.normal(batch, s, d, dtype=dtype)
    return x_q, x_kv, [case.normal(d, d, dtype=dtype) / d**0.5 for _ in range(4)], heads


def attend(
    student: Student, x_q: Tensor, x_kv: Tensor, w: list[Tensor], heads: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The answer's output and weights, which must have the right shapes."""
    more = () if mask is None else (mask,)
    output, weights = student.call("multi_head", x_q, x_kv, *w, heads, *more)
    weights = expect.shape(
        weights, (x_q.size(0), heads, x_q.size(1), x_kv.size(1)), "the weights", x_q=x_q, heads=heads
    )
    return expect.shape(output, x_q.shape, "the output", x_q=x_q, heads=heads), weights


@graded(points=2, levels=3)
def words_stay_words(student: Student, case: Case) -> None:
    """In every head, row t belongs to word t, and column s to word s."""
    x_q, x_kv, w, heads = inputs(case)
    rows, cols = case.permutation(x_q.size(1)).flip(0), case.permutation(x_kv.size(1))
    _, weights = attend(student, x_q, x_kv, w, heads)
    _, moved = attend(student, x_q[:, rows], x_kv[:, cols], w, heads)
    back = moved[:, :, rows.argsort()][..., cols.argsort()]
    expect.close(
        back, weights, "the weights of reordered words, put back in order", x_q=x_q, queries_from=rows, keys_from=cols
    )


@graded(points=2, levels=3, claim="C08")
def scale(student: Student, case: Case) -> None:
    """The scores are divided by the root of the width of a head."""
    heads, width = case.choice([2, 3, 5]), case.choice([4, 9])
    # As many words as heads, and piece h of word t is piece t of word h: every way to cut them gives these heads.
    grids = [case.normal(heads, heads, width) for _ in range(2)]
    x_q, x_kv = ((g + g.transpose(0, 1)).flatten(1)[None] / 2 for g in grids)
    w = [torch.eye(heads * width) for _ in range(4)]
    _, weights = attend(student, x_q, x_kv, w, heads)
    pieces = [x.unflatten(-1, (heads, width)) for x in (x_q, x_kv)]
    scores = torch.einsum("bthk,bshk->bhts", *pieces).double() / width**0.5
    logs = weights.double().log()
    # Differences of log-weights are differences of scores: whatever normalises them drops out.
    what = "score of each key minus that of key 0"
    expect.close(logs - logs[..., :1], scores - scores[..., :1], what, atol=1e-3, x_q=x_q, x_kv=x_kv, heads=heads)


@graded(points=2, levels=2, claim="C07")
def heads_read_everything(student: Student, case: Case) -> None:
    """The weights of every head depend on every slice of the input."""
    x_q, x_kv, w, heads = inputs(case)
    for head in range(heads):
        cotangent = torch.zeros(x_q.size(0), heads, x_q.size(1), x_kv.size(1), dtype=x_q.dtype)
        cotangent[:, head] = case.normal(*cotangent[:, head].shape)
        slope = student.gradient("multi_head", x_q, x_kv, *w, heads, wrt=0, cotangent=cotangent, output=1)
        slope = expect.shape(slope, x_q.shape, "the gradient of a head's weights", x_q=x_q)
        per_slice = slope.unflatten(-1, (heads, -1)).abs().amax((0, 1, 3))
        message = f"head {head} reads nothing of some slice of the input: gradient by slice {per_slice.tolist()}"
        expect.true((per_slice > 1e-6).all(), message, x_q=x_q, heads=heads)


@graded(points=2, levels=3, claim="C04")
def concatenated_and_mixed(student: Student, case: Case) -> None:
    """What the heads found is put side by side, in order, and multiplied with W^O."""
    x_q, x_kv, w, heads = inputs(case)
    output, weights = attend(student, x_q, x_kv, w, heads)
    found = [weights[:, i].to(x_q.dtype) @ (x_kv @ columns(w[2], heads)[i]) for i in range(heads)]
    expected = sum(f @ rows for f, rows in zip(found, w[3].split(w[3].size(0) // heads), strict=True))
    expect.close(
        output, expected, "the output beside your own weights, times the values, times W^O", x_kv=x_kv, heads=heads
    )


@graded(points=2, levels=3, claim="C01")
def masked(student: Student, case: Case) -> None:
    """A key that the mask hides has weight zero, in every shape that a mask may have."""
    x_q, x_kv, w, heads = inputs(case, alike=case.level == 2)  # then a mask on a wrong axis raises no error
    b, t, s = x_q.size(0), x_q.size(1), x_kv.size(1)
    _, free = attend(student, x_q, x_kv, w, heads)
    for shape in ((t, s), (b, 1, 1, s), (b, 1, t, s), (heads, 1, s), (b, heads, t, s)):
        mask = case.uniform(*shape) > 0.4
        mask[..., -1] = True
        mask[..., 0] = False
        _, weights = attend(student, x_q, x_kv, w, heads, mask)
        left, shown = free * mask, {"mask": mask, "heads": heads}
        expected = left / left.sum(-1, keepdim=True)
        expect.close(weights, expected, "the weights beside your own unmasked ones, cut and rescaled", **shown)
        expect.equal(weights * ~mask, torch.zeros_like(weights), "the weights of the hidden keys", **shown)


@graded(points=2, levels=3)
def same_as_head_by_head(student: Student, case: Case) -> None:
    """Each head is equation 1 with columns of its own."""
    x_q, x_kv, w, heads = inputs(case)
    _, weights = attend(student, x_q, x_kv, w, heads)
    pairs = zip(columns(w[0], heads), columns(w[1], heads), strict=True)
    expected = torch.stack([weights_of_head(x_q, x_kv, q, k) for q, k in pairs], dim=1)
    expect.close(weights, expected, "the weights, head by head", x_q=x_q, x_kv=x_kv, w_q=w[0], w_k=w[1], heads=heads)
