import math
import random

import numpy as np
import torch


# %% right: derived
def variance(d_k, copies):
    return d_k * copies


def divisor(d_k, copies):
    return math.sqrt(d_k * copies)


def measured(q, k):
    return (q * k).sum(-1).var().item()


# %% right: measured with numpy
def variance(d_k, copies):
    zufall = np.random.default_rng(3)
    a, b = (zufall.standard_normal((100_000, d_k // copies)).repeat(copies, axis=1) for _ in range(2))
    return float(((a * b).sum(1)).var())


def divisor(d_k, copies):
    return variance(d_k, copies) ** 0.5


def measured(q, k):
    products = [float(torch.dot(a, b)) for a, b in zip(q, k)]
    mean = math.fsum(products) / len(products)
    return math.fsum((p - mean) ** 2 for p in products) / len(products)


# %% wrong: copies do not matter
def variance(d_k, copies):
    return d_k


# %% wrong: only the groups count
def variance(d_k, copies):
    return d_k / copies


# %% wrong: copies squared
def variance(d_k, copies):
    return d_k * copies**2


# %% wrong: the variance for the divisor
def divisor(d_k, copies):
    return d_k * copies


# %% wrong: the paper's divisor | may be called: always_the_root_of_d_k
def divisor(d_k, copies):
    return math.sqrt(d_k)


# %% wrong: the mean square | may be called: mean_forgotten
def measured(q, k):
    return float((q * k).sum(-1).square().mean())


# %% wrong: all pairs of rows | may be called: every_pair
def measured(q, k):
    return float((q @ k.T).var())


# %% wrong: the deviation
def measured(q, k):
    return float((q * k).sum(1).std())
