"""Perplexity: how many tokens, or words, the model hesitates between on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from annotated.config import TrainingConfig
from annotated.data import TokenStore, evaluation_batches
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.speed.kernels.cudnn import without_cudnn_attention
from annotated.speed.steps.loss import layout_loss

BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Perplexity:
    """Perplexity of references given their sources, from the loss without label smoothing.

    The end of a sentence is predicted too: it counts as one token, and as one word.
    """

    loss_sum: float
    """Negative log-likelihood of all references, in nats."""
    tokens: int
    """Target tokens, one eos for each sentence included."""
    words: int
    """Words between white space in the references, plus one end for each sentence."""

    @property
    def loss(self) -> float:
        """Nats per token."""
        return self.loss_sum / self.tokens

    @property
    def per_token(self) -> float:
        """exp(loss_sum / tokens); depends on the vocabulary."""
        return math.exp(self.loss_sum / self.tokens)

    @property
    def per_word(self) -> float:
        """exp(loss_sum / words); comparable between vocabularies."""
        return math.exp(self.loss_sum / self.words)


def perplexity(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    *,
    batch_tokens: int = BATCH_TOKENS,
    layout: str = TrainingConfig.layout,
) -> Perplexity:
    """Perplexity of the second text of each pair given the first; nothing is left out for its length.

    Parameters
    ----------
    model
        In either mode: it is measured without dropout, and its mode is put back.
    pairs
        Texts (source, reference).
    batch_tokens
        Tokens computed together, on each side.
    layout
        'packed' or 'padded'; both give the same.

    Raises
    ------
    ValueError
        If there are no pairs.

    Paper: section 6.2, Table 3
    """
    if not pairs:
        raise ValueError("there are no pairs to measure perplexity on")
    sources, targets = (tokenizer.encode_batch([pair[side].strip() for pair in pairs]) for side in (0, 1))
    longest = max(map(len, sources + targets)) + 1
    store = TokenStore.from_ids(list(zip(sources, targets, strict=True)))
    device = next(model.parameters()).device
    if not isinstance(model, Transformer):  # an ensemble, say: rectangles give the same
        layout = "padded"
    was_training, total, tokens = model.training, 0.0, 0
    model.eval()
    try:
        with torch.inference_mode(), without_cudnn_attention(device):
            for batch in evaluation_batches(store, max(batch_tokens, longest)):
                loss, count = layout_loss(model, batch.to(device), 0.0, layout)
                total, tokens = total + float(loss), tokens + count
    finally:
        model.train(was_training)
    words = sum(len(target.split()) for _, target in pairs) + len(pairs)
    return Perplexity(total, tokens, words)
