"""Decoding: the cache, greedy search, beam search."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.hypotheses import best_of_all, log_probability, penalty, widest_beams
from annotated_grader.doctor.invariants.mistakes import WRONG_AXIS
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import Probe, dropout_of, normalised, of_size, relative_difference
from annotated_grader.doctor.subject import Found

TILED = Mistake(
    "Rows are repeated as a whole where each row must be repeated by itself: `repeat` for `repeat_interleave`.",
    24,
)
STALE = Mistake(
    "The cache is not reordered together with the hypotheses, or a part of it is not.",
    24,
    unless="cache-follows-beam",
)
NO_MASK = Mistake("Padded source tokens are not masked while decoding.", 7, "C12")
BLIND = Mistake("The newest position does not see itself, or the cache forgets its keys or values.", 23, "C20")
OTHER_SCALE = Mistake("Embeddings or logits are scaled in one of the two paths only.", 13, "C36")
GOES_ON = Mistake("Hypotheses go on after eos and gather its followers' log-probabilities.", 24)
NOT_NORMALISED = Mistake("Log-probabilities are replaced by logits or probabilities, or are not normalised.", 24, "C24")
END_FREE = Mistake("The log-probability of eos is not added to a hypothesis that ends.", 24, "C24")
NO_CAP = Mistake("The search does not count its symbols, or not against the limit that it was given.", 24)
UNORDERED = Mistake("Hypotheses are not sorted by score, the best first, before they are returned.", 24)
SAME_POSITION = Mistake("Every step is given the position of the first.", 14)
CAP = 8


@invariant(
    "cache-equals-forward",
    SAME_POSITION,
    BLIND,
    NO_MASK,
    OTHER_SCALE,
    paper="section 3.1",
    needs=("start", "step"),
)
def cache_equals_forward(probe: Probe) -> str:
    """Decoding step by step gives the logits of the whole prefix at once, also beside longer sentences."""
    target = probe.targets_in(6, 6, 6)
    # The whole prefix is as long as the source, and shorter.
    worst = max(_steps_apart(probe, probe.sources(longest, 3, 4), target) for longest in (6, 7))
    return f"In six steps of three sentences the logits differ from the whole prefix's by {of_size(worst)} at most."


def _steps_apart(probe: Probe, source: Tensor, target: Tensor) -> float:
    """The largest difference of a step's logits from those of the whole prefix."""
    expected = probe.log_probabilities(source, target)
    state, worst = probe.subject.start(source), 0.0
    for position in range(target.size(1)):
        with torch.no_grad():
            logits, state = probe.subject.step(state, target[:, position])
        difference = relative_difference(normalised(logits), expected[:, position])
        said = f"Step {position + 1} differs from the whole prefix: the logits by {of_size(difference)}."
        if difference > probe.close:
            padded = (source == probe.subject.pad).any(dim=1)
            plain = relative_difference(normalised(logits)[~padded], expected[~padded, position])
            raise InvariantViolated(said, *_step_mistakes(position, plain <= probe.close))
        worst = max(worst, difference)
    return worst


def _step_mistakes(position: int, only_padded: bool) -> tuple[Mistake, ...]:
    """What may make this step differ: beside longer sentences only, or anywhere; the first has no past yet."""
    if only_padded:
        return (NO_MASK, WRONG_AXIS)
    return (NO_MASK, OTHER_SCALE, BLIND) if position == 0 else (SAME_POSITION, BLIND, NO_MASK, OTHER_SCALE)


def _written_by(probe: Probe, state: Any, written: Tensor) -> Tensor:
    """Log-probabilities `[R, T, V]` of decoding step by step what is written `[R, T]`."""
    lines = []
    for tokens in written.unbind(dim=1):
        with torch.no_grad():
            logits, state = probe.subject.step(state, tokens)
        lines.append(normalised(logits))
    return torch.stack(lines, dim=1)


def _rows_in_order(probe: Probe) -> float:
    """How far rows of a state for a beam are from the same sentences, each given a row of its own from the start."""
    return max(_rows_of_beam(probe, beam) for beam in (3, 2))  # and as many hypotheses as sentences


def _rows_of_beam(probe: Probe, beam: int) -> float:
    source = probe.sources(5, 3)
    written = torch.cat((torch.full((2 * beam, 1), probe.subject.bos), probe.tokens(2 * beam, 1)), dim=1)
    together = _written_by(probe, probe.subject.start(source, beam), written)
    return relative_difference(
        together, _written_by(probe, probe.subject.start(source.repeat_interleave(beam, dim=0)), written)
    )


