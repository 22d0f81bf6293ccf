import math

import torch


# %% right: formulas
def squared_length(d):
    return float(d)


def rescaled(y, a, b):
    return y if a > 0 else -y


def with_unbiased(y):
    d = y.shape[-1]
    return y * math.sqrt((d - 1) / d)


def size(spread, eps):
    return spread / math.sqrt(spread**2 + eps)


def entries_that_change(b, s, d):
    return d


# %% right: torch and copysign
def squared_length(d):
    return sum(1 for _ in range(d))


def rescaled(y, a, b):
    return math.copysign(1, a) * y


def with_unbiased(y):
    n = y.numel()
    return torch.sqrt(torch.tensor(1 - 1 / n, dtype=y.dtype)) * y


def size(spread, eps):
    return (1 + eps / spread**2) ** -0.5


def entries_that_change(b, s, d):
    return len(range(d))


# %% wrong: length one
def squared_length(d):
    return 1.0


# %% wrong: the length, not squared | may be called: length_not_squared
def squared_length(d):
    return math.sqrt(d)


# %% wrong: the sign drops out | may be called: sign_is_lost
def rescaled(y, a, b):
    return y


# %% wrong: stretched and moved | may be called: passes_scale_and_shift_on
def rescaled(y, a, b):
    return a * y + b


# %% wrong: the other way round | may be called: unbiased_is_larger
def with_unbiased(y):
    d = len(y)
    return y * math.sqrt(d / (d - 1))


# %% wrong: no root | may be called: root_forgotten
def with_unbiased(y):
    d = len(y)
    return y * (d - 1) / d


# %% wrong: eps outside the root | may be called: eps_beside_the_root
def size(spread, eps):
    return spread / (spread + eps)


# %% wrong: always one
def size(spread, eps):
    return 1.0


# %% wrong: eps beside the deviation squared twice
def size(spread, eps):
    return spread**2 / (spread**2 + eps)


# %% wrong: everything behind it
def entries_that_change(b, s, d):
    return s * d


# %% wrong: all but the one
def entries_that_change(b, s, d):
    return d - 1
