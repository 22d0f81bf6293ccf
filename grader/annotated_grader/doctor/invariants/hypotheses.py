"""Hypotheses: their log-probability as the model gives it, the length penalty, and the best sequence of all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from annotated_grader.doctor.invariants.registry import not_applicable
from annotated_grader.doctor.probe import Probe
from annotated_grader.doctor.subject import Found


def log_probability(probe: Probe, source: Tensor, found: Found) -> float:
    subject = probe.subject
    written = [*found.tokens, subject.eos] if found.finished else found.tokens
    if not written:
        return 0.0
    read = probe.rectangle([[subject.bos, *written[:-1]]])
    lines = probe.log_probabilities(source, read)[0]
    return sum(float(line[token]) for line, token in zip(lines, written, strict=True))


def penalty(found: Found, alpha: float) -> float:
    return ((5 + len(found.tokens) + found.finished) / 6) ** alpha


def best_of_all(probe: Probe, source: Tensor, longest: int, alpha: float) -> Found:
    """The finished sequence of at most `longest` symbols that scores best, among all."""
    subject, best = probe.subject, None
    for length in range(longest):
        texts = list(itertools.product(probe.words.tolist(), repeat=length))
        read = probe.rectangle([[subject.bos, *text] for text in texts])
        written = torch.tensor([[*text, subject.eos] for text in texts])
        lines = probe.log_probabilities(source.expand(len(texts), -1), read)
        totals = lines.gather(2, written[..., None]).sum(dim=(1, 2))
        top = int(totals.argmax())
        total = float(totals[top])
        candidate = Found(list(texts[top]), total, total)
        candidate = candidate._replace(score=total / penalty(candidate, alpha))
        best = candidate if best is None or candidate.score > best.score else best
    assert best is not None
    return best


MOST = 6000
"""Sequences to try at most."""


def widest_beams(probe: Probe) -> tuple[int, Iterator[tuple[Tensor, float, list[Found]]]]:
    """The longest sequences to try, in symbols, and for some sources alpha and what a beam of all of them finds."""
    subject, words = probe.subject, probe.words.tolist()
    longest = next((n for n in (4, 3, 2) if len(words) ** (n - 1) * (len(words) + 1) <= MOST), None)
    if longest is None:
        not_applicable(f"a vocabulary of {subject.vocab_size} has too many sequences to try them all")
    probe.sharpen_weights(sure=True)
    # A strong penalty of short texts, besides the usual one: else the best may always be the empty text.
    alphas = (0.6, 2.0) if subject.claims.length_penalty == "wu" else (0.0,)
    rows = [row[row != subject.pad][None] for row in probe.sources(4, 3, 5, 6, 4, 5)]
    size = len(words) ** (longest - 1) * (len(words) + 1)
    pairs = zip(rows, itertools.cycle(alphas), strict=False)
    return longest, ((source, alpha, subject.beam(source, size, alpha, longest)) for source, alpha in pairs)


def sums_of_the_widest_beam_are_wrong(probe: Probe) -> bool:
    """Whether the best hypotheses of `beam-exhaustive` have another log-probability than the model gives them."""
    return any(
        not math.isclose(one.log_probability, log_probability(probe, source, one), rel_tol=1e-3, abs_tol=1e-3)
        for source, _, found in widest_beams(probe)[1]
        for one in found[:4]
    )
