import math

import torch


# %% right: tuple, einsum, triu of minus infinity
def prefill(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    t = x.shape[1]
    later = torch.full((t, t), -math.inf, dtype=x.dtype).triu(1)
    a = (torch.einsum("btk,bsk->bts", q, k) / math.sqrt(w_q.shape[1]) + later).softmax(-1)
    return a @ v, (k, v)


def step(x_new, cache, w_q, w_k, w_v):
    k, v = x_new @ w_k, x_new @ w_v
    if cache is not None:
        k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
    a = (x_new @ w_q @ k.mT / math.sqrt(w_q.shape[1])).softmax(-1)
    return a @ v, (k, v)


# %% right: a dictionary, prefill made of steps
def step(x_new, cache, w_q, w_k, w_v):
    neu = {"schluessel": x_new @ w_k, "werte": x_new @ w_v}
    cache = {name: torch.cat((cache[name], wert), dim=1) for name, wert in neu.items()} if cache else neu
    punkte = torch.bmm(x_new @ w_q, cache["schluessel"].permute(0, 2, 1)) * w_k.size(-1) ** -0.5
    return torch.bmm(torch.softmax(punkte, 2), cache["werte"]), cache


def prefill(x, w_q, w_k, w_v):
    cache, out = None, []
    for t in range(x.size(1)):
        o, cache = step(x[:, t : t + 1], cache, w_q, w_k, w_v)
        out.append(o)
    return torch.cat(out, dim=1), cache


# %% wrong: keeps the inputs | may be called: inputs_kept
def prefill(x, w_q, w_k, w_v):
    out = [_step(x[:, : t + 1], w_q, w_k, w_v) for t in range(x.size(1))]
    return torch.cat(out, 1), (x,)


def _step(x, w_q, w_k, w_v):
    return (x[:, -1:] @ w_q @ (x @ w_k).mT / math.sqrt(w_q.size(1))).softmax(-1) @ (x @ w_v)


def step(x_new, cache, w_q, w_k, w_v):
    x = x_new if cache is None else torch.cat([cache[0], x_new], 1)
    return _step(x, w_q, w_k, w_v), (x,)


# %% wrong: keeps queries, too
def step(x_new, cache, w_q, w_k, w_v):
    q, k, v = x_new @ w_q, x_new @ w_k, x_new @ w_v
    if cache is not None:
        q, k, v = (torch.cat([old, new], 1) for old, new in zip(cache, (q, k, v)))
    a = (q[:, -1:] @ k.mT / math.sqrt(w_q.shape[1])).softmax(-1)
    return a @ v, (q, k, v)


# %% wrong: the newest does not read itself | may be called: own_position_hidden
def step(x_new, cache, w_q, w_k, w_v):
    k, v = x_new @ w_k, x_new @ w_v
    if cache is None:
        return v, (k, v)
    a = (x_new @ w_q @ cache[0].mT / math.sqrt(w_q.shape[1])).softmax(-1)
    return a @ cache[1], (torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1))


# %% right: the newest in front, since the order of keys does not matter
def step(x_new, cache, w_q, w_k, w_v):
    k, v = x_new @ w_k, x_new @ w_v
    if cache is not None:
        k, v = torch.cat([k, cache[0]], 1), torch.cat([v, cache[1]], 1)
    a = (x_new @ w_q @ k.mT / math.sqrt(w_q.shape[1])).softmax(-1)
    return a @ v, (k, v)


# %% wrong: prefill without a mask | may be called: prefix_sees_the_future
def prefill(x, w_q, w_k, w_v):
    k, v = x @ w_k, x @ w_v
    return (x @ w_q @ k.mT / math.sqrt(w_q.shape[1])).softmax(-1) @ v, (k, v)


# %% wrong: divides by the root of the model width
def prefill(x, w_q, w_k, w_v):
    k, v = x @ w_k, x @ w_v
    s = x @ w_q @ k.mT / math.sqrt(x.size(-1))
    return s.masked_fill(torch.ones_like(s).triu(1) > 0, -math.inf).softmax(-1) @ v, (k, v)


# %% wrong: remembers in a global
_seen = []


def step(x_new, cache, w_q, w_k, w_v):
    if cache is None:
        _seen.clear()
    _seen.append((x_new @ w_k, x_new @ w_v))
    k, v = (torch.cat(x, 1) for x in zip(*_seen))
    return (x_new @ w_q @ k.mT / math.sqrt(w_q.shape[1])).softmax(-1) @ v, (k, v)
