"""The attention module of ex06-1: one projection for each argument, so that it shows what was handed in where."""

import math

import torch


def attend(w_q, w_k, w_v):
    """Single-head attention `attend(query, key, value, mask)`; mask boolean, True where a query may attend."""

    def run(query, key, value, mask=None):
        scores = (query @ w_q) @ (key @ w_k).transpose(-2, -1) / math.sqrt(w_q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~torch.as_tensor(mask), -math.inf)
        return scores.softmax(dim=-1) @ (value @ w_v)

    return run
