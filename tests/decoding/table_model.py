"""A model whose probabilities are written by hand: for tests of the searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from annotated.config import BOS, EOS

A, B, C = 4, 5, 6
VOCAB = 7

Table = Mapping[tuple[int, ...], Mapping[int, float]]
"""For each beginning of a target the probabilities of what comes next; what is not there ends."""


@dataclass
class TableState:
    """What each row has written, and which sentence it belongs to."""

    sentences: list[int]
    written: list[tuple[int, ...]]
    beam_size: int

    def reorder(self, parents: Tensor) -> None:
        self.written = [self.written[p] for p in parents.tolist()]

    def select(self, sentences: Tensor) -> None:
        rows = [s * self.beam_size + j for s in sentences.tolist() for j in range(self.beam_size)]
        self.sentences = [self.sentences[row] for row in rows]
        self.written = [self.written[row] for row in rows]


class TableModel:
    """A sentence that starts with token 4 + i follows `tables[i]`."""

    def __init__(self, *tables: Table, vocab: int = VOCAB) -> None:
        self.tables, self.vocab = tables, vocab
        self.rows_of_steps: list[int] = []

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> TableState:
        self.rows_of_steps = []
        sentences = [int(first) - 4 for first in source[:, 0] for _ in range(beam_size)]
        return TableState(sentences, [()] * len(sentences), beam_size)

    def decode_step(self, token: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        if self.rows_of_steps:
            state.written = [(*w, t) for w, t in zip(state.written, token.tolist(), strict=True)]
        else:
            assert token.tolist() == [BOS] * len(token)
        self.rows_of_steps.append(len(token))
        probabilities = torch.zeros(len(token), self.vocab)
        for row, (sentence, written) in enumerate(zip(state.sentences, state.written, strict=True)):
            for following, probability in self.tables[sentence].get(written, {EOS: 1.0}).items():
                probabilities[row, following] = probability
        return probabilities.log(), state


def source_of(*sentences: int) -> Tensor:
    """One source for each table number, three ids long."""
    return torch.tensor([[4 + s, A, EOS] for s in sentences])
