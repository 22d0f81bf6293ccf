"""Checks of ex06-2: a step of self-attention with a cache.

Paper: section 3.2.3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Maps = tuple[Tensor, Tensor, Tensor]


def causal(x: Tensor, maps: Maps) -> Tensor:
    """Row by row: position t over the list of positions up to t. No mask and no cache."""
    w_q, w_k, w_v = maps
    rows = []
    for t in range(x.size(1)):
        seen = x[:, : t + 1]
        scores = torch.einsum("bd,dk,btc,ck->bt", x[:, t], w_q, seen, w_k) / w_q.size(1) ** 0.5
        shares = scores.exp()
        rows.append(torch.einsum("bt,btd,dv->bv", shares / shares.sum(1, keepdim=True), seen, w_v))
    return torch.stack(rows, dim=1)


def inputs(case: Case) -> tuple[Tensor, Maps]:
    """Inputs `[B, T, D]` and the three matrices; keys and values together are narrower than an input."""
    batch, length, width = case.between(2, 3) if case.level else 1, case.between(3, 5), 12
    d_k, d_v = case.choice([4, 9]), case.choice([2, 3])
    dtype = torch.float64 if case.hidden else torch.float32
    q, k, v = (case.normal(width, n, dtype=dtype) / 3 for n in (d_k, d_k, d_v))
    return case.normal(batch, length, width, dtype=dtype), (q, k, v if d_k == 4 else v[:, :2])


def two(result: Any, what: str) -> tuple[Any, Any]:
    """An output and a cache."""
    expect.true(
        isinstance(result, tuple | list) and len(result) == 2, f"{what}: expected (output, cache)", result=result
    )
    return result[0], result[1]


def steps(student: Student, x: Tensor, maps: Maps, cache: Any = None) -> tuple[list[Any], Any]:
    """Hand over one position after another."""
    outputs = []
    for t in range(x.size(1)):
        output, cache = two(student.call("step", x[:, t : t + 1], cache, *maps), "step")
        outputs.append(output)
    return outputs, cache


def tensors(cache: Any) -> list[Tensor]:
    """All tensors of a cache, however it is built."""
    if isinstance(cache, Tensor):
        return [cache]
    parts = cache.values() if isinstance(cache, dict) else cache if isinstance(cache, tuple | list) else ()
    return [tensor for part in parts for tensor in tensors(part)]


@graded(points=2, levels=2, claim="C15")
def prefix_at_once(student: Student, case: Case) -> None:
    """All positions at once: each reads the inputs up to its own."""
    x, maps = inputs(case)
    output, _ = two(student.call("prefill", x, *maps), "prefill")
    expect.close(output, causal(x, maps), "the output of prefill", atol=1e-4, x=x)


@graded(points=3, levels=2, claim="C20")
def newest_row(student: Student, case: Case) -> None:
    """Step by step from nothing: each output is the last row of causal attention over all inputs so far."""
    x, maps = inputs(case)
    expected = causal(x, maps)
    outputs, _ = steps(student, x, maps)
    for t, output in enumerate(outputs):
        expect.close(output, expected[:, t : t + 1], f"the output of step {t + 1}", atol=1e-4, x=x[:, : t + 1])


@graded(points=2, levels=2, claim="C20")
def steps_after_a_prefix(student: Student, case: Case) -> None:
    """After a prefix the steps go on where it ended."""
    x, maps = inputs(case)
    x = torch.cat([x, case.normal(x.size(0), 2, x.size(2), dtype=x.dtype)], dim=1)
    _, cache = two(student.call("prefill", x[:, :-2], *maps), "prefill")
    outputs, _ = steps(student, x[:, -2:], maps, cache)
    for t, output in enumerate(outputs):
        expect.close(
            output, causal(x, maps)[:, t - 2][:, None], f"the output of step {t + 1} after the prefix", atol=1e-4, x=x
        )


@graded(points=2, levels=2, claim="C20")
def nothing_more_is_kept(student: Student, case: Case) -> None:
    """The cache holds what later steps need of the projections, and nothing else."""
    x, maps = inputs(case)
    held = tensors(steps(student, x, maps)[1])
    needed = torch.cat([torch.einsum("btd,dk->btk", x, w).flatten() for w in maps[1:]])
    numbers = torch.cat([part.flatten().to(x.dtype) for part in held]) if held else torch.empty(0)
    expect.true(
        len(numbers) == len(needed),
        f"after {x.size(1)} steps the cache holds {len(numbers)} numbers; later steps need {len(needed)}",
        shapes=[list(part.shape) for part in held],
    )
    expect.close(numbers.sort().values, needed.sort().values, "the numbers in the cache, sorted", atol=1e-4)
