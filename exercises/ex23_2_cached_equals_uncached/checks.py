"""Checks of ex23-2: a decoder layer with a cache.

Paper: sections 3.1, 3.2.3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Weights = dict[str, Tensor]


def mixture(query: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """One query of one sentence, key by key."""
    shares = [float(torch.dot(query, key)) / len(query) ** 0.5 for key in keys]
    powers = torch.tensor(shares, dtype=torch.float64).exp()
    return sum((p * v for p, v in zip(powers / powers.sum(), values, strict=True)), torch.zeros_like(values[0]))


def reference(tokens: Tensor, memory: Tensor, weights: Weights) -> Tensor:
    """Logits `[B, t, V]`, row by row over the list of positions up to it; in double precision."""
    w = {name: x.double() for name, x in weights.items()}
    rows = []
    for sentence, source in zip(tokens.tolist(), memory.double(), strict=True):
        inputs = [w["embedding"][token] + w["positions"][t] for t, token in enumerate(sentence)]
        for t, x in enumerate(inputs):
            seen = inputs[: t + 1]
            y = x + mixture(x @ w["q"], [s @ w["k"] for s in seen], [s @ w["v"] for s in seen])
            z = y + mixture(y @ w["cross_q"], [m @ w["cross_k"] for m in source], [m @ w["cross_v"] for m in source])
            rows.append(w["embedding"] @ z)
    return torch.stack(rows).view(*tokens.shape, -1)


def model(case: Case) -> tuple[Tensor, Tensor, Weights]:
    """Target ids `[B, T]`, a memory `[B, S, D]` and weights; D, K, S, T, V all different, T also above S."""
    d, k, batch = 8, 5, 1 if case.level == 0 else case.between(2, 3)
    target, source, vocabulary = case.between(3, 4), 6 + case.between(0, 1), 10 + case.between(0, 3)
    target, source = (6, 3) if case.level == 1 else (target, source)
    sizes = {"embedding": (vocabulary, d), "positions": (12, d), "q": (d, k), "k": (d, k), "v": (d, d)}
    sizes |= {"cross_" + name: sizes[name] for name in "qkv"}
    weights = {name: 0.7 * case.normal(*size) for name, size in sizes.items()}
    return case.integers(0, vocabulary, batch, target), case.normal(batch, source, d), weights


def two(result: Any) -> tuple[Any, dict[str, Any]]:
    """Logits and a state."""
    right = isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[1], dict)
    expect.true(right, "step: expected (logits, state), the state a dictionary", result=result)
    return result[0], result[1]


def walk(student: Student, tokens: Tensor, memory: Tensor, w: Weights) -> tuple[list[Any], Any]:
    """Hand over one token after another."""
    state, rows = student.call("start", memory, w), []
    for t in range(tokens.size(1)):
        logits, state = two(student.call("step", tokens[:, t], state, w))
        rows.append(logits)
    return rows, state


@graded(points=2, levels=2)
def first_token(student: Student, case: Case) -> None:
    """The first token: the logits of a prefix of length one."""
    tokens, memory, w = model(case)
    rows, _ = walk(student, tokens[:, :1], memory, w)
    expect.close(rows[0], reference(tokens[:, :1], memory, w)[:, 0], "the logits", atol=1e-4, tokens=tokens[:, :1])


@graded(points=3, levels=3, claim="C20")
def every_step(student: Student, case: Case) -> None:
    """Every step: the last row of `full` for the prefix so far."""
    tokens, memory, w = model(case)
    expected = reference(tokens, memory, w)
    rows, _ = walk(student, tokens, memory, w)
    for t, got in enumerate(rows):
        expect.close(got, expected[:, t], f"the logits after token {t + 1}", atol=1e-4, tokens=tokens[:, : t + 1])


@graded(points=2, levels=2)
def continued_twice(student: Student, case: Case) -> None:
    """One state continued with two different tokens: both are right, as if the other had never been."""
    tokens, memory, w = model(case)
    other = tokens.clone()
    other[:, -1] = (other[:, -1] + 1) % len(w["embedding"])
    run = student.given("twice")
    rows = run(student.value("start"), student.value("step"), tokens, other, memory, w)
    for got, ids, name in zip(rows, (tokens, other), ("first", "second"), strict=True):
        expected = reference(ids, memory, w)[:, -1]
        expect.close(got, expected, f"the logits of the {name} continuation", atol=1e-4, tokens=ids)


@graded(points=2, levels=2, claim="C20")
def keys_and_values_only(student: Student, case: Case) -> None:
    """The state holds keys and values, own ones and the source's, and nothing that would have to be projected again."""
    tokens, memory, w = model(case)
    _, state = walk(student, tokens, memory, w)
    inputs = w["embedding"][tokens] + w["positions"][: tokens.size(1)]
    needed = torch.cat([(a @ w[name]).flatten() for a, name in
                        ((inputs, "k"), (inputs, "v"), (memory, "cross_k"), (memory, "cross_v"))])  # fmt: skip
    held = [x.flatten().float() for x in state.values() if isinstance(x, Tensor) and x.numel() > 1]
    numbers = torch.cat(held) if held else torch.empty(0)
    shapes = {name: list(x.shape) for name, x in state.items() if isinstance(x, Tensor)}
    expect.true(
        len(numbers) == len(needed),
        f"after {tokens.size(1)} steps the state holds {len(numbers)} numbers; keys and values are {len(needed)}",
        shapes=shapes,
    )
    expect.close(numbers.sort().values, needed.sort().values, "the numbers in the state, sorted", atol=1e-4)
