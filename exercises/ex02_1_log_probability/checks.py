"""Checks of ex02-1: log p of a sentence.

Paper: sections 1 and 3
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

END = 2


def reference(logits: Tensor, target_out: Tensor) -> float:
    """Row by row in Python's own arithmetic: the chosen logit, less the logarithm of the sum of exponentials."""
    total = 0.0
    for row, piece in zip(logits.double().tolist(), target_out.tolist(), strict=True):
        largest = max(row)
        total += row[piece] - largest - math.log(sum(math.exp(x - largest) for x in row))
    return total


def sentence(case: Case, length: int, vocabulary: int, size: float = 1.0) -> tuple[Tensor, Tensor]:
    """Logits of this size and ids without padding; the end token is certain, so its factor is one."""
    dtype = torch.float64 if case.hidden else torch.float32
    logits = size * case.normal(length, vocabulary, dtype=dtype)
    logits[-1] = 0.0
    logits[-1, END] = 40.0
    target_out = case.integers(3, vocabulary, length)
    target_out[-1] = END
    return logits, target_out


@graded(points=3, levels=3, claim="C41")
def factors_multiply(student: Student, case: Case) -> None:
    """The sentence is as probable as the product of its factors."""
    logits, target_out = sentence(case, case.between(2, 6), case.between(5, 9))
    got = student.call("log_probability", logits, target_out)
    inputs = {"logits": logits, "target_out": target_out}
    expect.number(got, reference(logits, target_out), "log p of the sentence", atol=1e-4, **inputs)


@graded(points=2, levels=3)
def the_end_is_a_factor(student: Student, case: Case) -> None:
    """The probability of the end token counts like that of any other piece."""
    logits, target_out = sentence(case, case.between(2, 6), case.between(5, 9))
    logits[-1] = 2 * case.normal(logits.size(1), dtype=logits.dtype)
    other = logits.clone()
    other[-1] = logits[-1].roll(1)  # the same numbers on other pieces
    a, b = (student.call("log_probability", x, target_out) for x in (logits, other))
    for got in (a, b):
        expect.tensor(got, "log p of the sentence", (), logits=logits)
    wanted = float(logits[-1, END] - other[-1, END])
    what = "change of log p where only the last row of the logits is changed"
    expect.number(a - b, wanted, what, atol=1e-3, before=logits[-1], after=other[-1], target_out=target_out)


@graded(points=2, levels=2)
def long_sentences(student: Student, case: Case) -> None:
    """Two thousand factors neither vanish nor overflow."""
    logits, target_out = sentence(case, 2000 - case.level * case.between(1, 300), 6 + case.level)
    got = student.call("log_probability", logits, target_out)
    expect.number(got, reference(logits, target_out), "log p of a very long sentence", target_out=target_out)


@graded(points=2, levels=2)
def large_logits(student: Student, case: Case) -> None:
    """Logits of 1000 give the right number, not infinity."""
    length, vocabulary = 3 + case.level, 5 + case.between(0, 3)
    logits, target_out = sentence(case, length, vocabulary)
    if case.level == 0:
        logits += 1000  # no probability changes, and none is small
    else:
        logits[:-1] = case.uniform(length - 1, vocabulary, dtype=logits.dtype) * 400
        logits[0, target_out[0]] = -1000.0
        logits[1, target_out[1]] = 1000.0
    got = student.call("log_probability", logits, target_out)
    inputs = {"logits": logits, "target_out": target_out}
    expect.number(got, reference(logits, target_out), "log p with very large logits", atol=1e-3, **inputs)


@graded(points=2, levels=3)
def padding_does_not_count(student: Student, case: Case) -> None:
    """Padding after the end token changes nothing."""
    logits, target_out = sentence(case, case.between(2, 5), case.between(5, 9))
    extra = case.between(1, 4)
    padded = torch.cat([logits, 3 * case.normal(extra, logits.size(1), dtype=logits.dtype)])
    ids = torch.cat([target_out, torch.zeros(extra, dtype=torch.long)])
    other = logits.clone()
    other[0, target_out[0]] += 1.0
    got, plain, changed = (
        student.call("log_probability", *pair) for pair in ((padded, ids), (logits, target_out), (other, target_out))
    )
    for value in (got, plain, changed):
        expect.tensor(value, "log p of the sentence", (), logits=logits)
    expect.true(changed != plain, "another logit for the first piece does not change log p", logits=logits)
    what = "log p with padding, beside your own log p without"
    expect.number(got, float(plain), what, atol=1e-4, logits=padded, target_out=ids)
