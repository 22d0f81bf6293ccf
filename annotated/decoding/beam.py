"""Beam search with a pool of growing and a pool of finished hypotheses, and a bound that proves when to stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from annotated.config import EOS, DecodingConfig
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.pools import Alive, Finished
from annotated.decoding.prefix import Prefixes
from annotated.decoding.search import (
    DEFAULTS,
    ActiveBatch,
    Allowed,
    StepModel,
    decoding_mode,
    forbidden_ids,
    max_lengths,
    may_follow,
    top_tokens,
    with_attention,
)


def beam_search(
    model: StepModel,
    source: Tensor,
    beam_size: int = DEFAULTS.beam_size,
    alpha: float = DEFAULTS.alpha,
    max_new_tokens: int | None = DEFAULTS.max_new_tokens,
    num_return: int = DEFAULTS.num_return,
    *,
    extra_tokens: int = DEFAULTS.extra_tokens,
    forbidden: Sequence[int] = (),
    prefix: Sequence[Sequence[int]] | None = None,
    allowed: Allowed | None = None,
    return_attention: bool = False,
) -> list[list[Hypothesis]]:
    """Keep the `beam_size` most probable hypotheses at every step; return the finished ones that score best.

    Each step takes the best 2k candidates (at most k of them end in eos, so k go on): those that
    end compete for the finished pool by score, the best k others stay alive. A sentence is done when no
    alive hypothesis can still beat the worst that would be returned: log-probabilities only fall and
    penalties only grow, so the best alive log-probability divided by the penalty at the cap bounds all
    that could come. Stopping there loses nothing. An ending that is not among the best 2k never competes,
    which keeps a model's improbable but short endings out. A beam of 1 takes one candidate: greedy search.

    Parameters
    ----------
    model
        A `Transformer`; it decodes in evaluation mode, and its mode is put back.
    source
        Token ids `[B, S]`, padded with 0 on the right, each sentence ending in eos.
    beam_size
        k, hypotheses kept alive for each sentence.
    alpha
        Exponent of the length penalty; 0 ranks by log-probability alone.
    max_new_tokens
        Most tokens to write, eos included; None for each source's own length + `extra_tokens`, eos included.
    num_return
        Hypotheses to return for each sentence, at most `beam_size`.
    extra_tokens
        See `max_new_tokens`.
    forbidden
        Ids never to write, besides pad and bos; a prefix may hold them all the same.
    prefix
        For each sentence the token ids that every hypothesis must begin with (perhaps none); they count in
        log-probability, score and cap. A prefix that ends in eos leaves nothing to search.
    allowed
        Called at each step with what each row has written, ids `[R, t]`, and the sentence that each row belongs to, for
        a boolean mask `[R, V]` of what may come next (`annotated.decoding.Allowed`); None allows everything. As with
        `forbidden`, the probabilities stay the model's own, so a hypothesis has the same log-probability with and
        without the mask.
    return_attention
        Give each hypothesis its attention maps.

    Returns
    -------
    list of list of Hypothesis
        For each sentence its best hypotheses, finished ones first, each group by falling score. Unfinished
        ones come only from a sentence that reached its cap with too few finished. There can be fewer than
        `num_return` if no more exist: none if the prefix is impossible, or nothing is allowed.

    Raises
    ------
    ValueError
        If a sentence is empty, ids lie outside the vocabulary, or an option or a prefix makes no sense.

    Paper: section 6.1
    """
    check_options(beam_size, alpha, max_new_tokens, num_return, extra_tokens)
    with decoding_mode(model):
        limits = max_lengths(model, source, max_new_tokens, extra_tokens)
        options = (beam_size, alpha, num_return, forbidden)
        found = BeamSearch(model, source, limits, *options, prefix=prefix, allowed=allowed).run()
    return _with_maps(model, source, found) if return_attention else found


def _with_maps(model: StepModel, source: Tensor, found: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
    # As many passes as hypotheses of a sentence, each over sentences of the batch.
    result: list[list[Hypothesis]] = [[] for _ in found]
    for rank in range(max(map(len, found), default=0)):
        sentences = [sentence for sentence, hypotheses in enumerate(found) if len(hypotheses) > rank]
        rows = torch.tensor(sentences, device=source.device)
        with_maps = with_attention(model, source[rows], [found[sentence][rank] for sentence in sentences])
        for sentence, hypothesis in zip(sentences, with_maps, strict=True):
            result[sentence].append(hypothesis)
    return result


def check_options(beam_size: int, alpha: float, max_new_tokens: int | None, num_return: int, extra_tokens: int) -> None:
    """Raise `ValueError` if the options of a beam search make no sense."""
    DecodingConfig(
        beam_size=beam_size,
        alpha=alpha,
        extra_tokens=extra_tokens,
        max_new_tokens=max_new_tokens,
        num_return=num_return,
    )


class Candidates(NamedTuple):
    """The best continuations of one step, best first: `[B, 2k]` each, `[B, 1]` with a beam of 1."""

    log_probability: Tensor
    """float32; of the whole hypothesis, without length penalty."""
    parents: Tensor
    """int64; which of its sentence's alive hypotheses each continues, from 0."""
    tokens: Tensor
    """int64; the token that each appends."""


