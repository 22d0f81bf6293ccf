import math

import numpy as np
import torch


# %% right: index comparisons
def padding_mask(ids):
    return (ids != 0)[:, None, None, :]


def causal_mask(length):
    i = torch.arange(length)
    return i[None, :] <= i[:, None]


def target_mask(ids):
    return padding_mask(ids) & causal_mask(ids.size(1))


def cross_mask(source_ids, target_ids):
    return padding_mask(source_ids)


def masked_weights(scores, mask):
    return torch.where(mask, scores, -math.inf).softmax(-1).nan_to_num(0.0)


# %% right: full size, numpy and an exponential by hand
def padding_mask(ids):
    b, s = ids.shape
    return ids.bool().reshape(b, 1, 1, s)


def causal_mask(length):
    return torch.from_numpy(np.tri(length, dtype=bool))[None, None]


def target_mask(ids):
    return torch.logical_and(padding_mask(ids).expand(-1, -1, ids.shape[1], -1), causal_mask(ids.shape[1]))


def cross_mask(source_ids, target_ids):
    return padding_mask(source_ids).repeat(1, 1, target_ids.size(1), 1)


def masked_weights(scores, mask):
    mask = mask.expand_as(scores)
    top = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
    e = torch.exp((scores - top).clamp(max=0)) * mask
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


# %% wrong: hides queries, too | may be called: padding_on_rows_too
def padding_mask(ids):
    real = ids != 0
    return (real[:, None, :, None] & real[:, None, None, :])


# %% wrong: True hides | may be called: true_means_hidden
def padding_mask(ids):
    return (ids == 0)[:, None, None]


# %% wrong: sees the past but not itself | may be called: own_position_hidden
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


# %% wrong: sees the future | may be called: past_hidden
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


# %% wrong: numbers in place of booleans
def causal_mask(length):
    return torch.ones(length, length).tril()


# %% wrong: either of both | may be called: either_mask
def target_mask(ids):
    return padding_mask(ids) | causal_mask(ids.size(1))


# %% wrong: hides what the target pads
def cross_mask(source_ids, target_ids):
    return padding_mask(target_ids)


# %% wrong: causal across languages | may be called: cross_is_causal
def cross_mask(source_ids, target_ids):
    return padding_mask(source_ids) & torch.ones(target_ids.size(1), source_ids.size(1), dtype=torch.bool).tril()


# %% wrong: a shape for one head only
def padding_mask(ids):
    return ids != 0


# %% wrong: a padded sentence spreads evenly | may be called: large_negative_fill
def masked_weights(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1)


# %% wrong: zero scores
def masked_weights(scores, mask):
    return (scores * mask).softmax(-1)


# %% wrong: fills the scores in place
def masked_weights(scores, mask):
    scores.masked_fill_(~mask, -math.inf)
    return scores.softmax(-2).nan_to_num()
