import math

import torch


# %% right: stack in double precision
def positional_encoding(length, d_model):
    if d_model % 2:
        raise ValueError("odd")
    p = torch.arange(length, dtype=torch.float64)
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    w = torch.outer(p, 10000 ** (-i / d_model))
    return torch.stack((w.sin(), w.cos()), -1).reshape(length, d_model).float()


def as_released(length, d_model):
    if d_model % 2:
        raise ValueError("odd")
    n = d_model // 2
    w = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(n).double() / (n - 1)))
    return torch.cat([torch.sin(w), torch.cos(w)], 1).float()


# %% right: strided assignment, complex exponentials, double result
def positional_encoding(length, d_model):
    if d_model & 1:
        raise ValueError(f"d_model = {d_model} is odd")
    tabelle = torch.zeros(length, d_model, dtype=torch.double)
    orte = torch.arange(length, dtype=torch.double).unsqueeze(1)
    teiler = torch.exp(torch.arange(0, d_model, 2, dtype=torch.double) * (-math.log(10000.0) / d_model))
    tabelle[:, 0::2] = torch.sin(orte * teiler)
    tabelle[:, 1::2] = torch.cos(orte * teiler)
    return tabelle


def as_released(length, d_model):
    if d_model & 1:
        raise ValueError(f"d_model = {d_model} is odd")
    frequenzen = torch.logspace(0, -4, d_model // 2, dtype=torch.double)
    welle = torch.exp(1j * torch.arange(length, dtype=torch.double)[:, None] * frequenzen)
    return torch.cat([welle.imag, welle.real], dim=-1)


# %% wrong: single precision | may be called: single_precision_angles
def positional_encoding(length, d_model):
    if d_model % 2:
        raise ValueError
    w = torch.arange(length).float()[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([w.sin(), w.cos()], -1).flatten(1)


# %% wrong: positions from one | may be called: starts_at_one
_right = positional_encoding


def positional_encoding(length, d_model):
    return _right(length + 1, d_model)[1:]


# %% wrong: sines and cosines exchanged | may be called: cosines_first
def positional_encoding(length, d_model):
    if d_model % 2:
        raise ValueError
    w = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(0, d_model, 2).double() / d_model))
    return torch.stack((w.cos(), w.sin()), -1).flatten(1)


# %% wrong: the frequency of each dimension
def positional_encoding(length, d_model):
    if d_model % 2:
        raise ValueError
    j = torch.arange(d_model)
    w = torch.outer(torch.arange(length).double(), 10000 ** (-j.double() / d_model))
    return torch.where(j % 2 == 0, w.sin(), w.cos())


# %% wrong: odd widths pass
def positional_encoding(length, d_model):
    w = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(0, d_model, 2).double() / d_model))
    return torch.stack((w.sin(), w.cos()), -1).flatten(1)[:, :d_model]


# %% wrong: at most 5,000 positions
_right = positional_encoding


def positional_encoding(length, d_model):
    return _right(5000, d_model)[:length]


# %% wrong: released as written, in halves | may be called: released_with_the_printed_spacing
def as_released(length, d_model):
    if d_model % 2:
        raise ValueError
    t = positional_encoding(length, d_model)
    return torch.cat([t[:, ::2], t[:, 1::2]], 1)


# %% wrong: released side by side | may be called: released_alternates
def as_released(length, d_model):
    if d_model % 2:
        raise ValueError
    n = d_model // 2
    w = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(n).double() / (n - 1)))
    return torch.stack([w.sin(), w.cos()], -1).flatten(1)


# %% wrong: cosines first | may be called: released_cosines_first
def as_released(length, d_model):
    if d_model % 2:
        raise ValueError
    n = d_model // 2
    w = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(n).double() / (n - 1)))
    return torch.cat([w.cos(), w.sin()], 1)
