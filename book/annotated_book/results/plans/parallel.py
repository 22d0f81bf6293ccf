"""Parallel prediction: all target tokens in one pass, each without knowing the others, beside greedy search."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from annotated.config import BOS, EOS, PAD, ModelConfig
from annotated.decoding.search import decoding_mode
from annotated.model import Transformer, padding_mask


class ParallelTransformer(Transformer):
    """A Transformer whose decoder reads positions only, and predicts every target token at once.

    The decoder's input is the start token at each of T places, so that the places differ by their position alone. No
    place is hidden from another: none holds an answer.

    Paper: section 7
    """

    def decode_places(self, memory: Tensor, source: Tensor, length: int) -> Tensor:
        """Logits `[B, T, V]` of all T = `length` places, given the memory of the source ids `[B, S]`."""
        places = torch.full((len(source), length), BOS, device=source.device)
        every = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=source.device)
        own, cross = self._attend(every, None), self._attend(padding_mask(source), None)
        return self.project(self.decoder(self.embed(places, target=True), memory, own, cross))

    def forward(self, source: Tensor, target_in: Tensor, **_: object) -> Tensor:  # type: ignore[override]
        """Logits `[B, T, V]`; of `target_in` only the length T is used."""
        return self.decode_places(self.encode(source), source, target_in.size(1))


@torch.no_grad()
def predict_all(model: ParallelTransformer, source: Tensor, length: int) -> list[list[int]]:
    """The most probable token of every place, up to the first end token: one pass for whole sentences.

    Parameters
    ----------
    source
        Ids `[B, S]`, padded.
    length
        T, places; the end token tells how many of them are used.

    Returns
    -------
    list of lists of int
        Ids without the end token.
    """
    with decoding_mode(model):
        logits = model.decode_places(model.encode(source), source, length)
        logits[..., [PAD, BOS]] = float("-inf")
        rows = logits.argmax(dim=-1).tolist()
    return [row[: row.index(EOS)] if EOS in row else row for row in rows]


def repeats(rows: Sequence[Sequence[int]]) -> float:
    """The share of tokens that are equal to the token just before them."""
    again = sum(a == b for row in rows for a, b in zip(row, row[1:], strict=False))
    return again / max(1, sum(len(row) for row in rows))


def both_ways(count: int, length: int, letters: int, seed: int) -> tuple[Tensor, Tensor]:
    """A task with two right answers: letters, to be written as they stand or from the last to the first.

    Returns
    -------
    source, target
        Ids `[count, length]` from 4 on, without end tokens. Which of the two ways a target goes is drawn anew.
    """
    generator = torch.Generator().manual_seed(seed)
    source = torch.stack([torch.randperm(letters, generator=generator)[:length] for _ in range(count)]) + 4
    turned = torch.rand(count, 1, generator=generator) < 0.5
    return source, torch.where(turned, source.flip(1), source)


def both_ways_config(letters: int) -> ModelConfig:
    """A small model for this task."""
    return ModelConfig(
        vocab_size=4 + letters,
        d_model=32,
        d_ff=64,
        num_heads=2,
        d_k=16,
        d_v=16,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=0.0,
    )
