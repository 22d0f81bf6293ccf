import math

import torch


# %% right: formulas
def word_share(d_model, power):
    w = d_model ** (2 * power)
    return w / (w + d_model / 2)


steady_power = 0.5


def equal_power(d_model):
    return 0.5 - 0.5 * math.log(2) / math.log(d_model)


def measured_share(rows, places, power):
    w = (rows * rows.size(1) ** power).pow(2).sum(1).mean()
    p = places.pow(2).sum(1).mean()
    return (w / (w + p)).item()


# %% right: bisection and loops
def word_share(d_model, power):
    return 1 / (1 + 0.5 * d_model ** (1 - 2 * power))


steady_power = 1 / 2


def equal_power(d_model):
    lo, hi = -2.0, 2.0
    for _ in range(100):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if word_share(d_model, mid) < 0.5 else (lo, mid)
    return mid


def measured_share(rows, places, power):
    länge = lambda tabelle: sum(float(z.double() @ z.double()) for z in tabelle) / len(tabelle)
    wort = länge(rows) * rows.shape[1] ** (2 * power)
    return wort / (wort + länge(places))


# %% wrong: the sinusoid as long as the width | may be called: place_of_length_root_d
def word_share(d_model, power):
    w = d_model ** (2 * power)
    return w / (w + d_model)


# %% wrong: power not doubled | may be called: factor_not_squared
def word_share(d_model, power):
    w = d_model**power
    return w / (w + d_model / 2)


# %% wrong: lengths, not squares | may be called: lengths_added
def word_share(d_model, power):
    w = d_model**power
    return w / (w + math.sqrt(d_model / 2))


# %% wrong: the share of the place
_right = word_share


def word_share(d_model, power):
    return 1 - _right(d_model, power)


# %% wrong: the model width itself
steady_power = 1

# %% wrong: one half | may be called: steady_is_equal
def equal_power(d_model):
    return 0.5


# %% wrong: more than a half
def equal_power(d_model):
    return 0.5 + 0.5 * math.log(2, d_model)


# %% wrong: a sum over all rows
def measured_share(rows, places, power):
    w = (rows * rows.size(1) ** power).pow(2).sum()
    return float(w / (w + places.pow(2).sum()))


# %% wrong: the mean of the shares of single rows
def measured_share(rows, places, power):
    n = min(len(rows), len(places))
    w = (rows * rows.size(1) ** power).pow(2).sum(1)[:n]
    return float((w / (w + places.pow(2).sum(1)[:n])).mean())


# %% wrong: trusts the formula
def measured_share(rows, places, power):
    return word_share(rows.size(1), power)
