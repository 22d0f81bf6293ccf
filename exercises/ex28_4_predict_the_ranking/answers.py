import numpy as np
import torch


# %% right: plain Python
def ranks(values):
    werte = values.tolist()
    geordnet = sorted(werte)
    erster = {w: geordnet.index(w) + 1 for w in werte}
    return torch.tensor([erster[w] + (geordnet.count(w) - 1) / 2 for w in werte])


def rank_correlation(first, second):
    return float(np.corrcoef(ranks(first).numpy(), ranks(second).numpy())[0, 1])


def rank_spread(means, seeds, deviation, paper, noise):
    alle = []
    for r in range(len(noise)):
        gezogen = [m + deviation * s**-0.5 * z for m, s, z in zip(means.tolist(), seeds.tolist(), noise[r].tolist())]
        alle.append(rank_correlation(torch.tensor(gezogen), paper))
    return tuple(float(q) for q in np.quantile(alle, [0.025, 0.975]))


# %% right: torch, from both ends
def ranks(values):
    from_below = torch.stack([(values < v).sum() for v in values]).float()
    up_to = torch.stack([(values <= v).sum() for v in values]).float()
    return (from_below + 1 + up_to) / 2


def rank_correlation(first, second):
    return torch.corrcoef(torch.stack([ranks(first), ranks(second)]).double())[0, 1].item()


def rank_spread(means, seeds, deviation, paper, noise):
    each = torch.tensor([rank_correlation(torch.normal_like(means, seeds, deviation, z), paper) for z in noise])
    low, high = torch.quantile(each, torch.tensor([0.025, 0.975]))
    return low, high


def _drawn(means, seeds, deviation, z):
    return means + z * (deviation**2 / seeds) ** 0.5


torch.normal_like = _drawn


# %% wrong: argsort | may be called: argsort_once
def ranks(values):
    return torch.argsort(values).float() + 1


# %% wrong: argsort of argsort | may be called: ties_get_an_order
def ranks(values):
    return torch.argsort(torch.argsort(values, stable=True)).float() + 1


# %% wrong: competition ranks | may be called: ties_take_the_best_place
def ranks(values):
    return torch.stack([(values < v).sum() + 1 for v in values]).float()


# %% wrong: the last place
def ranks(values):
    return torch.stack([(values <= v).sum() for v in values]).float()


# %% wrong: Pearson | may be called: correlation_of_values
def rank_correlation(first, second):
    return float(np.corrcoef(first.numpy(), second.numpy())[0, 1])


# %% wrong: squared differences of ranks | may be called: short_formula
def rank_correlation(first, second):
    d, n = ranks(first) - ranks(second), len(first)
    return float(1 - 6 * (d * d).sum() / (n * (n * n - 1)))


# %% wrong: root of the seeds is missing | may be called: spread_of_a_run
def rank_spread(means, seeds, deviation, paper, noise):
    each = torch.tensor([rank_correlation(means + deviation * z, paper) for z in noise])
    return float(each.quantile(0.025)), float(each.quantile(0.975))


# %% wrong: noise on the paper
def rank_spread(means, seeds, deviation, paper, noise):
    each = torch.tensor([rank_correlation(means, paper + deviation / seeds.sqrt() * z) for z in noise])
    return float(each.quantile(0.025)), float(each.quantile(0.975))


# %% wrong: standard error of the correlation
def rank_spread(means, seeds, deviation, paper, noise):
    r, n = rank_correlation(means, paper), len(means)
    half = 1.96 * ((1 - r * r) / (n - 2)) ** 0.5
    return r - half, r + half
