"""Hypotheses: their log-probability as the model gives it, the length penalty, and the best sequence of all."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

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
