"""Checks of ex23-1: greedy search with an end and a cap.

Paper: sections 3.1, 6.1
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

PAD, BOS, EOS = 0, 1, 2
Rows = Callable[[list[int]], list[float]]


def reference(rows: Rows, cap: int, never: tuple[int, ...] = ()) -> tuple[list[int], float, bool]:
    """By recursion: what is written after a prefix, and what it adds."""

    def rest(prefix: list[int]) -> list[float]:
        if len(prefix) > cap or prefix[-1] == EOS:
            return []
        row = rows(prefix)
        value, token = max((v, -t) for t, v in enumerate(row) if t not in {PAD, BOS, *never})
        chosen.append(-token)
        return [value, *rest([*prefix, -token])]

    chosen: list[int] = []
    total = math.fsum(rest([BOS]))
    finished = bool(chosen) and chosen[-1] == EOS
    return (chosen[:-1] if finished else chosen), total, finished


def by_prefix(logs: Tensor) -> Rows:
    """The tables of given.py, here."""
    return lambda prefix: logs[sum((i + 1) * x for i, x in enumerate(prefix)) % len(logs)].tolist()


def three(result: Any) -> tuple[Any, Any, Any]:
    """Tokens, log-probability, finished."""
    right = isinstance(result, tuple | list) and len(result) == 3
    expect.true(right, "expected (tokens, log_probability, finished)", result=result)
    tokens, total, finished = result
    flag = bool(finished) if isinstance(finished, Tensor) and finished.numel() == 1 else finished
    expect.true(isinstance(flag, bool), "the third result must be True or False", result=result)
    return tokens, total, flag


def model(case: Case, cap: int) -> Tensor:
    """Random tables `[n, V]` of log-probabilities with which a greedy search ends after a few tokens."""
    for _ in range(200):
        logits = case.normal(37 + case.between(0, 9), 6 + case.between(0, 4), dtype=torch.float64)
        logits[:, :EOS] -= 20  # a trained model never wants pad or bos
        logs = logits.log_softmax(-1)
        tokens, _, finished = reference(by_prefix(logs), cap)
        if finished and 3 <= len(tokens) <= 12:
            break
    return logs


@graded(points=3, levels=3)
def best_token_each_time(student: Student, case: Case) -> None:
    """The tokens: each the most probable one after *all* tokens before it, without bos and eos."""
    length = 3 + case.between(0, 4)
    logs = model(case, length + 50)
    tokens, _, _ = three(student.call("greedy", student.given("tables", logs), length))
    expected, _, _ = reference(by_prefix(logs), length + 50)
    expect.equal(tokens, expected, "the tokens", source_length=length)


@graded(points=2, levels=2, claim="C47")
def no_looking_ahead(student: Student, case: Case) -> None:
    """At a fork it takes the better token, although the other one would lead to the better sentence."""
    a, b, width = 3, 4, 5 + case.between(0, 3)
    high = 0.5 + 0.1 * float(case.uniform(1))
    first = torch.full((width,), 1e-4)
    first[a], first[b] = high, 0.95 - high
    second = torch.full((width, width), 1e-4)
    second[a, a], second[a, b], second[b, a] = 0.4, 0.35, 0.98
    rest = torch.full((width,), 1e-4)
    rest[EOS] = 0.99
    step = student.given("tree", first.log(), second.log(), rest.log())
    tokens, _, _ = three(student.call("greedy", step, 4))
    expect.equal(tokens, [a, a], "the tokens of a search that never goes back", first=first, second=second)


@graded(points=3, levels=2)
def cap_counts_what_is_written(student: Student, case: Case) -> None:
    """At most source length + extra tokens are written, eos included; `finished` says whether it ended itself."""
    width, length, extra = 5 + case.between(0, 3), 2 + case.between(0, 3), case.between(1, 4)
    cap = length + extra
    pad, bos, eos = (PAD, BOS, EOS) if case.level == 0 else (4, 3, 1)
    ids = {"pad": pad, "bos": bos, "eos": eos} if case.level else {}
    # A model that ends long after the cap comes before one that ends just behind it: one step too many shows there.
    for steps in (cap - 1, cap, cap + 9, cap + 1):
        logits = case.normal(steps, width).clamp(-2, 2)
        logits[:, [pad, bos, eos]] = -9.0
        logits[-1, eos] = 9.0  # eos is token number `steps`
        logs = logits.log_softmax(-1)
        result = student.call("greedy", student.given("clock", logs), length, extra=extra, **ids)
        tokens, _, finished = three(result)
        expected = [int(row.argmax()) for row in logs[: min(cap, steps - 1)]]
        what = f"the tokens of a model that ends with token {steps}, at a cap of {cap}"
        expect.equal(tokens, expected, what, source_length=length, extra=extra, **ids)
        expect.equal(finished, steps <= cap, f"finished, for a model that ends with token {steps} at a cap of {cap}")


@graded(points=2, levels=2)
def log_probability_of_all(student: Student, case: Case) -> None:
    """The log-probability: one term for each token written, that of eos included."""
    logs = model(case, 54)
    result = three(student.call("greedy", student.given("tables", logs), 4))
    expected = reference(by_prefix(logs), 54)[1]
    expect.number(result[1], expected, "the log-probability", atol=1e-4, your_tokens=result[0])


@graded(points=2, levels=2)
def forbidden_tokens(student: Student, case: Case) -> None:
    """Pad, bos and forbidden ids are never written; the others keep the model's own probabilities."""
    logits = case.normal(31 + case.between(0, 5), 8 + case.between(0, 3), dtype=torch.float64)
    logits[:, [PAD, BOS]] += 1.5
    logits[:, EOS] -= 1
    logs, never = logits.log_softmax(-1), (4, 6)
    tokens, total, _ = three(student.call("greedy", student.given("tables", logs), 3, extra=5, forbidden=list(never)))
    expected, value, _ = reference(by_prefix(logs), 8, never)
    expect.equal(tokens, expected, "the tokens", forbidden=list(never))
    expect.number(total, value, "the log-probability", atol=1e-4, your_tokens=tokens)
