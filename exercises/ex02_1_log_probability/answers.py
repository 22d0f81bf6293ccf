import math

import numpy as np
import torch
import torch.nn.functional as F


# %% right: plain loops with math and a running maximum
def log_probability(logits, target_out):
    total = 0.0
    for row, y in zip(logits.tolist(), target_out.tolist()):
        if y == 0:
            continue
        m = max(row)
        total += row[y] - m - math.log(math.fsum(math.exp(z - m) for z in row))
    return total


# %% right: numpy in double precision
def log_probability(logits, target_out):
    z = logits.detach().numpy().astype(np.float64)
    y = target_out.numpy()
    z = z - z.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return float((logp[np.arange(len(y)), y] * (y != 0)).sum())


# %% right: logsumexp and a mask
def log_probability(logits: torch.Tensor, target_out: torch.Tensor) -> float:
    echt = target_out.ne(0)
    picked = logits.double()[torch.arange(logits.shape[0]), target_out]
    return (picked - torch.logsumexp(logits.double(), -1))[echt].sum().item()


# %% right: one line with gather
def log_probability(logits, target_out):
    return float(F.log_softmax(logits.double(), 1).gather(1, target_out.unsqueeze(1)).squeeze(1)[target_out > 0].sum())


# %% wrong: product of probabilities, then the logarithm
def log_probability(logits, target_out):
    p = logits.softmax(-1)[torch.arange(len(target_out)), target_out]
    return float(p[target_out != 0].prod().log())


# %% wrong: the logarithm of the softmax of each
def log_probability(logits, target_out):
    p = logits.softmax(-1)[torch.arange(len(target_out)), target_out]
    return float(p[target_out != 0].log().sum())


# %% wrong: the mean | may be called: mean_of_the_factors
def log_probability(logits, target_out):
    return float(logits.log_softmax(-1)[torch.arange(len(target_out)), target_out][target_out != 0].mean())


# %% wrong: the sign of a loss | may be called: loss_sign
def log_probability(logits, target_out):
    return -float(logits.log_softmax(-1)[torch.arange(len(target_out)), target_out][target_out != 0].sum())


# %% wrong: counts the padding | may be called: padding_counted
def log_probability(logits, target_out):
    return float(logits.log_softmax(-1)[torch.arange(len(target_out)), target_out].sum())


# %% wrong: softmax over the positions | may be called: softmax_over_time
def log_probability(logits, target_out):
    return float(logits.log_softmax(0)[torch.arange(len(target_out)), target_out][target_out != 0].sum())


# %% wrong: base two | may be called: base_two
def log_probability(logits, target_out):
    return float(logits.log_softmax(-1)[torch.arange(len(target_out)), target_out][target_out != 0].sum()) / math.log(2)


# %% wrong: leaves out the last real row, the end token | may be called: end_forgotten
def log_probability(logits, target_out):
    n = int((target_out != 0).sum()) - 1
    return float(logits[:n].log_softmax(-1)[torch.arange(n), target_out[:n]].sum())
