import math

import torch
from torch import nn
from torch.nn import functional as F


# %% right: einsum
class ParameterAttention(nn.Module):
    def __init__(self, d_model, heads, width, parameters):
        super().__init__()
        rest = parameters - 2 * d_model * heads * width
        if rest <= 0 or rest % (2 * heads * width):
            raise ValueError("no whole number of pairs fits")
        pairs = rest // (2 * heads * width)
        self.heads, self.width = heads, width
        self.query = nn.Linear(d_model, heads * width, bias=False)
        self.output = nn.Linear(heads * width, d_model, bias=False)
        self.keys = nn.Parameter(torch.randn(heads, pairs, width) / math.sqrt(width))
        self.values = nn.Parameter(torch.randn(heads, pairs, width) / math.sqrt(width))

    def forward(self, x):
        q = self.query(x).unflatten(-1, (self.heads, self.width))
        a = torch.einsum("bshw,hpw->bhsp", q, self.keys).div(self.width**0.5).softmax(-1)
        return self.output(torch.einsum("bhsp,hpw->bshw", a, self.values).flatten(2))


heads_without_a_pair = 32


# %% right: a loop over heads, divmod
class ParameterAttention(nn.Module):
    def __init__(self, d_model, heads, width, parameters):
        super().__init__()
        je_paar = 2 * heads * width
        pairs, rest = divmod(parameters - 2 * d_model * heads * width, je_paar)
        if rest != 0 or pairs < 1:
            raise ValueError(f"{pairs} pairs, {rest} numbers left over")
        self.query = nn.Linear(d_model, heads * width, bias=False)
        self.output = nn.Linear(heads * width, d_model, bias=False)
        self.keys = nn.Parameter(torch.empty(heads, pairs, width))
        self.values = nn.Parameter(torch.empty(heads, pairs, width))
        for p in (self.keys, self.values):
            nn.init.xavier_uniform_(p)

    def forward(self, x):
        H, _, W = self.keys.shape
        köpfe = []
        for h, q in enumerate(self.query(x).split(W, dim=-1)):
            köpfe.append(F.softmax(q @ self.keys[h].T * W**-0.5, dim=-1) @ self.values[h])
        return self.output(torch.cat(köpfe, -1))


heads_without_a_pair = 2 * 512 * 2048 // (2 * 512 * 64)

# %% wrong: only values in the count of a pair
class ParameterAttention(ParameterAttention):
    def __init__(self, d_model, heads, width, parameters):
        rest = parameters - 2 * d_model * heads * width
        if rest <= 0 or rest % (heads * width):
            raise ValueError("no")
        super().__init__(d_model, heads, width, 2 * d_model * heads * width + 2 * rest)


# %% wrong: rounds down in silence
class ParameterAttention(ParameterAttention):
    def __init__(self, d_model, heads, width, parameters):
        unit = 2 * heads * width
        super().__init__(d_model, heads, width, parameters // unit * unit)


# %% wrong: nought pairs are fine
_Right = ParameterAttention


class ParameterAttention(_Right):
    def __init__(self, d_model, heads, width, parameters):
        if parameters == 2 * d_model * heads * width:
            nn.Module.__init__(self)
            return
        super().__init__(d_model, heads, width, parameters)


# %% wrong: softmax over the positions
class ParameterAttention(ParameterAttention):
    def forward(self, x):
        q = self.query(x).unflatten(-1, (self.heads, self.width))
        a = torch.einsum("bshw,hpw->bhsp", q, self.keys).div(self.width**0.5).softmax(-2)
        return self.output(torch.einsum("bhsp,hpw->bshw", a, self.values).flatten(2))


# %% wrong: not divided
class ParameterAttention(ParameterAttention):
    def forward(self, x):
        q = self.query(x).unflatten(-1, (self.heads, self.width))
        a = torch.einsum("bshw,hpw->bhsp", q, self.keys).softmax(-1)
        return self.output(torch.einsum("bhsp,hpw->bshw", a, self.values).flatten(2))


# %% wrong: ReLU in place of the softmax
class ParameterAttention(ParameterAttention):
    def forward(self, x):
        q = self.query(x).unflatten(-1, (self.heads, self.width))
        a = torch.einsum("bshw,hpw->bhsp", q, self.keys).div(self.width**0.5).relu()
        return self.output(torch.einsum("bhsp,hpw->bshw", a, self.values).flatten(2))


# %% wrong: keys and values are no parameters
class ParameterAttention(ParameterAttention):
    def __init__(self, d_model, heads, width, parameters):
        super().__init__(d_model, heads, width, parameters)
        self.keys.requires_grad_(False)
        self.values.requires_grad_(False)


# %% wrong: linear layers with biases
class ParameterAttention(ParameterAttention):
    def __init__(self, d_model, heads, width, parameters):
        super().__init__(d_model, heads, width, parameters)
        self.query = nn.Linear(d_model, heads * width)


# %% wrong: values of the head before
class ParameterAttention(ParameterAttention):
    def forward(self, x):
        q = self.query(x).unflatten(-1, (self.heads, self.width))
        a = torch.einsum("bshw,hpw->bhsp", q, self.keys).div(self.width**0.5).softmax(-1)
        return self.output(torch.einsum("bhsp,hpw->bshw", a, self.values.roll(1, 0)).flatten(2))


# %% wrong: the last number that still has a pair
heads_without_a_pair = 31