@invariant("start-rows", TILED, paper="section 6.1", needs=("start", "step"))
def start_rows(probe: Probe) -> str:
    """Row r of a new state for a beam belongs to sentence r // beam size, its memory and mask included."""
    difference = _rows_in_order(probe)
    said = f"Rows for three hypotheses of two sentences differ from rows made singly by {of_size(difference)}"
    require(difference <= probe.close, f"{said}, before any reordering.")
    return f"{said}."


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
            difference = relative_difference(normalised(logits), probe.log_probabilities(rows, written)[:, -1])
            if parents is None and difference > probe.close and _rows_in_order(probe) > probe.close:
                not_applicable("rows differ before any reordering, which is a failure of start-rows")
            said = f"After step {written.size(1)}, the rows' logits are off by {of_size(difference)}."
            require(difference <= probe.close, said)
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
        require(gap <= probe.close * float(line.abs().max()), said)
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
    """A beam of one finds what greedy search finds, or a finished text that scores more."""
    source, better = probe.sources(3, 4, 5, 6, 3, 5), 0
    alpha = 0.6 if probe.subject.claims.length_penalty == "wu" else 0.0
    _sharpen_weights(probe, source)
    for row in source:
        alone = row[row != probe.subject.pad][None]
        (greedy,) = probe.subject.greedy(alone, CAP)
        found = probe.subject.beam(alone, 1, alpha, CAP)
        require(len(found) == 1, f"A beam of one finds {len(found)} hypotheses.")
        if found[0].tokens != greedy:
            said = f"A beam of one finds {found[0].tokens}, greedy search {greedy}."
            require(_searches_better(probe, alone, found[0], greedy, alpha), said)
            better += 1
    more = f"; {better} score higher, because the beam ends every hypothesis at each step" if better else ""
    return f"The same outputs for {len(source) - better} of {len(source)} sentences{more}."


def _searches_better(probe: Probe, source: Tensor, found: Found, greedy: list[int], alpha: float) -> bool:
    """Whether a beam of one may differ: greedy search is right, and its finished text scores more."""
    try:
        _require_greedy(probe, source[0], greedy)
    except InvariantViolated:
        return False
    other = Found(greedy, 0.0, 0.0, len(greedy) < CAP)
    own, others = (log_probability(probe, source, one) / penalty(one, alpha) for one in (found, other))
    return found.finished and own >= others - probe.close * abs(others)


@invariant(
    "beam-scores",
    STALE,
    GOES_ON,
    NOT_NORMALISED,
    NO_CAP,
    paper="section 6.1",
    needs=("beam",),
)
def beam_scores(probe: Probe) -> str:
    """Log-probabilities of hypotheses are the model's own, eos included; the best comes first."""
    source, count = probe.sources(3, 5, 4), 0
    _sharpen_weights(probe, source)
    for alpha, row in itertools.product((0.0, 0.6), source):
        alone = row[row != probe.subject.pad][None]
        found = probe.subject.beam(alone, 4, alpha, CAP)
        require(0 < len(found) <= 4, f"A beam of four finds {len(found)} hypotheses.")
        longest = max(len(hypothesis.tokens) for hypothesis in found)
        require(longest <= CAP, f"A hypothesis has {longest} tokens; the cap is {CAP} symbols.", NO_CAP)
        for hypothesis in found:
            expected = log_probability(probe, alone, hypothesis)
            if not math.isclose(hypothesis.log_probability, expected, rel_tol=1e-3, abs_tol=1e-3):
                raise _other_sum(probe, alone, hypothesis, expected)
        texts = [tuple(hypothesis.tokens) for hypothesis in found]
        require(len(set(texts)) == len(texts), "Two hypotheses of a beam are the same.")
        _require_best_first(found)
        count += len(found)
    return f"Log-probabilities of {count} hypotheses are right."


def _other_sum(probe: Probe, source: Tensor, found: Found, expected: float) -> InvariantViolated:
    """What is said where a log-probability is not the hypothesis's own, and what may be behind the two numbers."""
    given, without_end = found.log_probability, log_probability(probe, source, found._replace(finished=False))
    said = f"{found.tokens} is given log-probability {given:.4f}; the model gives {expected:.4f}"
    if found.finished and math.isclose(given, without_end, rel_tol=1e-3, abs_tol=1e-3):
        return InvariantViolated(f"{said}, and without eos what is given.", END_FREE)
    if given > -1e-3:
        return InvariantViolated(f"{said}. A log-probability of zero or more is certainty.", NOT_NORMALISED)
    because = (STALE, NOT_NORMALISED) if given > expected else (STALE, GOES_ON, NOT_NORMALISED)
    return InvariantViolated(f"{said}.", *because)


