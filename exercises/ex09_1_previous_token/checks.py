"""Checks of ex09-1: score the heads that look back.

Paper: section 4, figures 3-5
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def maps(case: Case, lengths: list[int], causal: bool = False) -> Tensor:
    """Random maps [B, H, T, T] that a masked softmax could give; padded rows hold numbers as well."""
    b, t = len(lengths), max(lengths) + (1 if len(set(lengths)) > 1 else 0)
    scores = case.normal(b, case.choice([2, 3, 4]), t, t, dtype=torch.float64 if case.hidden else torch.float32)
    for i, n in enumerate(lengths):
        scores[i, :, :, n:] = -torch.inf
    return (scores.masked_fill(torch.ones(t, t).triu(1) > 0, -torch.inf) if causal else scores).softmax(-1)


def rows(lengths: list[int]) -> list[tuple[int, int]]:
    """Sentence and row, wherever there is a token before."""
    return [(i, t) for i, n in enumerate(lengths) for t in range(1, n)]


def mean_score(weights: Tensor, lengths: list[int]) -> Tensor:
    """Row by row."""
    return torch.stack([weights[i, :, t, t - 1] for i, t in rows(lengths)]).mean(0)


def ragged(case: Case) -> list[int]:
    """Lengths of which some differ."""
    return [2, 4] if case.level == 0 else [case.between(2, 3), 1, case.between(5, 6), 4]


def ask(student: Student, what: str, weights: Tensor, lengths: list[int], causal: bool = False) -> Tensor:
    """One of the answer's two tensors, `the scores` or `the baselines`, [H]."""
    got = student.call("previous_token_scores", weights, torch.tensor(lengths), causal)
    expect.true(isinstance(got, list | tuple) and len(got) == 2, "expected two tensors, the scores and the baselines")
    found = got[what == "the baselines"]
    return expect.tensor(found, what, (weights.size(1),), weights=weights, lengths=lengths)


@graded(points=3, levels=3)
def score_of_full_sentences(student: Student, case: Case) -> None:
    """Sentences of one length: the mean weight on the token before, for each head."""
    lengths = [case.between(3, 5)] * case.between(1, 3)
    weights = maps(case, lengths)
    score = ask(student, "the scores", weights, lengths)
    expect.close(score, mean_score(weights, lengths), "the scores", weights=weights, lengths=lengths)


@graded(points=2, levels=3)
def score_with_padding(student: Student, case: Case) -> None:
    """Sentences of several lengths: every real row counts once, and no padded row at all."""
    lengths = ragged(case)
    weights = maps(case, lengths)
    score = ask(student, "the scores", weights, lengths)
    expect.close(score, mean_score(weights, lengths), "the scores", weights=weights, lengths=lengths)


@graded(points=2, levels=3)
def baseline(student: Student, case: Case) -> None:
    """An even spread over the real tokens of a sentence, averaged over the same rows."""
    lengths = ragged(case)
    weights = maps(case, lengths)
    chance = ask(student, "the baselines", weights, lengths)
    shares = [1 / lengths[i] for i, _ in rows(lengths)]
    expected = torch.full((weights.size(1),), sum(shares) / len(shares))
    expect.close(chance, expected, "the baselines", lengths=lengths)


@graded(points=3, levels=3)
def causal_baseline(student: Student, case: Case) -> None:
    """Under a causal mask the spread is over the token itself and those before it."""
    lengths = ragged(case)
    weights = maps(case, lengths, causal=True)
    chance = ask(student, "the baselines", weights, lengths, True)
    shares = [1 / len(range(t + 1)) for _, t in rows(lengths)]
    expected = torch.full((weights.size(1),), sum(shares) / len(shares))
    expect.close(chance, expected, "the baselines with causal=True", lengths=lengths)
