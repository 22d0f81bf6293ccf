import math

import torch
from torch import nn


# %% right: repaired as little as can be
def attention(q, k, v, mask=None):
    score = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
    if mask is not None:
        score = score.masked_fill(mask[:, None] == 0, -math.inf)
    weights = score.softmax(dim=-1)
    return weights @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_concat = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        out, weights = attention(q, k, v, mask)
        return self.w_concat(self.concat(out)), weights

    def split(self, x):
        b, t, d = x.size()
        return x.view(b, t, self.n_head, d // self.n_head).transpose(1, 2)

    def concat(self, x):
        b, h, t, k = x.size()
        return x.transpose(1, 2).contiguous().view(b, t, h * k)


# %% right: rewritten with einsum
def attention(q, k, v, mask=None):
    logits = torch.einsum("bhtk,bhsk->bhts", q, k).mul(q.shape[-1] ** -0.5)
    if mask is not None:
        logits = torch.where(mask.unsqueeze(1), logits, torch.full_like(logits, -torch.inf))
    p = torch.softmax(logits, -1)
    return torch.einsum("bhts,bhsk->bhtk", p, v), p


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_head: int) -> None:
        super().__init__()
        assert d_model % n_head == 0
        self.n_head, self.d_head = n_head, d_model // n_head
        for name in ("w_q", "w_k", "w_v", "w_concat"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, q, k, v, mask=None):
        teile = [f(x).unflatten(2, (self.n_head, self.d_head)).movedim(2, 1) for f, x in ((self.w_q, q), (self.w_k, k), (self.w_v, v))]
        out, weights = attention(*teile, mask)
        return self.w_concat(out.movedim(1, 2).flatten(2)), weights


# %% wrong: the root of the length stays | may be called: root_of_the_length
def attention(q, k, v, mask=None):
    score = q @ k.transpose(2, 3) / math.sqrt(q.size(2))
    if mask is not None:
        score = score.masked_fill(~mask[:, None], -math.inf)
    w = score.softmax(-1)
    return w @ v, w


# %% wrong: the tiny fill stays | may be called: tiny_fill
def attention(q, k, v, mask=None):
    score = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
    if mask is not None:
        score = score.masked_fill(~mask[:, None], -1e-12)
    w = score.softmax(-1)
    return w @ v, w


# %% wrong: split stays | may be called: split_without_transpose
class MultiHeadAttention(MultiHeadAttention):
    def split(self, x):
        b, t, d = x.size()
        return x.view(b, self.n_head, t, d // self.n_head)


# %% wrong: concat stays | may be called: concat_without_transpose
class MultiHeadAttention(MultiHeadAttention):
    def concat(self, x):
        b, h, t, k = x.size()
        return x.contiguous().view(b, t, h * k)


# %% wrong: weights are detached | may be called: weights_detached
_right = attention


def attention(q, k, v, mask=None):
    w = _right(q, k, v, mask)[1].detach()
    return w @ v, w


# %% wrong: the last linear layer is not used | may be called: w_concat_unused
class MultiHeadAttention(MultiHeadAttention):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        out, weights = attention(q, k, v, mask)
        return self.concat(out), weights


# %% wrong: values go through the matrix of the keys | may be called: values_through_w_k
class MultiHeadAttention(MultiHeadAttention):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_k(v))
        out, weights = attention(q, k, v, mask)
        return self.w_concat(self.concat(out)), weights


# %% wrong: mask meets the heads
def attention(q, k, v, mask=None):
    score = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
    if mask is not None:
        score = score.masked_fill(~mask[:1, None], -math.inf)
    w = score.softmax(-1)
    return w @ v, w