def _require_best_first(found: Sequence[Found]) -> None:
    """By score: finished hypotheses before those that were cut, or all together."""
    apart, together = [(one.finished, one.score) for one in found], [one.score for one in found]
    ordered = any(ranks == sorted(ranks, reverse=True) for ranks in (apart, together))
    said = "Hypotheses are ordered neither by score nor by score with the finished ones first."
    require(ordered, said, UNORDERED)


def _penalised(sentence: str, mutant: str) -> Mistake:
    return Mistake(sentence, 24, "C24", mutant)


WRONG_SCORES: dict[str, tuple[Callable[[float, float], float], Mistake]] = {
    "log p": (lambda n, a: 1.0, _penalised("Raw log-probabilities are handed out as scores.", "score_without_penalty")),
    "log p * penalty": (
        lambda n, a: ((5 + n) / 6) ** a,
        _penalised("Log-probabilities are multiplied by the penalty, not divided by it.", "penalty_multiplied"),
    ),
    "log p / length ** alpha": (
        lambda n, a: n**-a,
        _penalised("The penalty is length ** alpha.", "penalty_by_bare_length"),
    ),
    "log p / penalty of one symbol more": (
        lambda n, a: ((6 + n) / 6) ** -a,
        _penalised("The penalty counts bos.", "penalty_counts_bos"),
    ),
    "log p / penalty of one symbol less": (
        lambda n, a: ((4 + n) / 6) ** -a,
        _penalised("The penalty does not count eos.", "penalty_without_eos"),
    ),
}
"""Ways to score a finished hypothesis of n symbols that are known and wrong: the factor on its log-probability."""


@invariant(
    "beam-penalty",
    Mistake("Scores are not divided by the length penalty, or it counts other symbols.", 24, "C24"),
    paper="section 6.1",
    needs=("beam",),
    claims=("length_penalty",),
)
def beam_penalty(probe: Probe) -> str:
    """Scores are the hypotheses' own log-probabilities divided by the claimed length penalty."""
    source, alpha, every = probe.sources(3, 5, 4), 0.6, []
    _sharpen_weights(probe, source)
    for row in source:
        every += probe.subject.beam(row[row != probe.subject.pad][None], 4, alpha, CAP)
    for found in every:
        length, score = len(found.tokens) + found.finished, found.log_probability / penalty(found, alpha)
        said = f"{length} symbols of log-probability {found.log_probability:.4f} score {found.score:.4f}"
        right = math.isclose(found.score, score, rel_tol=1e-3, abs_tol=1e-3)
        require(right, f"{said}; claimed is {score:.4f}.", *_recognised(every, alpha))
    return f"Scores of {len(every)} hypotheses are right."


def _recognised(every: Sequence[Found], alpha: float) -> list[Mistake]:
    """The one known wrong way in which all finished hypotheses are scored, if there is one."""
    ended = [found for found in every if found.finished and abs(found.log_probability) > 1e-3]
    fit = [
        mistake
        for factor, mistake in WRONG_SCORES.values()
        if all(math.isclose(f.score, f.log_probability * factor(len(f.tokens) + 1, alpha), rel_tol=1e-3) for f in ended)
    ]
    return fit if ended and len(fit) == 1 else []


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
    lengths: list[int] = []
    longest, searches = widest_beams(probe)
    for source, alpha, found in searches:
        best = best_of_all(probe, source, longest, alpha)
        lengths.append(len(best.tokens) + 1)
        if not found:
            raise InvariantViolated("The beam finds nothing.")
        said = f"Of all sequences up to {longest} symbols {best.tokens} scores best, {best.score:.4f}"
        ended = next((one for one in found if one.finished), None)
        cut = f"{said}; the widest beam returns the unfinished {found[0].tokens} first."
        # One that was cut may come first where all are ranked together, by its score.
        scored = log_probability(probe, source, found[0]) / penalty(found[0], alpha)
        require(found[0].finished or (ended is not None and scored >= best.score), cut)
        got = log_probability(probe, source, ended or found[0]) / penalty(ended or found[0], alpha)
        enough = got > best.score or math.isclose(got, best.score, rel_tol=1e-4, abs_tol=1e-3)
        require(enough, f"{said}; the widest beam finds {(ended or found[0]).tokens} with {got:.4f}.")
    said = ", ".join(map(str, lengths))
    return f"The best of all sequences of up to {longest} symbols are found; they have {said} symbols."
