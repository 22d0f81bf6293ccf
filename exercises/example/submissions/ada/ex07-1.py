import math

import torch

PAD = 0


def padding_mask(ids):
    """Keys that are real tokens: ids [B, S] to a boolean mask for [B, H, T, S]."""
    return (ids != PAD)[:, None, None, :]


def causal_mask(length):
    """Keys up to and including the query's own position: a boolean mask for [B, H, T, T]."""
    return torch.ones(length, length, dtype=torch.bool).tril()[None, None]

def target_mask(ids):
    """Real keys that are not later than the query: ids [B, T] to a mask for [B, H, T, T]."""
    return padding_mask(ids) & causal_mask(ids.size(1))


def cross_mask(source_ids, target_ids):
    """What the target may read: ids [B, S] and [B, T] to a mask for [B, H, T, S]."""
    return padding_mask(source_ids)


def masked_weights(scores, mask):
    """Softmax of scores [B, H, T, S] over the allowed keys; zeros where there are none."""
    scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)
