"""Decoding: the cache, greedy search, beam search."""

from __future__ import annotations

import collections
import itertools
import math

import torch
from torch import Tensor

from annotated.doctor.finding import Mistake
from annotated.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated.doctor.probe import CLOSE, Probe, dropout_of, of_size, relative_difference
from annotated.doctor.subject import Found

STALE = Mistake("The cache is not reordered together with the hypotheses, or a part of it is not.", 24)
SAME_POSITION = Mistake("Every step is given the position of the first.", 14)
CAP = 8


@invariant(
    "cache-equals-forward",
    SAME_POSITION,
    Mistake("The newest position does not see itself, or the cache forgets its keys or values.", 23, "C20"),
    Mistake("Padded source tokens are not masked while decoding.", 7, "C12"),
    Mistake("Embeddings or logits are scaled in one of the two paths only.", 13, "C36"),
    paper="section 3.1",
    needs=("start", "step"),
)
def cache_equals_forward(probe: Probe) -> str:
    """Decoding step by step gives the logits of the whole prefix at once, also beside longer sentences."""
    source, target = probe.sources(6, 3, 4), probe.targets_in(6, 6, 6)
    expected = probe.logits(source, target)
    state, worst = probe.subject.start(source), 0.0
    for position in range(target.size(1)):
        with torch.no_grad():
            logits, state = probe.subject.step(state, target[:, position])
        difference = relative_difference(logits.float(), expected[:, position])
        said = f"Step {position + 1} differs from the whole prefix: the logits by {of_size(difference)}."
        require(difference <= CLOSE, said)
        worst = max(worst, difference)
    return f"In six steps of three sentences the logits differ from the whole prefix's by {of_size(worst)} at most."


@invariant(
    "cache-follows-beam",
    STALE,
    paper="section 6.1",
    needs=("start", "step", "reorder"),
)
def cache_follows_beam(probe: Probe) -> str:
    """After a reordering, each row goes on as its parent."""
    subject, beam = probe.subject, 3
    source = probe.sources(5, 3)
    rows = source.repeat_interleave(beam, dim=0)
    state = subject.start(source, beam)
    written = torch.full((2 * beam, 1), subject.bos)
    # Rows of a sentence are told apart first; then one goes on twice, one not at all, and once more.
    for parents in (None, [2, 0, 0, 5, 5, 3], [1, 2, 0, 3, 5, 4]):
        if parents is not None:
            state = subject.reorder(state, torch.tensor(parents))
            written = written[torch.tensor(parents)]
        for _ in range(1 if parents is not None else 2):
            with torch.no_grad():
                logits, state = subject.step(state, written[:, -1])
            difference = relative_difference(logits.float(), probe.logits(rows, written)[:, -1])
            said = f"After step {written.size(1)}, the rows' logits are off by {of_size(difference)}."
            require(difference <= CLOSE, said)
            written = torch.cat((written, probe.tokens(1, 2 * beam).T), dim=1)
    return "Twice reordered, every row goes on as its parent."


def _sharpen_weights(probe: Probe, source: Tensor) -> None:
    """Make the model write different tokens, and end some of its outputs and not all, if that can be arranged.

    Where no output ends, eos changes places in the output table with a token that is often written.
    """
    subject = probe.subject
    probe.sharpen_weights()
    for _ in range(3):
        if not (subject.offers("greedy") and subject.offers("tables")):
            return
        found = subject.greedy(source, CAP)
        if any(len(tokens) < CAP for tokens in found):
            return
        written = collections.Counter(token for tokens in found for token in tokens[2:])
        (often, _), *_ = written.most_common(1)
        with torch.no_grad():
            table = subject.tables().output
            table[[subject.eos, often]] = table[[often, subject.eos]]


@invariant(
    "greedy-follows-model",
    Mistake("The search goes on after eos, or stops one step early.", 23),
    Mistake("The tokens are read from the wrong position of the logits.", 23),
    SAME_POSITION,
    paper="section 3.1",
    needs=("greedy",),
)
def greedy_follows_model(probe: Probe) -> str:
    """Greedy search writes the model's most probable token at each step, ends at eos, keeps to the cap."""
    source = probe.sources(*[3, 4, 5, 6] * 6)
    _sharpen_weights(probe, source)
    found = probe.subject.greedy(source, CAP)
    require(len(found) == len(source), f"{len(source)} sentences give {len(found)} outputs.")
    ended = 0
    for row, tokens in zip(source, found, strict=True):
        _require_greedy(probe, row, tokens)
        ended += len(tokens) < CAP
    return f"{len(found)} outputs follow the most probable token; {ended} end in eos, the others at the cap."


