"""Playback model, made of recorded searches: the library's own search runs on it in place of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from annotated.config import BOS, PAD
from annotated_book.decoding.beam_search.search_record import Continuations

FLOOR = -200.0
"""Log-probability that stands for a rest of nothing."""


@dataclass
class _Place:
    """The node of each row; -1 where a row has left the record."""

    nodes: list[int]
    trees: list[int]
    beam_size: int

    def reorder(self, parents: Tensor) -> None:
        self.nodes = [self.nodes[p] for p in parents.tolist()]

    def select(self, sentences: Tensor) -> None:
        rows = [s * self.beam_size + j for s in sentences.tolist() for j in range(self.beam_size)]
        self.nodes, self.trees = [self.nodes[r] for r in rows], [self.trees[r] for r in rows]


class Playback:
    """Stands in for the model whose searches were recorded: `beam_search` and `record_search` run on it.

    It knows the recorded continuations only. The rest of the probability lies on padding, which no search writes.

    Parameters
    ----------
    records
        For each sentence its source ids, and what was recorded. A source that is not among them is refused.
    vocab_size
        Of the model.
    """

    def __init__(self, records: Sequence[tuple[Sequence[int], Continuations]], vocab_size: int) -> None:
        self.trees = [tree for _, tree in records]
        self.numbers = {tuple(source): number for number, (source, _) in enumerate(records)}
        self.vocab_size = vocab_size

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> Any:
        """Find the sentences."""
        sentences = [tuple(token for token in row if token != PAD) for row in source.tolist()]
        if unknown := [s for s in sentences if s not in self.numbers]:
            raise ValueError(f"no search was recorded for the source {list(unknown[0])}")
        trees = [self.numbers[s] for s in sentences for _ in range(beam_size)]
        return _Place([0] * len(trees), trees, beam_size)

    def decode_step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Log-probabilities `[R, V]` of what may follow."""
        logits = torch.full((len(token), self.vocab_size), FLOOR)
        for row, (tree_number, last) in enumerate(zip(state.trees, token.tolist(), strict=True)):
            tree, node = self.trees[tree_number], state.nodes[row]
            if last != BOS:
                node = tree.children[node].get(last, -1) if node >= 0 else -1
            state.nodes[row] = node
            known = tree.children[node] if node >= 0 else {}
            start = tree.log_probabilities[node] if known else 0.0
            steps = {following: tree.log_probabilities[child] - start for following, child in known.items()}
            for following, step in steps.items():
                logits[row, following] = step
            rest = 1.0 - sum(map(math.exp, steps.values()))
            logits[row, PAD] = math.log(rest) if rest > 0 else FLOOR
        return logits, state
