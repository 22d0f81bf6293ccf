import math

import numpy as np
import torch


# %% right: einsum, exp by hand on clean rows
def attention(q, k, v, mask=None):
    logits = torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones_like(logits, dtype=torch.bool)
    mask = mask.expand_as(logits)
    logits = logits.where(mask, torch.tensor(-1e30, dtype=logits.dtype))
    p = torch.softmax(logits, -1) * mask
    return torch.einsum("...ts,...sv->...tv", p, v), p


# %% wrong: numpy inside, and so no gradient | may be called: gradients_cut_off
def attention(q, k, v, mask=None):
    Q, K, V = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    erlaubt = np.broadcast_to(True if mask is None else mask.numpy(), s.shape)
    e = np.where(erlaubt, np.exp(s - s.max(-1, keepdims=True)), 0.0)
    summe = e.sum(-1, keepdims=True)
    gewichte = np.divide(e, summe, out=np.zeros_like(e), where=summe > 0)
    return [torch.from_numpy(gewichte @ V).to(v.dtype), torch.from_numpy(gewichte).to(q.dtype)]


# %% right: scales the queries first and adds an infinite bias
def attention(q, k, v, mask=None):
    scores = (q / math.sqrt(k.size(-1))).matmul(k.mT)
    bias = torch.zeros_like(scores) if mask is None else torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
    weights = (scores + bias.to(scores)).softmax(dim=-1).nan_to_num(0.0)
    return weights.matmul(v), weights


# %% wrong: plain lists and loops for every pair, and so no gradient of the weights
def attention(q, k, v, mask=None):
    if q.ndim > 2:
        m = None if mask is None else mask.expand(*torch.broadcast_shapes(mask.shape, (*q.shape[:-1], k.shape[-2])))
        pairs = [attention(q[i], k[i], v[i], None if m is None else m[i]) for i in range(len(q))]
        return torch.stack([a for a, _ in pairs]), torch.stack([b for _, b in pairs])
    weights = torch.zeros(len(q), len(k), dtype=q.dtype)
    for t in range(len(q)):
        seen = [s for s in range(len(k)) if mask is None or mask.expand(len(q), len(k))[t, s]]
        if not seen:
            continue
        raw = [float(q[t] @ k[s]) / math.sqrt(q.shape[1]) for s in seen]
        top = max(raw)
        e = [math.exp(r - top) for r in raw]
        for s, x in zip(seen, e):
            weights[t, s] = x / sum(e)
    return weights @ v, weights


# %% wrong: forgets the transpose
def attention(q, k, v, mask=None):
    w = (q @ k / math.sqrt(q.size(-1))).softmax(-1)
    return w @ v, w


# %% wrong: scores from the values
def attention(q, k, v, mask=None):
    s = q @ v.transpose(-2, -1) / math.sqrt(q.size(-1))
    w = s.softmax(-1)
    return w @ v, w


# %% wrong: hides a lot, not all
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -10.0)
    w = s.softmax(-1)
    if mask is not None:
        w = w * mask.any(-1, keepdim=True)
    return w @ v, w


# %% wrong: a row with nothing spreads evenly | may be called: large_negative_fill_only
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    w = s.softmax(-1)
    return w @ v, w


# %% wrong: scale by the number of keys | may be called: divided_by_root_of_keys
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(k.size(-2))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1).nan_to_num()
    return w @ v, w


# %% wrong: exponentials without a maximum, and no division
def attention(q, k, v, mask=None):
    s = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).exp()
    if mask is not None:
        s = s * mask
    return s @ v, s


# %% wrong: returns weights and output the other way round | may be called: weights_first
_right = attention


def attention(q, k, v, mask=None):
    return _right(q, k, v, mask)[::-1]


# %% wrong: numbers of a mask are added
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s + mask
    w = s.softmax(-1)
    return w @ v, w


# %% wrong: dropout in the weights
_right = attention


def attention(q, k, v, mask=None):
    w = torch.nn.functional.dropout(_right(q, k, v, mask)[1], 0.1)
    return w @ v, w


# %% wrong: only the first sentence of a batch
_right = attention


def attention(q, k, v, mask=None):
    if q.ndim == 4:
        o, w = _right(q[:1], k[:1], v[:1], None if mask is None else mask[:1] if mask.ndim == 4 else mask)
        return o.expand(len(q), -1, -1, -1), w.expand(len(q), -1, -1, -1)
    return _right(q, k, v, mask)
