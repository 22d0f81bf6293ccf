"""Exact search: the most probable translation there is, found by going through all that could still be it.

Paper: section 6.1 (what beam search approximates)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from annotated.config import BOS, EOS
from annotated.decoding.beam import beam_search
from annotated.decoding.hypothesis import Hypothesis
from annotated.decoding.search import DEFAULTS, StepModel, decoding_mode, forbidden_ids, max_lengths


class Exact(NamedTuple):
    """What an exact search found, and at what price.

    Paper: section 6.1
    """

    hypothesis: Hypothesis
    """The most probable one; its score is its log-probability."""
    prefixes: int
    """Beginnings that the model was asked to continue."""
    proven: bool
    """False if the search was cut off by `max_prefixes`: then it is only the best seen so far."""


def exact_search(
    model: StepModel,
    source: Tensor,
    max_new_tokens: int | None = DEFAULTS.max_new_tokens,
    *,
    extra_tokens: int = DEFAULTS.extra_tokens,
    forbidden: Sequence[int] = (),
    width: int = 32,
    max_prefixes: int = 100_000,
) -> Exact:
    """The finished hypothesis of the greatest log-probability, by depth-first search with a bound.

    A log-probability only falls as a hypothesis grows, so a beginning that is no more probable than the best finished
    hypothesis need not be continued. As probabilities of beginnings of one length sum to at most 1, fewer than 1/p of
    them are more probable than p: a sure model is searched quickly, an unsure one may take forever. The idea is
    Stahlberg and Byrne's (2019). Here `width` beginnings go through the model together.

    Parameters
    ----------
    source
        Token ids `[S]` or `[1, S]`, without padding, ending in eos.
    width
        1 is plain depth-first search. It changes the speed, not the result.
    max_prefixes
        Give up after as many.
    model, max_new_tokens, extra_tokens, forbidden
        As in `beam_search`, whose result with a beam of 4 is the first bound.

    Raises
    ------
    ValueError
        If there is not exactly one sentence, or as `beam_search` raises.

    Paper: section 6.1
    """
    source = source[None] if source.dim() == 1 else source
    if source.size(0) != 1:
        raise ValueError(f"an exact search is for one sentence, not for {source.size(0)}")
    first = beam_search(model, source, 4, 0.0, max_new_tokens, extra_tokens=extra_tokens, forbidden=forbidden)[0]
    with decoding_mode(model):
        cap = max_lengths(model, source, max_new_tokens, extra_tokens)[0]
        search = _Search(model, forbidden_ids(forbidden, source.device), cap, width, max_prefixes)
        search.best = next((h for h in first if h.finished), search.best)
        state = model.start_state(source, width, max_new_tokens=cap)
        search.go_on([([], 0.0)], state)
    return Exact(search.best, search.prefixes, search.prefixes <= max_prefixes)


class _Search:
    """The best so far, and the recursion that betters it."""

    def __init__(self, model: StepModel, forbidden: Tensor, cap: int, width: int, max_prefixes: int) -> None:
        self.model, self.forbidden, self.cap, self.width, self.max_prefixes = model, forbidden, cap, width, max_prefixes
        self.best = Hypothesis([], -math.inf, -math.inf)
        self.prefixes = 0

    def go_on(self, beginnings: list[tuple[list[int], float]], state: Any) -> None:
        """Continue up to `width` beginnings of one length, each with its log-probability."""
        self.prefixes += len(beginnings)
        if self.prefixes > self.max_prefixes:
            return
        last = [tokens[-1] if tokens else BOS for tokens, _ in beginnings]
        last += last[:1] * (self.width - len(last))  # the other rows only keep the batch full
        logits, state = self.model.decode_step(torch.tensor(last, device=self.forbidden.device), state)
        log_probability = logits[: len(beginnings)].double().log_softmax(dim=1)
        log_probability[:, self.forbidden] = -math.inf
        sums = torch.tensor([total for _, total in beginnings], dtype=torch.float64, device=logits.device)
        total = sums[:, None] + log_probability
        self._end(beginnings, total[:, EOS].tolist())
        total[:, EOS] = -math.inf
        if len(beginnings[0][0]) + 1 < self.cap:  # one symbol must be left for eos
            self._branch(beginnings, total, state)

    def _end(self, beginnings: list[tuple[list[int], float]], totals: list[float]) -> None:
        for (tokens, _), total in zip(beginnings, totals, strict=True):
            if total > self.best.log_probability:
                self.best = Hypothesis(tokens, total, total)

    def _branch(self, beginnings: list[tuple[list[int], float]], total: Tensor, state: Any) -> None:
        rows, tokens = (total > self.best.log_probability).nonzero(as_tuple=True)
        values, order = total[rows, tokens].sort(descending=True)
        children = list(zip(rows[order].tolist(), tokens[order].tolist(), values.tolist(), strict=True))
        for start in range(0, len(children), self.width):
            # The bound may have risen since: what was hopeful may be so no more.
            chunk = [child for child in children[start : start + self.width] if child[2] > self.best.log_probability]
            if not chunk:
                return
            parents = [row for row, _, _ in chunk]
            parents += parents[:1] * (self.width - len(parents))
            own = copy.deepcopy(state)
            own.reorder(torch.tensor(parents, device=total.device))
            self.go_on([([*beginnings[row][0], token], value) for row, token, value in chunk], own)
