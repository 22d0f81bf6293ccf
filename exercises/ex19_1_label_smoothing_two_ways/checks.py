"""Checks of ex19-1: the smoothed target, the loss against it, and its closed form.

Paper: section 5.4
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def log_probabilities(row: list[float]) -> list[float]:
    """The logarithms of a softmax, by hand."""
    top = max(row)
    total = top + math.log(sum(math.exp(x - top) for x in row))
    return [x - total for x in row]


def share(token: int, right: int, eps: float, vocabulary: int) -> float:
    """The target of one token."""
    return 1.0 - eps if token == right else eps / (vocabulary - 1)


def text(case: Case, scale: float = 2.0, padded: bool = True) -> tuple[Tensor, Tensor, int]:
    """Logits, ids with padding on the right in all rows but one, and the id of padding."""
    rows, length, vocabulary = 2 + case.between(0, 2), case.between(3, 6), case.between(5, 9)
    pad = 0 if case.level == 0 else case.between(0, vocabulary - 1)
    ids = (pad + case.integers(1, vocabulary, rows, length)) % vocabulary  # never the padding
    if padded:
        for b in range(1, rows):
            ids[b, case.between(1, length - 1) :] = pad
    return scale * case.normal(rows, length, vocabulary), ids, pad


def terms(logits: Tensor, ids: Tensor, pad: int, eps: float) -> list[float]:
    """The loss of each real token: entry by entry."""
    vocabulary, found = logits.size(-1), []
    for row, token in zip(logits.flatten(0, 1).tolist(), ids.flatten().tolist(), strict=True):
        if token != pad:
            log_p = log_probabilities(row)
            found.append(-sum(share(v, token, eps, vocabulary) * log_p[v] for v in range(vocabulary)))
    return found


def epsilon(case: Case) -> float:
    """0.1 first, and then others."""
    return 0.1 if case.level == 0 else 0.05 * case.between(1, 8)


@graded(points=2, levels=3)
def target_rows(student: Student, case: Case) -> None:
    """The right token has 1 - epsilon, each of the others the same share of the rest."""
    vocabulary, eps = case.between(3, 9), epsilon(case)
    ids = case.integers(0, vocabulary, case.between(2, 5))
    expected = torch.tensor([[share(v, i, eps, vocabulary) for v in range(vocabulary)] for i in ids.tolist()])
    got = student.call("smoothed_target", ids, eps, vocabulary)
    expect.close(got, expected, "smoothed_target(...)", ids=ids, eps=eps, vocabulary=vocabulary)


def asked(student: Student, logits: Tensor, ids: Tensor, eps: float, pad: int) -> tuple[Any, Any]:
    """What the answer's loss gives back."""
    result = student.call("smoothed_loss", logits, ids, eps, pad)
    pair = isinstance(result, tuple | list) and len(result) == 2
    expect.true(pair, "smoothed_loss must return (loss_sum, token_count)", result=result)
    return result[0], result[1]


@graded(points=2, levels=3, claim="C43")
def loss_of_all_tokens(student: Student, case: Case) -> None:
    """The sum of the cross-entropies of a batch that has no padding."""
    (logits, ids, pad), eps = text(case, padded=False), epsilon(case)
    got, _ = asked(student, logits, ids, eps, pad)
    expect.number(
        got, math.fsum(terms(logits, ids, pad, eps)), "loss_sum", logits=logits, target_out=ids, eps=eps, pad=pad
    )
    slope = student.gradient("smoothed_loss", logits, ids, eps, pad, output=0)
    rows = [[share(v, token, eps, logits.size(-1)) for v in range(logits.size(-1))] for token in ids.flatten().tolist()]
    expected = logits.softmax(-1) - torch.tensor(rows).view(logits.shape)
    expect.close(slope, expected, "the gradient of loss_sum by the logits", logits=logits, target_out=ids, eps=eps)


@graded(points=2, levels=3)
def padding_stays_out(student: Student, case: Case) -> None:
    """Padded places add nothing: a batch costs what its sentences cost, each without its padding."""
    (logits, ids, pad), eps = text(case), epsilon(case)
    got, _ = asked(student, logits, ids, eps, pad)
    alone = 0.0
    for b, row in enumerate(ids.tolist()):
        n = sum(token != pad for token in row)
        alone += float(
            expect.tensor(asked(student, logits[b : b + 1, :n], ids[b : b + 1, :n], eps, pad)[0], "loss_sum")
        )
    expect.true(alone > 0, "loss_sum: a loss is above zero", loss_sum=alone)
    expect.number(got, alone, "loss_sum, against its sentences one by one", target_out=ids, eps=eps, pad=pad)


@graded(points=1, levels=3)
def counts_real_tokens(student: Student, case: Case) -> None:
    """The count is of tokens, not of places or sentences."""
    logits, ids, pad = text(case)
    _, got = asked(student, logits, ids, 0.1, pad)
    expect.number(got, sum(token != pad for token in ids.flatten().tolist()), "token_count", target_out=ids, pad=pad)


@graded(points=1, levels=2)
def large_logits(student: Student, case: Case) -> None:
    """Logits as large as 1000 give a finite loss."""
    (logits, ids, pad), eps = text(case, scale=1.0, padded=False), epsilon(case)
    logits = 1000 * logits / logits.abs().amax()
    got, _ = asked(student, logits, ids, eps, pad)
    expect.number(
        got, math.fsum(terms(logits, ids, pad, eps)), "loss_sum", logits=logits, target_out=ids, eps=eps, pad=pad
    )


@graded(points=2, levels=3)
def from_two_numbers(student: Student, case: Case) -> None:
    """The closed form gives the loss of each token."""
    vocabulary, eps = case.between(3, 9), epsilon(case)
    rows = (2 * case.normal(case.between(2, 5), vocabulary)).tolist()
    ids = case.integers(0, vocabulary, len(rows)).tolist()
    tables = [log_probabilities(row) for row in rows]
    nll = torch.tensor([-table[i] for table, i in zip(tables, ids, strict=True)])
    mean = torch.tensor([-sum(table) / vocabulary for table in tables])
    expected = torch.tensor([-sum(share(v, i, eps, vocabulary) * table[v] for v in range(vocabulary))
                             for table, i in zip(tables, ids, strict=True)])  # fmt: skip
    got = student.call("closed_form", nll, mean, eps, vocabulary)
    expect.close(got, expected, "closed_form(...)", nll=nll, mean=mean, eps=eps, vocabulary=vocabulary)


@graded(points=2, levels=3, claim="C43")
def perplexity_of_the_text(student: Student, case: Case) -> None:
    """The exponential of the mean loss, not smoothed, over real tokens."""
    logits, ids, pad = text(case)
    plain = terms(logits, ids, pad, 0.0)
    expected = math.exp(math.fsum(plain) / len(plain))
    expect.number(student.call("perplexity", logits, ids, pad), expected, "perplexity(...)", target_out=ids, pad=pad)
