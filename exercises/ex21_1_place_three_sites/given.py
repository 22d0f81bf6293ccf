"""Functions that the answer is given: sub-layers, norms, and a dropout that is not random."""

import torch
from torch.nn import functional as F


def sublayer(w):
    """Mixes the entries of each position, and bends: [B, S, D] -> [B, S, D]."""
    return lambda x: torch.tanh(x @ w)


def nothing():
    """A sub-layer that has nothing to say: zeros."""
    return lambda x: torch.zeros_like(x)


def layer_norm(gain, bias):
    """Layer normalisation with this gain and bias [D]."""
    return lambda x: F.layer_norm(x, gain.shape, gain, bias, eps=1e-6)


def masked(mask):
    """A dropout whose draw is known: entries with 0 in `mask` vanish."""
    return lambda x: x * mask


def bent(mask):
    """The same, and what it keeps is bent: of two parts it makes something else than of their sum."""
    return lambda x: torch.tanh(x) * mask


def unchanged():
    """Gives back what it gets: dropout in evaluation mode, or no normalisation."""
    return lambda x: x
