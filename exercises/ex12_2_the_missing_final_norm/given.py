"""Encoders to examine, with and without a norm on top, and pre-norm layers for them."""

import torch
from torch.nn import functional as F


def layer(w, size):
    """A pre-norm layer: adds `size` times something bounded, [B, S, D] -> [B, S, D]."""
    return lambda x: x + size * torch.tanh(F.layer_norm(x, x.shape[-1:]) @ w)


def norm(gain, bias):
    """Layer normalisation with this gain and bias [D]."""
    return lambda x: F.layer_norm(x, gain.shape, gain, bias)


def encoder(final=None):
    """An encoder `encode(x, layers)`, with this norm on top if one is given."""

    def encode(x, layers):
        for one in layers:
            x = one(x)
        return x if final is None else final(x)

    return encode
