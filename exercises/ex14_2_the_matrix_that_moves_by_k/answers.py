import math

import torch


# %% right: block diagonal
def shift(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = k * 10000 ** (-2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
    return torch.block_diag(*blocks)


def shift_halves(k, d_model):
    a = k * 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
    c, s = a.cos().diag(), a.sin().diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)]).float()


# %% right: entries written one by one, then permuted
def shift(k, d_model):
    m = torch.zeros(d_model, d_model, dtype=torch.float64)
    for sin_platz in range(0, d_model, 2):
        winkel = k / 10000 ** (sin_platz / d_model)
        cos_platz = sin_platz + 1
        m[sin_platz, sin_platz] = m[cos_platz, cos_platz] = math.cos(winkel)
        m[sin_platz, cos_platz], m[cos_platz, sin_platz] = math.sin(winkel), -math.sin(winkel)
    return m


def shift_halves(k, d_model):
    ordnung = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return shift(k, d_model)[ordnung][:, ordnung]


# %% wrong: turns the other way
_right = shift


def shift(k, d_model):
    return _right(-k, d_model)


# %% wrong: one frequency for all
def shift(k, d_model):
    b = torch.tensor([[math.cos(k), math.sin(k)], [-math.sin(k), math.cos(k)]])
    return torch.block_diag(*[b] * (d_model // 2))


# %% wrong: no sign
def shift(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = k * 10000 ** (-2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(a), math.sin(a)], [math.sin(a), math.cos(a)]]))
    return torch.block_diag(*blocks)


# %% wrong: never back
_right = shift


def shift(k, d_model):
    return _right(abs(k), d_model)


# %% wrong: a shift of one, k times as strong
_right = shift


def shift(k, d_model):
    return _right(1, d_model) * k


# %% wrong: frequencies as released
def shift_halves(k, d_model):
    n = d_model // 2
    a = k * 10000 ** (-torch.arange(n).double() / max(n - 1, 1))
    c, s = a.cos().diag(), a.sin().diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)]).float()


# %% wrong: the same for halves | may be called: same_for_both_layouts
def shift_halves(k, d_model):
    return shift(k, d_model)


# %% wrong: permutes the rows only | may be called: rows_only
def shift_halves(k, d_model):
    o = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return shift(k, d_model)[o]
