"""A recurrent encoder-decoder, with attention or without: the model that the paper's first section starts from."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from annotated.config import BOS, PAD
from annotated_book.why.before_2017.recurrent import LAYERS
from annotated_book.why.before_2017.scores import SCORES, AnyScore

Score = Literal["additive", "dot", "general"]


class RecurrentEncoderDecoder(nn.Module):
    """Two recurrent readers of the source, one recurrent writer of the target, and a context between them.

    With attention the context is, at every step, a weighted mean of all the encoder's states; the weights come from
    the decoder's last state (Bahdanau, Cho and Bengio, 2014). Without, it is one vector for the whole sentence, the
    last states of the two readers (Cho et al., 2014). Nothing else differs.

    Parameters
    ----------
    vocab_size
        V, shared by source and target.
    width
        Of the embeddings.
    hidden
        Of the decoder's state, and of the two readers' states together; even.
    score
        How attention scores are computed; None for no attention.
    cell
        'gru' or 'lstm'.

    Raises
    ------
    ValueError
        If `hidden` is odd, or `score` or `cell` is unknown.

    Paper: sections 1, 2
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        hidden: int,
        *,
        score: Score | None = "additive",
        cell: Literal["gru", "lstm"] = "gru",
    ) -> None:
        super().__init__()
        if hidden % 2:
            raise ValueError(f"two readers share `hidden`, so it must be even, not {hidden}")
        if score not in (None, *SCORES) or cell not in LAYERS:
            raise ValueError(f"score must be one of {[*SCORES]} or None, and cell one of {[*LAYERS]}")
        self.embedding = nn.Embedding(vocab_size, width)
        self.forward_reader = LAYERS[cell](width, hidden // 2)
        self.backward_reader = LAYERS[cell](width, hidden // 2)
        self.start = nn.Linear(hidden, hidden)
        self.score: AnyScore | None = SCORES[score](hidden, hidden, hidden) if score else None
        self.writer = LAYERS[cell](width + hidden, hidden)
        self.output = nn.Linear(2 * hidden, vocab_size)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source `[B, S]` from both ends.

        Returns
        -------
        memory, summary
            The states at every position `[B, S, hidden]`, and the two last states as one vector `[B, hidden]`.
        """
        x, real = self.embedding(source), source != PAD
        there, (last, *_) = self.forward_reader(x, real=real)
        back, (first, *_) = self.backward_reader(x, real=real, backward=True)
        return torch.cat([there, back], dim=-1), torch.cat([last, first], dim=-1)

    def context(
        self,
        query: Tensor,
        memory: Tensor,
        prepared: Tensor | None,
        summary: Tensor,
        real: Tensor,
    ) -> tuple[Tensor, Tensor | None]:
        """What one step of the decoder is given of the source, `[B, hidden]`, and the weights `[B, S]`."""
        if self.score is None:
            return summary, None  # one vector, for any length
        scores = self.score(query, prepared).masked_fill(~real, -math.inf)
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ memory).squeeze(1), weights

    def forward(
        self, source: Tensor, target_in: Tensor, *, return_attention: bool = False
    ) -> Tensor | tuple[Tensor, Tensor | None]:
        """Logits with teacher forcing: step t reads the true token t.

        Parameters
        ----------
        source, target_in
            Token ids `[B, S]` and `[B, T]`, padded with 0.
        return_attention
            Return the weights too, `[B, T, S]`, or None for a model without attention.

        Returns
        -------
        logits or (logits, weights)
            `[B, T, V]`
        """
        steps = self._write(source, target_in.size(1), target_in)
        return steps if return_attention else steps[0]

    @torch.no_grad()
    def generate(self, source: Tensor, length: int) -> tuple[Tensor, Tensor | None]:
        """Write `length` tokens greedily, each step reading the token that the last one wrote.

        Returns
        -------
        tokens, weights
            `[B, length]`, and `[B, length, S]` or None.
        """
        logits, weights = self._write(source, length, None)
        return logits.argmax(dim=-1), weights

    def _write(self, source: Tensor, length: int, target_in: Tensor | None) -> tuple[Tensor, Tensor | None]:
        memory, summary = self.encode(source)
        prepared, real = self.score.prepare(memory) if self.score else None, source != PAD
        state = self.writer.initial(len(source))
        state = (torch.tanh(self.start(summary)), *state[1:])
        token = source.new_full((len(source),), BOS)
        logits, weights = [], []
        for t in range(length):
            token = token if target_in is None else target_in[:, t]
            context, alignment = self.context(state[0], memory, prepared, summary, real)
            read = torch.cat([self.embedding(token), context], dim=-1)
            state = self.writer.step(self.writer.from_input(read), state)
            logits.append(self.output(torch.cat([state[0], context], dim=-1)))
            weights.append(alignment)
            token = logits[-1].argmax(dim=-1)
        return torch.stack(logits, 1), None if self.score is None else torch.stack(weights, 1)  # type: ignore[arg-type]
