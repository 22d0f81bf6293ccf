import math

import torch


# %% right: where, softmax in float32
def repaired(scores, mask):
    mask = torch.as_tensor(mask).expand(scores.shape)
    leer = ~mask.any(-1, keepdim=True)
    s = torch.where(mask | leer, scores.float() if scores.dtype != torch.float64 else scores, -math.inf)
    w = torch.softmax(s, dim=-1)
    return torch.where(mask, w, torch.zeros((), dtype=w.dtype)).to(scores.dtype)


def exposing_scores():
    return -2.5 * torch.ones(5, 5)


# %% right: the least number of the type, then the mask
def repaired(scores, mask):
    low = torch.finfo(scores.dtype).min
    shifted = scores - scores.masked_fill(~mask, low).amax(-1, keepdim=True).detach()
    shifted = shifted.masked_fill(~mask, 0.0)
    e = shifted.exp() * mask
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def exposing_scores():
    return torch.tensor([[-3.0, 0, 0], [-3, -3, 3], [0, 0, 0]])


# %% right: minus infinity, and NaN set to zero afterwards
def repaired(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-1).nan_to_num()


# %% wrong: minus a billion
def repaired(scores, mask):
    return (scores.float().masked_fill(~mask, -1e9).softmax(-1) * mask).to(scores.dtype)


# %% wrong: minus ten thousand for half precision
def repaired(scores, mask):
    return scores.masked_fill(~mask, -1e4).softmax(-1) * mask


# %% wrong: mask after the softmax | may be called: masked_after_softmax
def repaired(scores, mask):
    return scores.softmax(-1) * mask


# %% wrong: always float32 | may be called: always_float32
def repaired(scores, mask):
    leer = ~mask.any(-1, keepdim=True)
    return scores.float().masked_fill(~mask & ~leer, -math.inf).softmax(-1) * mask


# %% wrong: dropped the rows that are empty | may be called: empty_rows_are_nan
def repaired(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


# %% wrong: scores of zero everywhere
def exposing_scores():
    return torch.zeros(4, 4)


# %% wrong: prefers the present
def exposing_scores():
    return torch.eye(4) * 6 - 3


# %% wrong: too far apart
def exposing_scores():
    return torch.eye(4) * -9
