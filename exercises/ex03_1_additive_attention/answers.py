import math

import numpy as np
import torch


# %% right: einsum throughout
def scores(s, h, w, u, v):
    inner = torch.einsum("aq,bq->ba", w, s)[:, None, :] + torch.einsum("ak,bsk->bsa", u, h)
    return torch.einsum("a,bsa->bs", v, torch.tanh(inner))


def additive_attention(s, h, w, u, v, mask):
    e = scores(s, h, w, u, v).masked_fill(~mask, float("-inf"))
    a = torch.softmax(e, 1)
    return torch.einsum("bs,bsk->bk", a, h), a


def deviations(s, h, w, u, v):
    return scores(s, h, w, u, v).std().item(), torch.einsum("bk,bsk->bs", s, h).std().item()


def divisor(width):
    return width**0.5


# %% right: loops over sentences and positions, numpy at the end
def scores(s, h, w, u, v):
    rows = []
    for b in range(h.size(0)):
        rows.append(torch.stack([v @ torch.tanh(w @ s[b] + u @ h[b, j]) for j in range(h.size(1))]))
    return torch.stack(rows)


def additive_attention(s, h, w, u, v, mask):
    e = scores(s, h, w, u, v)
    contexts, weights = [], []
    for b in range(len(e)):
        real = mask[b].nonzero()[:, 0]
        x = torch.exp(e[b, real] - e[b, real].max())
        row = torch.zeros_like(e[b])
        row[real] = x / x.sum()
        weights.append(row)
        contexts.append(row @ h[b])
    return [torch.stack(contexts), torch.stack(weights)]


def deviations(s, h, w, u, v):
    punkte = np.array([[float(s[b] @ h[b, j]) for j in range(h.shape[1])] for b in range(h.shape[0])])
    return float(np.std(scores(s, h, w, u, v).numpy())), float(np.std(punkte))


def divisor(width):
    return math.sqrt(width)


# %% wrong: no tanh | may be called: no_tanh
def scores(s, h, w, u, v):
    return ((s @ w.T)[:, None] + h @ u.T) @ v


# %% wrong: softmax over the batch | may be called: softmax_over_the_batch
def additive_attention(s, h, w, u, v, mask):
    a = scores(s, h, w, u, v).masked_fill(~mask, -math.inf).softmax(0).nan_to_num()
    return (a[..., None] * h).sum(1), a


# %% wrong: mask after the softmax | may be called: masked_after_softmax
def additive_attention(s, h, w, u, v, mask):
    a = scores(s, h, w, u, v).softmax(1) * mask
    return (a[..., None] * h).sum(1), a


# %% wrong: hides the real ones
def additive_attention(s, h, w, u, v, mask):
    a = scores(s, h, w, u, v).masked_fill(mask, -1e9).softmax(1)
    return (a[..., None] * h).sum(1), a


# %% wrong: weights and context swapped
_right = additive_attention


def additive_attention(s, h, w, u, v, mask):
    return _right(s, h, w, u, v, mask)[::-1]


# %% wrong: the mean over positions
def additive_attention(s, h, w, u, v, mask):
    a = scores(s, h, w, u, v).masked_fill(~mask, -math.inf).softmax(1)
    return (a[..., None] * h).mean(1), a


# %% wrong: divides by the width | may be called: divisor_is_the_width
def divisor(width):
    return width


# %% wrong: variances for deviations | may be called: variances
def deviations(s, h, w, u, v):
    return scores(s, h, w, u, v).var().item(), (s[:, None] * h).sum(-1).var().item()


# %% wrong: dot products divided already
def deviations(s, h, w, u, v):
    return scores(s, h, w, u, v).std().item(), ((s[:, None] * h).sum(-1) / math.sqrt(s.size(1))).std().item()
