"""Exact search: the most probable translation there is, found by going through all that could still be it."""

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
    """What an exact search found, and at what price."""

    hypothesis: Hypothesis
    """The most probable one; its score is its log-probability."""
    prefixes: int
    """Beginnings that the model was asked to continue."""
    proven: bool
    """False if the search was given up: then it is only the best seen so far."""


def exact_search(
    model: StepModel,
    source: Tensor,
    max_new_tokens: int | None = DEFAULTS.max_new_tokens,
    *,
    extra_tokens: int = DEFAULTS.extra_tokens,
    forbidden: Sequence[int] = (),
    width: int = 32,
    max_prefixes: int = 100_000,
    max_open: float = math.inf,
    start: Hypothesis | None = None,
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
        1 is plain depth-first search; where it is never reached, the search is breadth-first. It changes the speed,
        not the result.
    max_prefixes
        Give up after as many.
    max_open
        Give up where one call of the model leaves more beginnings than this to continue.
    start
        A hypothesis of this sentence: if it is finished it is the first bound, the better the faster. None for the
        best that `beam_search` finds with a beam of 4.
    model, max_new_tokens, extra_tokens, forbidden
        As in `beam_search`.

    Raises
    ------
    ValueError
        If there is not exactly one sentence, or as `beam_search` raises.
    """
    source = source[None] if source.dim() == 1 else source
    if source.size(0) != 1:
        raise ValueError(f"an exact search is for one sentence, not for {source.size(0)}")
    if start is None:
        start = beam_search(model, source, 4, 0.0, max_new_tokens, extra_tokens=extra_tokens, forbidden=forbidden)[0][0]
    with decoding_mode(model):
        cap = max_lengths(model, source, max_new_tokens, extra_tokens)[0]
        search = _Search(model, forbidden_ids(forbidden, source.device), cap, width, max_prefixes, max_open)
        if start.finished:
            search.best = start
        search.go_on([([], 0.0)], model.start_state(source, max_new_tokens=cap))
    return Exact(search.best, search.prefixes, not search.given_up)


class _Search:
    """The best so far, and the recursion that betters it."""

    def __init__(
        self, model: StepModel, forbidden: Tensor, cap: int, width: int, max_prefixes: int, max_open: float
    ) -> None:
        self.model, self.forbidden, self.cap, self.width = model, forbidden, cap, width
        self.max_prefixes, self.max_open = max_prefixes, max_open
        self.best = Hypothesis([], -math.inf, -math.inf)
        self.prefixes, self.given_up = 0, False

    def go_on(self, beginnings: list[tuple[list[int], float]], state: Any) -> None:
        """Continue up to `width` beginnings of one length, each with its log-probability."""
        self.prefixes += len(beginnings)
        self.given_up |= self.prefixes > self.max_prefixes
        if self.given_up:
            return
        last = [tokens[-1] if tokens else BOS for tokens, _ in beginnings]
        logits, state = self.model.decode_step(torch.tensor(last, device=self.forbidden.device), state)
        log_probability = logits.double().log_softmax(dim=1)
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
        """Continue the beginnings that may still become the best, the most probable first."""
        rows, tokens = (total > self.best.log_probability).nonzero(as_tuple=True)
        self.given_up |= len(rows) > self.max_open
        values, order = total[rows, tokens].sort(descending=True)
        children = list(zip(rows[order].tolist(), tokens[order].tolist(), values.tolist(), strict=True))
        for start in range(0, len(children), self.width):
            # The bound may have risen since: what was hopeful may be so no more.
            chunk = [child for child in children[start : start + self.width] if child[2] > self.best.log_probability]
            if not chunk or self.given_up:
                return
            own = copy.deepcopy(state)
            own.reorder(torch.tensor([row for row, _, _ in chunk], device=total.device))
            self.go_on([([*beginnings[row][0], token], value) for row, token, value in chunk], own)
