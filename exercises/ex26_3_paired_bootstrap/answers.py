import numpy as np
import torch


# %% right: one line each
def resampled_scores(statistics, draws, score):
    return torch.tensor([float(score(s)) for s in statistics[draws].sum(1)])


def interval(statistics, draws, score):
    low, high = torch.quantile(resampled_scores(statistics, draws, score), torch.tensor([0.025, 0.975])).tolist()
    return low, high


def p_value(a, b, draws, score):
    if score(a.sum(0)) < score(b.sum(0)):
        a, b = b, a
    return float((resampled_scores(a, draws, score) <= resampled_scores(b, draws, score)).double().mean())


# %% right: counts of how often each sentence was drawn
def resampled_scores(statistics, draws, score):
    werte = []
    for zug in draws:
        wie_oft = torch.bincount(zug, minlength=len(statistics)).to(statistics.dtype)
        werte.append(score(wie_oft @ statistics))
    return torch.tensor(werte, dtype=torch.float64)


def interval(statistics, draws, score):
    werte = np.asarray(resampled_scores(statistics, draws, score))
    return tuple(float(np.quantile(werte, q)) for q in (0.025, 0.975))


def p_value(a, b, draws, score):
    x, y = resampled_scores(a, draws, score), resampled_scores(b, draws, score)
    zeichen = 1 if score(a.sum(0)) > score(b.sum(0)) else -1
    return sum(not zeichen * (float(u) - float(v)) > 0 for u, v in zip(x, y)) / len(x)


# %% wrong: the mean of the sentences' scores | may be called: mean_of_sentences
def resampled_scores(statistics, draws, score):
    each = torch.tensor([float(score(s)) for s in statistics])
    return each[draws].mean(1)


# %% wrong: normal distribution
def interval(statistics, draws, score):
    x = resampled_scores(statistics, draws, score)
    return float(x.mean() - 1.96 * x.std()), float(x.mean() + 1.96 * x.std())


# %% wrong: five per cent on each side | may be called: ninety_percent
def interval(statistics, draws, score):
    x = resampled_scores(statistics, draws, score)
    return float(x.quantile(0.05)), float(x.quantile(0.95))


# %% wrong: a tie counts as better
def p_value(a, b, draws, score):
    if score(a.sum(0)) < score(b.sum(0)):
        a, b = b, a
    return float((resampled_scores(a, draws, score) < resampled_scores(b, draws, score)).double().mean())


# %% wrong: a is always the better one
def p_value(a, b, draws, score):
    return float((resampled_scores(a, draws, score) <= resampled_scores(b, draws, score)).double().mean())


# %% wrong: other draws for the other system | may be called: own_draws
def p_value(a, b, draws, score):
    if score(a.sum(0)) < score(b.sum(0)):
        a, b = b, a
    return float((resampled_scores(a, draws, score) <= resampled_scores(b, draws.flip(0), score)).double().mean())


# %% wrong: one minus the share | may be called: share_of_wins
_right = p_value


def p_value(a, b, draws, score):
    return 1 - _right(a, b, draws, score)
