"""Draft-and-verify decoding: a cheap draft guesses several tokens, the model checks them all in one pass.

What is written is what greedy search writes, whatever the draft guesses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from annotated.config import BOS, EOS, PAD
from annotated.decoding.search import decoding_mode
from annotated.model import Transformer
from annotated.model.masks import order_mask
from annotated.speed.kernels.fused import fused_attention

Draft = Callable[[Sequence[int], Sequence[int], int], Sequence[int]]
"""Guesses: from the source's ids, the ids written so far, and a number k, at most k ids that may come next."""


def accepted(draft: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The tokens of one pass: the draft as far as it is what the model writes, and one more of the model's own.

    Parameters
    ----------
    draft
        k guesses.
    choices
        k + 1 tokens: entry i is what the model writes after the first i guesses. Entry i + 1 and all later ones mean
        nothing if guess i is wrong.

    Returns
    -------
    list of int
        1 to k + 1 tokens. Nothing follows the end token.

    Paper: section 7
    """
    written: list[int] = []
    for guess, choice in zip([*draft, None], choices, strict=True):
        written.append(choice)
        if choice != guess or choice == EOS:
            break
    return written


class BlockReader:
    """A decoder that reads several tokens in one pass, keeps their keys and values, and can forget the last ones.

    Parameters
    ----------
    model
        In evaluation mode.
    source
        Ids `[1, S]`, ending in eos.
    limit
        Most positions that it will hold.
    """

    def __init__(self, model: Transformer, source: Tensor, limit: int) -> None:
        self.model, self.length, memory = model, 0, model.encode(source)
        self.places = model.positions(limit)
        self.cross: list[list[Tensor]] = []
        self.past: list[list[Tensor]] = []
        for layer in cast(Any, model.decoder.layers):
            _, keys, values = layer.cross_attention.project(None, memory, memory)
            self.cross.append([x.transpose(1, 2) for x in (keys, values)])  # [1, H, S, K]
            own = layer.self_attention
            self.past.append([memory.new_empty(1, own.num_heads, limit, width) for width in (own.d_k, own.d_v)])

    def read(self, tokens: Sequence[int]) -> Tensor:
        """Logits `[m, V]` after each of m more tokens; all of them are kept until `forget`."""
        start, end = self.length, self.length + len(tokens)
        x = self.model.embed(torch.tensor([list(tokens)]), self.places[start:end], target=True)
        mask = order_mask(torch.arange(start, end), torch.arange(end)) if len(tokens) > 1 else None
        past, cross = iter(self.past), iter(self.cross)

        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            kept = next(past)
            for room, new in zip(kept, (k, v), strict=True):
                room[:, :, start:end] = new.transpose(1, 2)
            keys, values = (room[:, :, :end] for room in kept)
            return fused_attention(q.transpose(1, 2), keys, values, mask).transpose(1, 2)

        def attend_memory(q: Tensor, *_: object) -> Tensor:
            keys, values = next(cross)
            return fused_attention(q.transpose(1, 2), keys, values).transpose(1, 2)

        hidden = self.model.decoder(x, None, attend, attend_memory)
        self.length = end
        return self.model.project(hidden)[0]

    def forget(self, length: int) -> None:
        """Keep the first `length` positions; the next ones are written over the others."""
        self.length = length


@dataclass
class Passes:
    """What draft and verify wrote, and how."""

    tokens: list[int] = field(default_factory=list)
    """Ids without bos and eos, as in `Hypothesis.tokens`."""
    finished: bool = False
    drafted: list[int] = field(default_factory=list)
    """Guesses that each pass of the model reads."""
    kept: list[int] = field(default_factory=list)
    """How many of them were right. Each pass writes these and one token of the model's own."""
    guesses: list[list[int]] = field(default_factory=list)
    """The guesses themselves, of each pass."""
    choices: list[list[int]] = field(default_factory=list)
    """What the model would write at each place of a pass: one more than guesses."""

    @property
    def steps(self) -> int:
        """Symbols written, the end token included: what greedy search needs a pass each for."""
        return len(self.tokens) + self.finished


def _before_the_end(guesses: Sequence[int]) -> list[int]:
    """Guesses that can save a pass: one that reads all tokens before the end writes the end token by itself."""
    return list(itertools.takewhile(lambda token: token != EOS, guesses))


def draft_and_verify(
    model: Transformer, source: Sequence[int], draft: Draft, block: int = 4, max_new_tokens: int | None = None
) -> Passes:
    """Write what greedy search writes, with fewer passes of the model.

    Parameters
    ----------
    model
        A `Transformer`; its mode is put back.
    source
        Ids of one sentence, ending in eos.
    draft
        What guesses. It can only make the search slower or faster. A guessed end token, and what follows it, is not
        read.
    block
        k, guesses before each pass; 0 is greedy search.
    max_new_tokens
        Most symbols to write, the end token included; None for the source's length + 50.

    Returns
    -------
    Passes
        The tokens, and what each pass read and kept. Block and single steps add in another order, so that the tokens
        could differ from greedy search's where two logits agree to rounding.

    Paper: section 7
    """
    limit = max_new_tokens or len(source) + 50
    found, last = Passes(), BOS
    with decoding_mode(model):
        reader = BlockReader(model, torch.tensor([list(source)]), limit + block + 1)
        while not found.finished and len(found.tokens) < limit:
            room = min(block, limit - len(found.tokens) - 1)
            guesses = _before_the_end(draft(source, found.tokens, room))[:room] if room else []
            logits = reader.read([last, *guesses])
            logits[:, [PAD, BOS]] = -math.inf
            choices = logits.argmax(dim=-1).tolist()
            new = accepted(guesses, choices)
            found.guesses.append(list(guesses))
            found.choices.append(choices)
            found.drafted.append(len(guesses))
            found.kept.append(len(new) - 1)
            found.finished = new[-1] == EOS
            found.tokens += new[: len(new) - found.finished]
            last = new[-1]
            reader.forget(len(found.tokens))
    return found
