import math

import torch
from torch.nn import functional as F


# %% right: einsum with unflattened matrices
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    q = torch.einsum("btd,dhk->bhtk", x_q, w_q.unflatten(1, (heads, -1)))
    k = torch.einsum("bsd,dhk->bhsk", x_kv, w_k.unflatten(1, (heads, -1)))
    v = torch.einsum("bsd,dhk->bhsk", x_kv, w_v.unflatten(1, (heads, -1)))
    s = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    p = s.softmax(-1)
    return torch.einsum("bhts,bhsk,hkd->btd", p, v, w_o.unflatten(0, (heads, -1))), p


# %% right: loops over sentences and heads
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    B, T, D = x_q.shape
    S, K = x_kv.shape[1], D // heads
    m = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask
    m = m.expand(B, heads, T, S)
    maps = x_q.new_zeros(B, heads, T, S)
    out = x_q.new_zeros(B, T, D)
    for b in range(B):
        for h in range(heads):
            cols = slice(h * K, (h + 1) * K)
            s = (x_q[b] @ w_q[:, cols]) @ (x_kv[b] @ w_k[:, cols]).T / math.sqrt(K)
            s[~m[b, h]] = -math.inf
            maps[b, h] = torch.softmax(s, dim=1)
            out[b] += maps[b, h] @ (x_kv[b] @ w_v[:, cols]) @ w_o[cols]
    return out, maps


# %% right: chunk, stack and bmm
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    split = lambda x: torch.stack(x.chunk(heads, dim=-1), dim=1)
    q, k, v = split(x_q @ w_q), split(x_kv @ w_k), split(x_kv @ w_v)
    bias = 0.0 if mask is None else torch.where(mask, 0.0, float("-inf")).to(q.dtype)
    p = F.softmax(q.matmul(k.transpose(2, 3)).div(math.sqrt(k.size(3))).add(bias), dim=3)
    return torch.cat(p.matmul(v).unbind(1), dim=-1) @ w_o, p


# %% wrong: view instead of transpose
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    B, T, D = x_q.shape
    S, K = x_kv.size(1), D // heads
    q, k, v = (x_q @ w_q).view(B, heads, T, K), (x_kv @ w_k).view(B, heads, S, K), (x_kv @ w_v).view(B, heads, S, K)
    s = q @ k.mT / math.sqrt(K)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    p = s.softmax(-1)
    return (p @ v).transpose(1, 2).reshape(B, T, D) @ w_o, p


# %% wrong: every H-th column
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    split = lambda x: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)
    q, k, v = split(x_q @ w_q), split(x_kv @ w_k), split(x_kv @ w_v)
    s = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    p = s.softmax(-1)
    return (p @ v).permute(0, 2, 3, 1).flatten(2) @ w_o, p


# %% wrong: divides by the root of the model width | may be called: divided_by_root_of_model_width
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    split = lambda x: x.unflatten(-1, (heads, -1)).transpose(1, 2)
    q, k, v = split(x_q @ w_q), split(x_kv @ w_k), split(x_kv @ w_v)
    s = q @ k.mT / math.sqrt(x_q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    p = s.softmax(-1)
    return (p @ v).transpose(1, 2).flatten(2) @ w_o, p


# %% wrong: joins without turning back | may be called: joined_without_transpose
def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    split = lambda x: x.unflatten(-1, (heads, -1)).transpose(1, 2)
    q, k, v = split(x_q @ w_q), split(x_kv @ w_k), split(x_kv @ w_v)
    s = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    p = s.softmax(-1)
    return (p @ v).reshape(x_q.shape) @ w_o, p


# %% wrong: keys and values of the queries
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    return _right(x_q, x_q, w_q, w_k, w_v, w_o, heads, mask if mask is None or mask.size(-1) == x_q.size(1) else None)


# %% wrong: forgets the output matrix | may be called: without_output_projection
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    return _right(x_q, x_kv, w_q, w_k, w_v, torch.eye(len(w_o), dtype=w_o.dtype), heads, mask)


# %% wrong: matrices turned as in nn.Linear | may be called: matrices_transposed
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    return _right(x_q, x_kv, w_q.T, w_k.T, w_v.T, w_o.T, heads, mask)


# %% wrong: ignores the mask
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    return _right(x_q, x_kv, w_q, w_k, w_v, w_o, heads)


# %% wrong: the mask of head nought for all
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    if mask is not None and mask.ndim == 4:
        mask = mask[:, :1]
    return _right(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask)


# %% wrong: averages the maps
_right = multi_head


def multi_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask=None):
    out, p = _right(x_q, x_kv, w_q, w_k, w_v, w_o, heads, mask)
    return out, p.mean(1)