def _require_greedy(probe: Probe, source: Tensor, tokens: list[int]) -> None:
    subject = probe.subject
    require(subject.eos not in tokens, f"Output {tokens} goes on after eos ({subject.eos}).")
    require(len(tokens) <= CAP, f"An output has {len(tokens)} tokens; the cap is {CAP} symbols.")
    source = source[source != subject.pad][None] if subject.pad not in (subject.bos, subject.eos) else source[None]
    target = probe.rectangle([[subject.bos, *tokens]])[:, :CAP]
    logits = probe.logits(source, target)[0]
    allowed = logits.clone()
    allowed[:, [subject.pad, subject.bos]] = -math.inf
    written = [*tokens, subject.eos][:CAP]
    for step, (line, choice, token) in enumerate(zip(logits, allowed, written, strict=True), 1):
        # Searches that never write pad or bos are right, and so are those that may.
        best = choice if line[token] <= choice.max() else line
        gap = float(best.max() - line[token])
        what = "eos" if token == subject.eos else f"token {token}"
        said = f"Step {step} writes {what}, whose logit is {gap:.2g} below that of token {int(best.argmax())}."
        require(gap <= CLOSE * float(line.abs().max()), said)
        if token == subject.pad:
            return  # what follows it was computed with a token that the whole prefix hides


@invariant(
    "greedy-without-dropout",
    Mistake("Translating does not switch to evaluation mode.", 21),
    Mistake("Translating leaves the model in evaluation mode, and training goes on without dropout.", 21),
    paper="section 5.4",
    needs=("greedy", "modules"),
)
def greedy_without_dropout(probe: Probe) -> str:
    """Greedy search called in training mode gives the same, and puts the mode back."""
    source = probe.sources(3, 4, 5, 6)
    _sharpen_weights(probe, source)
    expected = probe.subject.greedy(source, CAP)
    with probe.training(), dropout_of(probe.modules(), 0.3):
        found = probe.subject.greedy(source, CAP)
        stays = all(module.training for module in probe.subject.modules())
    changed = sum(a != b for a, b in zip(found, expected, strict=True))
    require(changed == 0, f"{changed} of {len(source)} outputs change when the model was in training mode before.")
    require(stays, "After a search the model is in evaluation mode, where it was in training mode before.")
    return "In training mode the same outputs, and the mode is put back."


@invariant(
    "beam-one-is-greedy",
    Mistake("A beam of one drops or ends its only hypothesis too early.", 24),
    STALE,
    paper="section 6.1",
    needs=("greedy", "beam"),
)
def beam_one_is_greedy(probe: Probe) -> str:
    """A beam of one finds what greedy search finds."""
    source = probe.sources(3, 4, 5, 6, 3, 5)
    _sharpen_weights(probe, source)
    for row in source:
        alone = row[row != probe.subject.pad][None]
        (greedy,) = probe.subject.greedy(alone, CAP)
        found = probe.subject.beam(alone, 1, 0.6, CAP)
        require(len(found) == 1, f"A beam of one finds {len(found)} hypotheses.")
        require(found[0].tokens == greedy, f"A beam of one finds {found[0].tokens}, greedy search {greedy}.")
    return f"The same outputs for {len(source)} sentences."


@invariant(
    "beam-scores",
    STALE,
    Mistake("Hypotheses go on after eos and gather its followers' log-probabilities.", 24),
    Mistake("Scores are not divided by the length penalty, or it counts other symbols.", 24, "C24"),
    Mistake("Log-probabilities are replaced by logits or probabilities.", 24),
    paper="section 6.1",
    needs=("beam",),
)
def beam_scores(probe: Probe) -> str:
    """Log-probabilities are the model's own, eos included; scores are the claimed penalty; best first."""
    source, count = probe.sources(3, 5, 4), 0
    _sharpen_weights(probe, source)
    for alpha, row in itertools.product((0.0, 0.6), source):
        alone = row[row != probe.subject.pad][None]
        found = probe.subject.beam(alone, 4, alpha, CAP)
        require(0 < len(found) <= 4, f"A beam of four finds {len(found)} hypotheses.")
        for hypothesis in found:
            _require_own_score(probe, alone, hypothesis, alpha)
        texts = [tuple(hypothesis.tokens) for hypothesis in found]
        require(len(set(texts)) == len(texts), "Two hypotheses of a beam are the same.")
        ranks = [(hypothesis.finished, hypothesis.score) for hypothesis in found]
        require(ranks == sorted(ranks, reverse=True), "Hypotheses are not ordered by score, finished ones first.")
        count += len(found)
    return f"Log-probabilities and scores of {count} hypotheses are right."


