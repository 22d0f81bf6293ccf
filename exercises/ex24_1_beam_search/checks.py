"""Checks of ex24-1: beam search with two pools.

Paper: section 6.1
"""

import itertools
import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

BOS, EOS = 1, 2
LEAST = 1e-6
Found = dict[tuple[int, ...], float]


def row_of(logs: Tensor, prefix: tuple[int, ...]) -> Tensor:
    """The tables of given.py, here."""
    return logs[sum((i + 1) * x for i, x in enumerate((BOS, *prefix))) % len(logs)]


def total_of(logs: Tensor, written: tuple[int, ...]) -> float:
    """Log-probability of everything written, eos included if it is there."""
    return math.fsum(float(row_of(logs, written[:i])[token]) for i, token in enumerate(written))


def best_of(pool: Found, alpha: float) -> tuple[list[int], float]:
    """The winner by score: its tokens and its log-probability."""
    written, total = max(pool.items(), key=lambda item: item[1] * (6 / (5 + len(item[0]))) ** alpha)
    return [x for x in written if x != EOS], total


def reference(logs: Tensor, beam_size: int, cap: int, alpha: float) -> tuple[list[int], float]:
    """The same search over one tensor of sums a step, `[alive, V]`, with `topk`."""
    alive, sums, ended = [()], torch.zeros(1, dtype=torch.float64), Found()
    for _ in range(cap):
        all_sums = sums[:, None] + torch.stack([row_of(logs, one) for one in alive]).double()
        values, places = all_sums.flatten().topk(min(2 * beam_size, all_sums.numel()))
        parents, tokens = places // logs.size(1), places % logs.size(1)
        grown = [(*alive[int(p)], int(t)) for p, t in zip(parents, tokens, strict=True)]
        ended |= {one: float(v) for one, v in zip(grown, values, strict=True) if one[-1] == EOS}
        going = [n for n, one in enumerate(grown) if one[-1] != EOS][:beam_size]
        alive, sums = [grown[n] for n in going], values[going]
    return best_of(ended or dict(zip(alive, sums.tolist(), strict=True)), alpha)


def random_tables(case: Case, width: int, end: float = 0.0) -> Tensor:
    """Random log-probabilities `[n, V]`; nobody wants to write bos or pad."""
    logits = 1.5 * case.normal(41 + case.between(0, 9), width)
    logits[:, :2] -= 30.0
    logits[:, EOS] += end
    return logits.log_softmax(-1)


def two(result: Any) -> tuple[Any, Any]:
    """Tokens and a log-probability."""
    right = isinstance(result, tuple | list) and len(result) == 2
    expect.true(right, "expected (tokens, log_probability)", result=result)
    return result[0], result[1]


def by_table(
    student: Student, rows: dict[str, dict[int, float]], k: int, cap: int, alpha: float, **ids: int
) -> list[int]:
    """What the answer finds with probabilities written down by hand; `ids` are bos and eos, if not 1 and 2."""
    named = {prefix: {str(token): p for token, p in row.items()} for prefix, row in rows.items()}
    step = student.given("written", named, 7, LEAST, ids.get("bos", BOS))
    tokens, _ = two(student.call("beam_search", step, k, cap, alpha=alpha, **ids))
    return tokens


@graded(points=2, levels=2)
def wide_beam_is_exact(student: Student, case: Case) -> None:
    """A beam as wide as everything there is: the winner among all sentences up to the cap."""
    cap, width, alpha = 2 + case.between(0, 1), 5 + case.between(0, 1), case.choice([0.0, 0.6])
    real = [x for x in range(width) if x != EOS]
    every = [(*w, EOS) for n in range(cap) for w in itertools.product(real, repeat=n)]
    for _ in range(100):  # until greedy search does not find it
        logs = random_tables(case, width, end=0.5)
        expected = best_of({written: total_of(logs, written) for written in every}, alpha)
        if expected[0] != reference(logs, 1, cap, alpha)[0]:
            break
    got = two(student.call("beam_search", student.given("tables", logs), width**cap, cap, alpha=alpha))
    expect.equal(got[0], expected[0], "the tokens", cap=cap, alpha=alpha)
    expect.number(got[1], expected[1], "the log-probability", atol=1e-4)


