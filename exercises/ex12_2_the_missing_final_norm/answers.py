import math

import torch


# %% right: lists and the spread of the lengths
def diagnose(encode, layers, x):
    lengths = torch.stack([encode(x, layers[: k + 1]).norm(dim=-1).mean() for k in range(len(layers))]) / x.size(-1) ** 0.5
    return lengths, bool((lengths.max() - lengths.min()) / lengths.min() < 0.15)


def repaired(x, layers, norm):
    return norm(encode(x, layers))


# %% right: root mean square, last compared with first
def diagnose(encode, layers, x):
    längen = []
    for n in range(1, 1 + len(layers)):
        y = encode(x, layers[:n])
        längen.append(y.pow(2).mean(-1).sqrt().mean().item())
    return torch.tensor(längen), längen[-1] < 1.15 * längen[0]


def repaired(x, layers, norm):
    from functools import reduce

    return norm(reduce(lambda y, f: f(y), layers, x))


# %% wrong: not in units of the root | may be called: not_in_units
def diagnose(encode, layers, x):
    l = torch.stack([encode(x, layers[:k]).norm(dim=-1).mean() for k in range(1, len(layers) + 1)])
    return l, bool(l[-1] < 1.15 * l[0])


# %% wrong: length must be one
def diagnose(encode, layers, x):
    l = torch.stack([encode(x, layers[:k]).norm(dim=-1).mean() for k in range(1, len(layers) + 1)]) / x.size(-1) ** 0.5
    return l, bool(((l - 1).abs() < 0.1).all())


# %% wrong: from nought layers | may be called: from_no_layers
def diagnose(encode, layers, x):
    l = torch.stack([encode(x, layers[:k]).norm(dim=-1).mean() for k in range(len(layers))]) / x.size(-1) ** 0.5
    return l, bool(l[-1] < 1.15 * l[0])


# %% wrong: each layer alone
def diagnose(encode, layers, x):
    l = torch.stack([encode(x, [f]).norm(dim=-1).mean() for f in layers]) / x.size(-1) ** 0.5
    return l, bool(l[-1] < 1.15 * l[0])


# %% wrong: says when it lacks one | may be called: verdict_upside_down
_right = diagnose


def diagnose(encode, layers, x):
    l, ends = _right(encode, layers, x)
    return l, not ends


# %% wrong: a norm behind each layer | may be called: norm_after_each_layer
def repaired(x, layers, norm):
    for f in layers:
        x = norm(f(x))
    return x


# %% wrong: a norm in front | may be called: norm_at_the_start
def repaired(x, layers, norm):
    return encode(norm(x), layers)


# %% wrong: a sum of the lengths
def diagnose(encode, layers, x):
    l = torch.stack([encode(x, layers[:k]).norm() for k in range(1, len(layers) + 1)]) / x.size(-1) ** 0.5
    return l, bool(l[-1] < 1.15 * l[0])
