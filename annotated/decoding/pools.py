"""The two pools of beam search: hypotheses that still grow, and hypotheses that have ended."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from annotated.config import BOS
from annotated.decoding.search import State


@dataclass
class Alive:
    """k growing hypotheses of each sentence, with the decoder's memory of them: everything that moves together.

    A slot without a hypothesis has log-probability minus infinity.
    """

    tokens: Tensor
    """`[B, k, longest cap]`, the first `steps` of them written."""
    log_probability: Tensor
    """`[B, k]`"""
    state: State
    steps: int = 0

    @classmethod
    def start(cls, batch: int, beam_size: int, width: int, state: State, device: torch.device) -> Alive:
        """One empty hypothesis for each sentence; the other slots are free."""
        log_probability = torch.full((batch, beam_size), -math.inf, device=device)
        log_probability[:, 0] = 0.0
        return cls(torch.full((batch, beam_size, width), BOS, device=device), log_probability, state)

    @property
    def last(self) -> Tensor:
        """What each row wrote last, `[B * k]`; bos at first."""
        return self.tokens[:, :, max(self.steps - 1, 0)].flatten()

    def advance(self, parents: Tensor, tokens: Tensor, log_probability: Tensor) -> None:
        """Slot j now continues slot `parents[:, j]` with one more token; all `[B, k]`."""
        self.reorder(parents)
        self.tokens[:, :, self.steps] = tokens
        self.log_probability = log_probability
        self.steps += 1

    def reorder(self, parents: Tensor) -> None:
        """Let slot j of each sentence hold what slot `parents[:, j]` held: tokens and memory alike."""
        batch, beam_size = parents.shape
        if beam_size == 1:
            return
        rows = (parents + beam_size * torch.arange(batch, device=parents.device)[:, None]).flatten()
        self.tokens = self.tokens.flatten(0, 1).index_select(0, rows).view_as(self.tokens)
        self.state.reorder(rows)

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences."""
        self.tokens = self.tokens.index_select(0, sentences)
        self.log_probability = self.log_probability.index_select(0, sentences)
        self.state.select(sentences)


@dataclass
class Finished:
    """The n best hypotheses of each sentence that ended with eos, best first; free slots score minus infinity."""

    tokens: Tensor
    """`[B, n, longest cap]`"""
    scores: Tensor
    """`[B, n]`"""
    log_probability: Tensor
    """`[B, n]`"""
    lengths: Tensor
    """`[B, n]`, tokens without eos."""

    @classmethod
    def start(cls, batch: int, slots: int, width: int, device: torch.device) -> Finished:
        """Nothing has ended yet."""
        free = torch.full((batch, slots), -math.inf, device=device)
        lengths = torch.zeros(batch, slots, dtype=torch.long, device=device)
        return cls(torch.full((batch, slots, width), BOS, device=device), free, free, lengths)

    def add(self, alive: Alive, parents: Tensor, scores: Tensor, log_probability: Tensor) -> Tensor:
        """Let m candidates compete for the slots: alive hypothesis `parents[:, j]` followed by eos.

        Parameters
        ----------
        alive
            Before it advances.
        parents, scores, log_probability
            `[B, m]`; a candidate that is none scores minus infinity.

        Returns
        -------
        Tensor
            `[B, n]`: what each slot now holds, its old slot (0..n - 1) or n + j for candidate j.
        """
        slots = self.scores.size(1)
        self.scores, chosen = torch.cat((self.scores, scores), dim=1).topk(slots, dim=1)
        self.log_probability = torch.cat((self.log_probability, log_probability), dim=1).gather(1, chosen)
        lengths = torch.cat((self.lengths, torch.full_like(parents, alive.steps)), dim=1)
        self.lengths = lengths.gather(1, chosen)
        own = torch.arange(slots, device=parents.device).expand(len(parents), -1)
        origin = torch.cat((own, slots + parents), dim=1).gather(1, chosen)
        texts = torch.cat((self.tokens, alive.tokens), dim=1)
        self.tokens = texts.gather(1, origin[:, :, None].expand(-1, -1, texts.size(2)))
        return chosen

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences."""
        self.tokens = self.tokens.index_select(0, sentences)
        self.scores = self.scores.index_select(0, sentences)
        self.log_probability = self.log_probability.index_select(0, sentences)
        self.lengths = self.lengths.index_select(0, sentences)
