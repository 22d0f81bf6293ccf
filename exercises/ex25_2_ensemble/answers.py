import math

import torch


# %% right: logsumexp
def combine(log_probabilities):
    return torch.logsumexp(log_probabilities, 0) - math.log(len(log_probabilities))


def write(models, cap):
    prefix, total = [1], 0.0
    while len(prefix) <= cap:
        logs = combine(torch.stack([m(list(prefix)) for m in models]))
        token = 2 + int(logs[2:].argmax())
        total += float(logs[token])
        if token == 2:
            break
        prefix.append(token)
    return prefix[1:], total


def averaged_weights(x, weights):
    return (x @ weights.mean(0)).log_softmax(-1)


# %% right: a maximum and logaddexp
from functools import reduce


def combine(log_probabilities):
    return reduce(torch.logaddexp, log_probabilities) - torch.tensor(float(len(log_probabilities))).log()


def write(models, cap):
    text, summe = [], 0.0
    for _ in range(cap):
        werte = combine(torch.stack([m([1] + text) for m in models])).tolist()
        wert, token = max((w, t) for t, w in enumerate(werte) if t > 1)
        summe += wert
        if token == 2:
            return text, summe
        text = text + [token]
    return text, summe


def averaged_weights(x, weights):
    z = torch.stack([x @ w for w in weights]).mean(0)
    return z - z.logsumexp(dim=-1, keepdim=True)


# %% wrong: the mean of logarithms | may be called: mean_of_logarithms
def combine(log_probabilities):
    return log_probabilities.mean(0)


# %% wrong: logarithm of the mean of exponentials
def combine(log_probabilities):
    return log_probabilities.exp().mean(0).log()


# %% wrong: the sum | may be called: sum_not_mean
def combine(log_probabilities):
    return log_probabilities.logsumexp(0)


# %% wrong: over the vocabulary
def combine(log_probabilities):
    return (log_probabilities.logsumexp(0) - math.log(len(log_probabilities))).log_softmax(0)


# %% wrong: writes 0 and 1, too | may be called: pad_is_written
def write(models, cap):
    prefix, total = [1], 0.0
    while len(prefix) <= cap:
        logs = combine(torch.stack([m(list(prefix)) for m in models]))
        token = int(logs.argmax())
        total += float(logs[token])
        if token == 2:
            break
        prefix.append(token)
    return prefix[1:], total


# %% wrong: the end is not in the sum | may be called: the_end_is_free
def write(models, cap):
    prefix, total = [1], 0.0
    while len(prefix) <= cap:
        logs = combine(torch.stack([m(list(prefix)) for m in models]))
        token = 2 + int(logs[2:].argmax())
        if token == 2:
            break
        total += float(logs[token])
        prefix.append(token)
    return prefix[1:], total


# %% wrong: the first model alone | may be called: the_first_decides
_right = write


def write(models, cap):
    return _right(models[:1], cap)


# %% wrong: an ensemble in place of the mean weights | may be called: averaged_predictions
def averaged_weights(x, weights):
    return combine((x @ weights).log_softmax(-1))
