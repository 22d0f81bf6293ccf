import numpy as np
import torch


# %% right: einsum
def contributions(heads, w_o):
    return torch.einsum("bhtk,hkd->bhtd", heads, w_o.reshape(heads.shape[1], heads.shape[3], -1))


def without(parts, i):
    return parts.sum(1) - parts[:, i]


# %% right: one head at a time, and a mask of those who stay
def contributions(heads, w_o):
    K = heads.size(-1)
    return torch.stack([heads[:, h] @ w_o[h * K : (h + 1) * K] for h in range(heads.size(1))], dim=1)


def without(parts, i):
    bleiben = [h for h in range(parts.shape[1]) if h != i]
    return parts[:, bleiben].sum(dim=1)


# %% wrong: rows of w_o taken in turns | may be called: every_h_th_row
def contributions(heads, w_o):
    H = heads.size(1)
    return torch.stack([heads[:, h] @ w_o[h::H] for h in range(H)], 1)


# %% wrong: the first block for all | may be called: first_block_for_all
def contributions(heads, w_o):
    return heads @ w_o[: heads.size(-1)]


# %% wrong: the output with the head alone | may be called: the_head_alone
def without(parts, i):
    return parts[:, i]


# %% wrong: silences a sentence
def without(parts, i):
    return parts.sum(1) - parts[i]


# %% wrong: the mean of the others
def without(parts, i):
    return (parts.sum(1) - parts[:, i]) / (parts.size(1) - 1)


# %% wrong: counts heads from one | may be called: counted_from_one
def without(parts, i):
    return parts.sum(1) - parts[:, i - 1]


# %% wrong: leaves out two neighbours
def without(parts, i):
    return torch.cat([parts[:, :i], parts[:, i + 2 :]], 1).sum(1)


# %% wrong: divides by the number of heads | may be called: averaged
_right = contributions


def contributions(heads, w_o):
    return _right(heads, w_o) / heads.size(1)
