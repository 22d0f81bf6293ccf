"""Diverse beam search: several small beams, each of which avoids the words of those before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.config import EOS
from annotated.decoding.beam import BeamSearch, Candidates, check_options
from annotated.decoding.hypothesis import Hypothesis
from annotated.decoding.search import DEFAULTS, StepModel, decoding_mode, max_lengths


def diverse_beam_search(
    model: StepModel,
    source: Tensor,
    beam_size: int = DEFAULTS.beam_size,
    num_groups: int = 2,
    strength: float = 0.5,
    alpha: float = DEFAULTS.alpha,
    max_new_tokens: int | None = DEFAULTS.max_new_tokens,
    *,
    extra_tokens: int = DEFAULTS.extra_tokens,
    forbidden: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """Beam search whose beam is split into groups; a group is discouraged from what earlier groups write.

    At every step the groups choose in turn. A token that n alive hypotheses of earlier groups have just been given
    costs `strength` * n in the choice (the Hamming diversity). It costs nothing in log-probability and score, which
    stay the model's own, and ending costs nothing at all. One group is `beam_search`; with strength 0 all groups find
    the same, beam_size / num_groups hypotheses in all.

    Parameters
    ----------
    beam_size
        Hypotheses alive in all groups together, a multiple of `num_groups`.
    num_groups, strength
        How many groups, and the price in nats.
    model, source, alpha, max_new_tokens, extra_tokens, forbidden
        As in `beam_search`. Each group encodes the source anew.

    Returns
    -------
    list of list of Hypothesis
        For each sentence the distinct hypotheses of all groups, at most `beam_size`, finished ones first, each kind by
        falling score.

    Raises
    ------
    ValueError
        If the groups do not divide the beam, the strength is negative, or as `beam_search` raises.
    """
    check_options(beam_size, alpha, max_new_tokens, 1, extra_tokens)
    if num_groups < 1 or beam_size % num_groups:
        raise ValueError(f"{num_groups} groups do not divide a beam of {beam_size}")
    if strength < 0:
        raise ValueError(f"strength must not be negative, not {strength}")
    each = beam_size // num_groups
    with decoding_mode(model):
        limits = max_lengths(model, source, max_new_tokens, extra_tokens)
        groups = [_Group(model, source, limits, each, alpha, each, forbidden) for _ in range(num_groups)]
        while any(group.active for group in groups):
            taken: Tensor | None = None
            for group in groups:
                if group.active:
                    taken = group.advance(taken, strength)
    return [_distinct([h for group in groups for h in group.found[s]]) for s in range(len(limits))]


def _distinct(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    by_tokens = {(tuple(h.tokens), h.finished): h for h in hypotheses}
    return sorted(by_tokens.values(), key=lambda h: (h.finished, h.score), reverse=True)


class _Group(BeamSearch):
    """One group's search; it chooses by log-probability less a price, and keeps the log-probability."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.price: Tensor | None = None
        self.ranks = torch.empty(0)
        self.vocab_size = 0

    def advance(self, taken: Tensor | None, strength: float) -> Tensor:
        """One step; `taken` `[sentences, V]` counts what earlier groups wrote in it; returned with this one's added."""
        rows = torch.tensor(self.active.sentences, device=self.device)
        self.price = None if taken is None else strength * taken.index_select(0, rows)
        candidates = self.grow()
        kept, _ = self.step(candidates)
        if taken is None:
            taken = torch.zeros(len(self.active.max_lengths), self.vocab_size, device=self.device)
        living = self.alive.log_probability > -math.inf
        taken.index_add_(0, rows, self._written(candidates.tokens.gather(1, kept), living))
        if self.active.must_look(self.alive.steps, self.device):
            self.harvest()
            self.compact()
        return taken

    def grow(self) -> Candidates:
        """As in beam search, with the price taken off while candidates are chosen, and put back."""
        alive = self.alive
        batch, beam_size = alive.log_probability.shape
        logits, alive.state = self.model.decode_step(alive.last, alive.state)
        self.vocab_size = logits.size(1)
        log_probability = logits.float().log_softmax(dim=1).index_fill(1, self.forbidden, -math.inf)
        total = alive.log_probability[:, :, None] + log_probability.view(batch, beam_size, -1)
        ranks = total if self.price is None else total - self.price[:, None, :]
        self.ranks, place = ranks.flatten(1).topk(self.num_candidates, dim=1)
        tokens = place % self.vocab_size
        return Candidates(total.flatten(1).gather(1, place), place // self.vocab_size, tokens)

    def step(self, candidates: Candidates) -> tuple[Tensor, Tensor | None]:
        """As in beam search, but who stays alive is decided with the price."""
        ends = candidates.tokens == EOS
        placed = self.finish(candidates, ends) if bool(ends.any()) else None
        _, kept = self.ranks.masked_fill(ends, -math.inf).topk(self.alive.log_probability.size(1), dim=1)
        log_probability = candidates.log_probability.masked_fill(ends, -math.inf).gather(1, kept)
        self.alive.advance(candidates.parents.gather(1, kept), candidates.tokens.gather(1, kept), log_probability)
        return kept, placed

    def _written(self, tokens: Tensor, living: Tensor) -> Tensor:
        counts = torch.zeros(len(tokens), self.vocab_size, device=self.device)
        return counts.scatter_add_(1, tokens, living.float())
