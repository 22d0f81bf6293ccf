import math

import torch


# %% right: one-hot and products
def smoothed_target(ids, eps, vocabulary):
    hot = torch.nn.functional.one_hot(ids, vocabulary).double()
    return (hot * (1 - eps) + (1 - hot) * eps / (vocabulary - 1)).float()


def smoothed_loss(logits, target_out, eps, pad):
    real = target_out != pad
    z, y = logits[real], target_out[real]
    return -(smoothed_target(y, eps, z.shape[-1]) * z.log_softmax(-1)).sum(), int(real.sum())


def closed_form(nll, mean, eps, vocabulary):
    return (1 - eps) * nll + eps / (vocabulary - 1) * (vocabulary * mean - nll)


def perplexity(logits, target_out, pad):
    total, n = smoothed_loss(logits, target_out, 0.0, pad)
    return math.exp(total / n)


# %% right: scatter, logsumexp and loops over sentences
def smoothed_target(ids, eps, vocabulary):
    t = torch.full((len(ids), vocabulary), eps / (vocabulary - 1))
    return t.scatter_(1, ids[:, None], 1 - eps)


def _nll(logits, target_out, pad):
    for zeilen, ziele in zip(logits.double(), target_out):
        for z, y in zip(zeilen, ziele):
            if y != pad:
                lse = torch.logsumexp(z, 0)
                yield lse - z[y], (lse - z).mean(), len(z)


def smoothed_loss(logits, target_out, eps, pad):
    alle = [closed_form(a, m, eps, v) for a, m, v in _nll(logits, target_out, pad)]
    return torch.stack(alle).sum(), torch.tensor(len(alle))


def closed_form(nll, mean, eps, vocabulary):
    rest = eps / (vocabulary - 1)
    return nll * (1 - eps - rest) + mean * (rest * vocabulary)


def perplexity(logits, target_out, pad):
    return torch.stack([a for a, _, _ in _nll(logits, target_out, pad)]).mean().exp()


# %% wrong: shares with all | may be called: shared_by_all_tokens
def smoothed_target(ids, eps, vocabulary):
    return torch.full((len(ids), vocabulary), eps / vocabulary).scatter(1, ids[:, None], 1 - eps + eps / vocabulary)


# %% wrong: padding gets nothing
def smoothed_target(ids, eps, vocabulary):
    t = torch.full((len(ids), vocabulary), eps / (vocabulary - 2)).scatter(1, ids[:, None], 1 - eps)
    t[:, 0] = 0
    return t


# %% wrong: the mean in place of the sum | may be called: mean_instead_of_sum
_right = smoothed_loss


def smoothed_loss(logits, target_out, eps, pad):
    a, n = _right(logits, target_out, eps, pad)
    return a / n, n


# %% wrong: logarithm of a softmax
def smoothed_loss(logits, target_out, eps, pad):
    real = target_out != pad
    return -(smoothed_target(target_out[real], eps, logits.size(-1)) * logits[real].softmax(-1).log()).sum(), int(real.sum())


# %% wrong: the mean weighs eps | may be called: right_token_twice
def closed_form(nll, mean, eps, vocabulary):
    return (1 - eps) * nll + eps * mean


# %% wrong: a smoothed perplexity | may be called: perplexity_smoothed
def perplexity(logits, target_out, pad):
    a, n = smoothed_loss(logits, target_out, 0.1, pad)
    return math.exp(a / n)


# %% wrong: two to the loss | may be called: perplexity_in_bits
def perplexity(logits, target_out, pad):
    a, n = smoothed_loss(logits, target_out, 0.0, pad)
    return 2 ** float(a / n)