def _require_own_score(probe: Probe, source: Tensor, found: Found, alpha: float) -> None:
    expected = _log_probability(probe, source, found)
    said = f"{found.tokens} is given log-probability {found.log_probability:.4f}; the model gives {expected:.4f}."
    require(math.isclose(found.log_probability, expected, rel_tol=1e-3, abs_tol=1e-3), said)
    if probe.subject.claims.length_penalty == "wu":
        length = len(found.tokens) + found.finished
        score = expected / ((5 + length) / 6) ** alpha
        said = f"{length} symbols of log-probability {expected:.4f} score {found.score:.4f}; claimed is {score:.4f}."
        require(math.isclose(found.score, score, rel_tol=1e-3, abs_tol=1e-3), said)


def _log_probability(probe: Probe, source: Tensor, found: Found) -> float:
    subject = probe.subject
    written = [*found.tokens, subject.eos] if found.finished else found.tokens
    read = probe.rectangle([[subject.bos, *written[:-1]]])
    lines = probe.log_probabilities(source, read)[0]
    return sum(float(line[token]) for line, token in zip(lines, written, strict=True))


@invariant(
    "beam-exhaustive",
    Mistake("A finished hypothesis is pushed out by growing ones: there is no pool of finished ones.", 24),
    Mistake("The search stops at the first finished hypothesis.", 24),
    STALE,
    paper="section 6.1",
    needs=("beam",),
)
def beam_exhaustive(probe: Probe) -> str:
    """On a tiny vocabulary a beam as wide as everything finds the best sequence there is."""
    subject, words = probe.subject, probe.words.tolist()
    longest = next((n for n in (4, 3, 2) if len(words) ** (n - 1) * (len(words) + 1) <= MOST), None)
    if longest is None:
        not_applicable(f"a vocabulary of {subject.vocab_size} has too many sequences to try them all")
    probe.sharpen_weights(sure=True)
    lengths: list[int] = []
    # A strong penalty of short texts, besides the usual one: else the best may always be the empty text.
    alphas = (0.6, 2.0) if subject.claims.length_penalty == "wu" else (0.0,)
    for alpha, row in zip(itertools.cycle(alphas), probe.sources(4, 3, 5, 6, 4, 5), strict=False):
        source = row[row != subject.pad][None]
        best = _best_of_all(probe, source, longest, alpha)
        lengths.append(len(best.tokens) + 1)
        found = subject.beam(source, len(words) ** (longest - 1) * (len(words) + 1), alpha, longest)
        if not found:
            raise InvariantViolated("The beam finds nothing.")
        said = f"Of all sequences up to {longest} symbols {best.tokens} scores best, {best.score:.4f}"
        cut = f"{said}; the widest beam returns the unfinished {found[0].tokens} first."
        require(found[0].finished, cut)
        got = _log_probability(probe, source, found[0]) / _penalty(found[0], alpha)
        enough = got > best.score or math.isclose(got, best.score, rel_tol=1e-4, abs_tol=1e-3)
        require(enough, f"{said}; the widest beam finds {found[0].tokens} with {got:.4f}.")
    return f"The best of all sequences of up to {longest} symbols are found; they have {_list(lengths)} symbols."


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


MOST = 6000
"""Sequences to try at most."""


def _penalty(found: Found, alpha: float) -> float:
    return ((5 + len(found.tokens) + found.finished) / 6) ** alpha


def _best_of_all(probe: Probe, source: Tensor, longest: int, alpha: float) -> Found:
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
        candidate = candidate._replace(score=total / _penalty(candidate, alpha))
        best = candidate if best is None or candidate.score > best.score else best
    assert best is not None
    return best