@graded(points=2, levels=2, claim="C47")
def finds_what_greedy_misses(student: Student, case: Case) -> None:
    """Two hypotheses: a weaker first token that leads to the better sentence is kept."""
    a, b = case.choice([(3, 4), (4, 5), (5, 3)])
    high = 0.5 + 0.08 * float(case.uniform(1))
    ids = {} if case.level == 0 else {"bos": 0, "eos": 6}
    rows = {"": {a: high, b: 0.95 - high}, f"{a}": {a: 0.5, b: 0.45}, f"{b}": {a: 0.95}}
    for row in rows.values() if ids else ():
        row[6] = 1e-9  # less than any other token: no tie brings an end up too early
    rows["..."] = {ids.get("eos", EOS): 0.95}
    shown = {"probabilities": str(rows), **ids}
    expect.equal(by_table(student, rows, 2, 5, 0.0, **ids), [b, a], "the tokens found by a beam of 2", **shown)
    expect.equal(by_table(student, rows, 1, 5, 0.0, **ids), [a, a], "the tokens found by a beam of 1", **shown)


@graded(points=3, levels=2)
def finished_stay_finished(student: Student, case: Case) -> None:
    """A hypothesis that has ended stays as it is, although k beginnings look better at that step."""
    a, b = case.choice([(3, 4), (4, 5), (5, 3)])
    p = 0.24 + 0.02 * float(case.uniform(1))
    # Ending at once has p; two beginnings are better for two steps, and then fall far below it.
    rows = {"": {EOS: p, a: 0.38, b: 0.36}, f"{a}": {a: 0.98}, f"{b}": {a: 0.98}}
    rows |= {"...": {EOS: 0.2, a: 0.2, b: 0.2}, f"{EOS}": {a: 0.05, EOS: 0.05}}
    expect.equal(by_table(student, rows, 2, 6, 0.0), [], "the tokens: the empty sentence", probabilities=str(rows))


@graded(points=2, levels=2)
def endings_take_no_place(student: Student, case: Case) -> None:
    """When the best candidates end, as many others stay alive as before."""
    a, b = case.choice([(3, 4), (4, 5), (5, 3)])
    p = 0.9 + 0.05 * float(case.uniform(1))
    # Step 2: both hypotheses would rather end. What goes on wins by its length in the end, from the second place.
    rows = {"": {a: 0.55, b: 0.45}, f"{a}": {EOS: 0.5, a: 0.3, b: 0.1}, f"{b}": {EOS: 0.55, b: 0.4}}
    rows |= {f"{a} {a}": {a: 0.3, b: 0.3}, f"{b} {b}": {a: p}, "...": {a: 0.99}}
    for n in range(1, 4):
        rows[" ".join([str(b), str(b), *[str(a)] * n])] = {a: p}
    rows[" ".join([str(b), str(b), *[str(a)] * 4])] = {EOS: 0.99}
    expected = [b, b, a, a, a, a]
    expect.equal(by_table(student, rows, 2, 7, 2.0), expected, "the tokens", alpha=2.0, probabilities=str(rows))


@graded(points=2, levels=2)
def length_penalty_decides(student: Student, case: Case) -> None:
    """Among the finished ones the score decides, and the length counts eos."""
    a, b = case.choice([(3, 4), (4, 5), (5, 3)])
    # a eos: log 0.42. b b b b eos: a little less. Alpha turns the ranking round at a value that is known.
    q = 0.40 - 0.03 * float(case.uniform(1))
    rows = {"": {a: 0.5, b: 0.5 * q / 0.4}, f"{a}": {EOS: 0.84}, f"{b}": {b: 0.9}, f"{b} {b}": {b: 0.95}}
    rows |= {f"{b} {b} {b}": {b: 0.95}, "...": {EOS: 0.95}}
    short, long = math.log(0.5 * 0.84), math.log(0.5 * q / 0.4 * 0.9 * 0.95**3)
    turn = math.log(long / short) / math.log(10 / 7)  # ((5 + 5) / 6) over ((5 + 2) / 6)
    for alpha, expected in ((turn - 0.03, [a]), (turn + 0.03, [b] * 4), (0.0, [a])):
        expect.equal(by_table(student, rows, 2, 6, alpha), expected, "the tokens", alpha=alpha, probabilities=str(rows))


@graded(points=3, levels=3)
def any_beam(student: Student, case: Case) -> None:
    """Random models, beams of 2 to 4: tokens and log-probability, also where nothing ends before the cap."""
    for end in (0.5, 0.5, -0.5, -0.5, -30.0):
        width, k, cap = 6 + case.between(0, 2), case.between(2, 4), case.between(4, 6)
        for _ in range(100):  # until a beam finds something else than greedy search
            logs = random_tables(case, width, end)
            expected = reference(logs, k, cap, 0.6)
            if expected[0] != reference(logs, 1, cap, 0.6)[0]:
                break
        got = two(student.call("beam_search", student.given("tables", logs), k, cap))
        expect.equal(got[0], expected[0], "the tokens", beam_size=k, cap=cap)
        expect.number(got[1], expected[1], "the log-probability", atol=1e-4, beam_size=k, cap=cap)
