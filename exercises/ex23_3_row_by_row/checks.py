"""Checks of ex23-3: greedy search for a batch whose rows end at different steps.

Paper: section 6.1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Special = tuple[int, int, int]
"""The ids of pad, bos and eos."""


def sentence(case: Case, steps: int, longest: int, width: int, special: Special) -> Tensor:
    """Logits `[longest, V]` of a sentence that writes eos as token number `steps`, and other tokens before."""
    logits, (pad, bos, eos) = case.normal(longest, width).clamp(-2, 2), special
    words = torch.tensor([token for token in range(width) if token not in special])
    logits[:, [pad, bos]] = -30.0
    logits[:, eos] = -6.0
    logits[torch.arange(longest), words[case.integers(0, len(words), longest)]] += 2.5
    if steps <= longest:
        logits[steps - 1, eos] = 9.0
    return logits


def alone(table: Tensor, cap: int, special: Special) -> tuple[list[int], float, bool]:
    """One sentence, number by number."""
    width, last, tokens, total = table.size(1), special[1], list[int](), 0.0
    while len(tokens) < cap:
        row = table[min(len(tokens), len(table) - 1)].double()
        own = [float(x) - 0.05 * ((v - last) % width) / width for v, x in enumerate(row)]
        last = max(range(width), key=own.__getitem__)
        total += own[last] - math.log(math.fsum(map(math.exp, own)))
        tokens.append(last)
        if last == special[2]:
            return tokens[:-1], total, True
    return tokens, total, False


class Batch:
    """Sentences, their lengths and what each gives alone."""

    def __init__(self, case: Case, steps: list[int], lengths: list[int], extra: int) -> None:
        width, longest = 7 + case.between(0, 3), max(lengths) + extra + 3
        special: Special = case.choice([(4, 0, 3), (5, 3, 1)]) if case.level else (0, 1, 2)
        self.tables = torch.stack([sentence(case, n, longest, width, special) for n in steps])
        self.lengths, self.extra, self.eos = lengths, extra, special[2]
        self.named = dict(zip(("pad", "bos", "eos"), special, strict=True)) if case.level else {}  # they have defaults
        self.expected = [alone(t, n + extra, special) for t, n in zip(self.tables, lengths, strict=True)]

    def run(self, student: Student, order: list[int] | None = None) -> tuple[list[Any], Tensor, list[bool]]:
        """What the answer makes of these sentences, in this order."""
        order = list(range(len(self.lengths))) if order is None else order
        step = student.given("batch_model", self.tables, order, self.eos)
        result = student.call("repaired", step, [self.lengths[n] for n in order], extra=self.extra, **self.named)
        right = isinstance(result, tuple | list) and len(result) == 3
        expect.true(right, "expected (tokens, total, finished)", result=result)
        tokens, total, finished = result
        expect.true(isinstance(tokens, list) and len(tokens) == len(order), "the tokens: expected a list for each row")
        expect.true(isinstance(finished, list | Tensor), "finished: expected a list of truth values", result=finished)
        flags = [bool(x) for x in finished]
        return tokens, expect.tensor(total, "total", (len(order),)), flags


def room(case: Case) -> Batch:
    """Sentences that all end by themselves, long before their caps, at different steps."""
    count = 2 if case.level == 0 else case.between(3, 5)
    steps = [2 + int(n) * 2 + case.between(0, 1) for n in case.permutation(count)]
    return Batch(case, steps, [9 + case.between(0, 5) for _ in steps], 6)


@graded(points=2, levels=2)
def tokens_of_each_row(student: Student, case: Case) -> None:
    """The tokens: each row ends with its own eos."""
    batch = room(case)
    tokens, _, _ = batch.run(student)
    for row, (got, one) in enumerate(zip(tokens, batch.expected, strict=True)):
        expect.equal(got, one[0], f"the tokens of row {row + 1}")


@graded(points=3, levels=2)
def sums_are_closed(student: Student, case: Case) -> None:
    """The sums: up to a row's own eos, and with it."""
    batch = room(case)
    _, total, _ = batch.run(student)
    expected = torch.tensor([one[1] for one in batch.expected])
    lengths = [len(one[0]) + 1 for one in batch.expected]
    expect.close(total, expected, "the sums of log-probabilities", atol=1e-3, symbols_written=lengths)


@graded(points=3, levels=2)
def own_caps(student: Student, case: Case) -> None:
    """The cap: each row's own source length + extra, eos included; rows that reach it are not finished."""
    extra, short, long = 1 + case.between(0, 2), 2 + case.between(0, 1), 6 + case.between(0, 2)
    steps = [99, short + extra, short + extra + 1, long + extra, 99]
    batch = Batch(case, steps, [short, short, short, long, long], extra)
    tokens, _, finished = batch.run(student)
    expect.equal(finished, [one[2] for one in batch.expected], "finished", end_would_be_token=steps, extra=extra)
    for row, (got, one) in enumerate(zip(tokens, batch.expected, strict=True)):
        expect.equal(got, one[0], f"the tokens of row {row + 1}", end_would_be_token=steps[row])
    one_token = Batch(case, [99, 1, 99], [1, 1, 3], 0)
    tokens, _, _ = one_token.run(student)
    expect.equal(tokens, [one[0] for one in one_token.expected], "the tokens, with caps of 1, 1 and 3", extra=0)


@graded(points=2, levels=2)
def neighbours_do_not_matter(student: Student, case: Case) -> None:
    """Sums and tokens of a row, beside other rows, and at another place in the batch."""
    extra = 2 + case.between(0, 1)
    batch = Batch(case, [99, 4, 99, 7], [3, 5, 8, 6], extra)
    order = [int(n) for n in case.permutation(4)]
    for rows in (order, order[:2], order[1:]):
        tokens, total, _ = batch.run(student, rows)
        expect.equal(tokens, [batch.expected[n][0] for n in rows], "the tokens", rows=rows)
        sums = torch.tensor([batch.expected[n][1] for n in rows])
        expect.close(total, sums, "the sums of log-probabilities", atol=1e-3, rows=rows)
