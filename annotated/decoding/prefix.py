"""Forced prefixes: a search among the hypotheses that start with given tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from annotated.config import BOS, EOS, PAD
from annotated.decoding.search import top_tokens


class Prefixes:
    """What every hypothesis of each sentence must begin with; the search pays for forced tokens as for its own.

    Parameters
    ----------
    tokens
        For each sentence its forced token ids; they may differ in length, and be empty.
    max_lengths
        Most tokens to write for each sentence.

    Raises
    ------
    ValueError
        If there is not one for each sentence, or one is longer than its cap, goes on after eos, or holds pad or bos.
    """

    def __init__(self, tokens: Sequence[Sequence[int]], max_lengths: Sequence[int]) -> None:
        if len(tokens) != len(max_lengths):
            raise ValueError(
                f"{len(max_lengths)} sentences need as many prefixes (empty ones, perhaps), not {len(tokens)}"
            )
        for number, (prefix, cap) in enumerate(zip(tokens, max_lengths, strict=True)):
            if len(prefix) > cap:
                raise ValueError(f"prefix {number} has {len(prefix)} tokens, more than the {cap} that may be written")
            if EOS in list(prefix)[:-1] or PAD in prefix or BOS in prefix:
                raise ValueError(f"prefix {number} may hold eos only at its end, and never pad or bos: {list(prefix)}")
        self.tokens = [list(prefix) for prefix in tokens]
        self.longest = max(map(len, self.tokens), default=0)

    def top_tokens(
        self,
        logits: Tensor,
        count: int,
        forbidden: Tensor,
        steps: int,
        sentences: Sequence[int],
        mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """As `annotated.decoding.search.top_tokens`, but where a token is forced it is the only candidate.

        Parameters
        ----------
        logits
            `[B * k, V]`, the k rows of a sentence together; overwritten.
        forbidden
            Ids that are never written, where nothing is forced.
        steps
            Symbols written so far.
        sentences
            Which sentence each of the B is.
        mask
            `[B * k, V]` of what may be written where nothing is forced; None for all.
        """
        forced = [(r, self.tokens[s][steps]) for r, s in enumerate(sentences) if steps < len(self.tokens[s])]
        if not forced:
            return top_tokens(logits, count, forbidden, mask)
        if max(token for _, token in forced) >= logits.size(1) or min(token for _, token in forced) < 0:
            raise ValueError(f"a prefix holds an id outside the vocabulary of {logits.size(1)}")
        beam_size = len(logits) // len(sentences)
        rows = torch.tensor([r * beam_size + j for r, _ in forced for j in range(beam_size)], device=logits.device)
        wanted = torch.tensor([t for _, t in forced for _ in range(beam_size)], device=logits.device)
        own = logits.index_select(0, rows).float().log_softmax(dim=1).gather(1, wanted[:, None]).squeeze(1)
        log_probability, tokens = top_tokens(logits, count, forbidden, mask)
        log_probability[rows], tokens[rows] = -math.inf, wanted[:, None]
        log_probability[rows, 0] = own
        return log_probability, tokens