class BeamSearch:
    """One search over a batch; `run` does it all, `step` is overridden to watch it."""

    def __init__(
        self,
        model: StepModel,
        source: Tensor,
        limits: list[int],
        beam_size: int,
        alpha: float,
        num_return: int,
        forbidden: Sequence[int] = (),
        *,
        prefix: Sequence[Sequence[int]] | None = None,
        allowed: Allowed | None = None,
        stop_early: bool = True,
    ) -> None:
        self.model, self.device, self.alpha, self.stop_early = model, source.device, alpha, stop_early
        self.num_candidates = 2 * beam_size if beam_size > 1 else 1
        self.forbidden = forbidden_ids(forbidden, source.device)
        self.prefixes = Prefixes(prefix, limits) if prefix is not None else None
        self.allowed = allowed
        self.active = ActiveBatch(limits)
        self.found: list[list[Hypothesis]] = [[] for _ in limits]
        if limits:
            size = (len(limits), beam_size, max(limits))
            state = model.start_state(source, beam_size, max_new_tokens=max(limits))
            self.alive = Alive.start(*size, state, self.device)
            self.finished = Finished.start(len(limits), num_return, max(limits), self.device)
            penalties = [length_penalty(limit, alpha) for limit in limits]
            self.penalty_at_cap = torch.tensor(penalties, device=self.device)

    def run(self) -> list[list[Hypothesis]]:
        """Search until every sentence is done."""
        while self.active:
            self.step(self.grow())
            if self.active.must_look(self.alive.steps, self.device):
                self.harvest()
                self.compact()
        return self.found

    def grow(self) -> Candidates:
        """One step of the model, and the best continuations of each sentence over all its alive hypotheses."""
        alive = self.alive
        batch, beam_size = alive.log_probability.shape
        logits, alive.state = self.model.decode_step(alive.last, alive.state)
        # No more than 2k continuations of one hypothesis can be among the best 2k of all.
        each = min(self.num_candidates, logits.size(1))
        mask = may_follow(self.allowed, alive.tokens[:, :, : alive.steps], self.active.sentences)
        if self.prefixes is None or alive.steps >= self.prefixes.longest:
            log_probability, tokens = top_tokens(logits, each, self.forbidden, mask)
        else:
            forced = self.prefixes.top_tokens
            log_probability, tokens = forced(logits, each, self.forbidden, alive.steps, self.active.sentences, mask)
        total = alive.log_probability[:, :, None] + log_probability.view(batch, beam_size, each)
        best, place = total.flatten(1).topk(min(self.num_candidates, beam_size * each), dim=1)
        return Candidates(best, place // each, tokens.view(batch, -1).gather(1, place))

    def step(self, candidates: Candidates) -> tuple[Tensor, Tensor | None]:
        """Finish those that end, go on with the best of the others.

        Returns
        -------
        kept, placed
            Indices of the candidates that stay alive `[B, k]`, and what `Finished.add` returned, if anything ended.
        """
        ends = candidates.tokens == EOS
        placed = self.finish(candidates, ends) if self.device.type != "cpu" or bool(ends.any()) else None
        going_on = candidates.log_probability.masked_fill(ends, -math.inf)
        log_probability, kept = going_on.topk(self.alive.log_probability.size(1), dim=1)
        parents, tokens = candidates.parents.gather(1, kept), candidates.tokens.gather(1, kept)
        self.alive.advance(parents, tokens, log_probability)
        return kept, placed

    def finish(self, candidates: Candidates, ends: Tensor) -> Tensor:
        """Let the candidates that end compete for the finished pool, by score."""
        scores = candidates.log_probability / length_penalty(self.alive.steps + 1, self.alpha)
        scores = scores.masked_fill(~ends, -math.inf)
        return self.finished.add(self.alive, candidates.parents, scores, candidates.log_probability)

    def is_done(self) -> list[bool]:
        """For each row: is its cap reached, or does the bound prove that nothing better can come?"""
        bound = self.alive.log_probability.amax(dim=1)
        # Minus infinity where nothing is alive; without stopping early, anything alive may still win.
        hope = bound.masked_fill(bound > -math.inf, math.inf)
        bound = bound / self.penalty_at_cap if self.stop_early else hope
        proven = (self.finished.scores[:, -1] >= bound).tolist()
        return [a or b for a, b in zip(proven, self.active.at_cap(self.alive.steps), strict=True)]

    def harvest(self) -> None:
        """Take the results of the sentences that are done."""
        at_cap = self.active.at_cap(self.alive.steps)
        for row, done in enumerate(self.is_done()):
            if done and not self.active.done[row]:
                self.active.done[row] = True
                self.found[self.active.sentences[row]] = self.results(row, unfinished=at_cap[row])

    def results(self, row: int, unfinished: bool) -> list[Hypothesis]:
        """The finished hypotheses of a row; if there are too few and `unfinished`, then the best alive ones."""
        pool, alive = self.finished, self.alive
        found = []
        columns = (pool.tokens[row], pool.lengths[row], pool.log_probability[row], pool.scores[row])
        for tokens, length, log_probability, score in zip(*(c.tolist() for c in columns), strict=True):
            if score != -math.inf:
                found.append(Hypothesis(tokens[:length], log_probability, score))
        if unfinished:
            penalty = length_penalty(alive.steps, self.alpha)
            ends = zip(alive.tokens[row].tolist(), alive.log_probability[row].tolist(), strict=True)
            rest = [Hypothesis(tokens[: alive.steps], p, p / penalty, False) for tokens, p in ends if p != -math.inf]
            found += rest[: pool.scores.size(1) - len(found)]
        return found

    def compact(self) -> None:
        """Drop the sentences that are done, once they are many enough to pay for the move."""
        if (keep := self.active.compact()) is not None:
            rows = torch.tensor(keep, device=self.device)
            self.alive.select(rows)
            self.finished.select(rows)
            self.penalty_at_cap = self.penalty_at_cap.index_select(0, rows)
