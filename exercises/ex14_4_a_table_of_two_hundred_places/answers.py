import math

import torch
from torch import nn


def table_of(places, d_model):
    w = torch.arange(places)[:, None].double() * 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    return torch.stack([w.sin(), w.cos()], -1).flatten(1).float()


# %% right: made anew at each call
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        p = torch.arange(x.size(1), device=x.device, dtype=torch.float64)
        f = 10000.0 ** (-torch.arange(0, self.d_model, 2, device=x.device, dtype=torch.float64) / self.d_model)
        w = p[:, None] * f
        return (x.double() + torch.stack([w.sin(), w.cos()], -1).flatten(1)).to(x.dtype)


# %% right: a buffer that grows and is not kept
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model
        self.register_buffer("tabelle", self.wellen(16), persistent=False)

    def wellen(self, n):
        t = torch.zeros(n, self.d_model)
        p = torch.arange(n, dtype=torch.double)[:, None]
        e = torch.arange(0, self.d_model, 2, dtype=torch.double) / self.d_model
        t[:, 0::2] = torch.sin(p / 10000**e).float()
        t[:, 1::2] = torch.cos(p / 10000**e).float()
        return t

    def forward(self, x):
        n = x.shape[1]
        if n > len(self.tabelle):
            self.tabelle = self.wellen(2 * n)
        return (x + self.tabelle[:n].to(x.device)).to(x.dtype)


# %% wrong: a buffer that is kept
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.register_buffer("t", table_of(1200, d_model))

    def forward(self, x):
        return (x + self.t[: x.size(1)]).to(x.dtype)


# %% wrong: two hundred places, not kept
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.register_buffer("t", table_of(200, d_model), persistent=False)

    def forward(self, x):
        return (x + self.t[: x.size(1)]).to(x.dtype)


# %% wrong: gives float32 | may be called: a_table_of_its_own_kind
_Right = Positions


class Positions(_Right):
    def forward(self, x):
        return super().forward(x.float())


# %% wrong: positions in the type of x
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        p = torch.arange(x.size(1), device=x.device, dtype=x.dtype)
        f = 10000.0 ** (-torch.arange(0, self.d_model, 2, device=x.device, dtype=x.dtype) / self.d_model)
        w = p[:, None] * f
        return x + torch.stack([w.sin(), w.cos()], -1).flatten(1)


# %% wrong: a parameter that is frozen
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.t = nn.Parameter(table_of(1200, d_model), requires_grad=False)

    def forward(self, x):
        return (x + self.t[: x.size(1)]).to(x.dtype)


# %% wrong: always on the processor
class Positions(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        p = torch.arange(x.size(1), dtype=torch.float64)
        w = p[:, None] * 10000.0 ** (-torch.arange(0, self.d_model, 2).double() / self.d_model)
        return (x + torch.stack([w.sin(), w.cos()], -1).flatten(1)).to(x.dtype)


# %% wrong: positions run over the batch
class Positions(Positions):
    def forward(self, x):
        return super().forward(x.transpose(0, 1)).transpose(0, 1)


# %% wrong: the waves without x | may be called: waves_without_the_words
_Right = Positions


class Positions(_Right):
    def forward(self, x):
        y = super().forward(torch.zeros_like(x))
        return y


# %% wrong: scales x first
_Right = Positions


class Positions(_Right):
    def forward(self, x):
        return super().forward(x * math.sqrt(x.size(-1)))
