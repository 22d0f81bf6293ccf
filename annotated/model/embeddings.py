"""Token embeddings, and the projection to the vocabulary that shares their matrix."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.speed.kernels.few_rows import linear


class TokenEmbedding(nn.Module):
    """A table of V vectors, multiplied by sqrt(d_model) on the way in and plain on the way out.

    Initialised with N(0, 1 / d_model), so that the numbers of an embedded token have variance 1, the order of magnitude
    of the sinusoids, whose mean square is 1/2. The paper does not give its initialisation; this is the one of its
    released code.

    Parameters
    ----------
    vocab_size, d_model
        V and D.

    Paper: section 3.4
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(vocab_size, d_model), std=d_model**-0.5))
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        """Embed token ids `[...]` as `[..., D]`.

        Raises
        ------
        ValueError
            If an id lies outside the vocabulary (on a CPU; a GPU reports a failed assertion).
        """
        try:
            return F.embedding(ids, self.weight) * self.scale
        except IndexError as error:
            low, high, size = int(ids.min()), int(ids.max()), self.weight.size(0)
            raise ValueError(
                f"token ids must lie in 0..{size - 1}, the model's vocabulary of {size}; "
                f"these lie in {low}..{high}: do tokenizer and model belong together?"
            ) from error

    def project(self, x: Tensor) -> Tensor:
        """Logits `[..., V]` of decoder outputs `[..., D]`: the pre-softmax linear transformation, unscaled."""
        return linear(x, self.weight)
