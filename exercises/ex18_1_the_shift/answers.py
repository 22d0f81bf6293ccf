import torch
from torch.nn import functional as F


# %% right: rows as lists
def add_end(target, eos, pad):
    rows = []
    for row in target.tolist():
        n = len(row)
        while n and row[n - 1] == pad:
            n -= 1
        rows.append(row[:n] + [eos] + [pad] * (len(row) - n))
    return torch.tensor(rows)


def shift_right(target_out, bos, eos, pad):
    rows = []
    for row in target_out.tolist():
        satz = row[: row.index(eos)]
        rows.append([bos] + satz + [pad] * (len(row) - 1 - len(satz)))
    return torch.tensor(rows)


def mean_loss(logits, target_out, pad):
    real = target_out != pad
    return -logits.log_softmax(-1).gather(-1, target_out.unsqueeze(-1)).squeeze(-1)[real].mean()


# %% right: scatter, where, roll and cross_entropy
def add_end(target, eos, pad):
    b, t = target.shape
    out = torch.full((b, t + 1), pad, dtype=target.dtype)
    out[:, :t] = target
    return out.scatter(1, (target != pad).sum(1, keepdim=True), eos)


def shift_right(target_out, bos, eos, pad):
    lesen = target_out.roll(1, dims=1)
    lesen = torch.where(lesen == eos, pad, lesen)
    lesen[:, 0] = bos
    return lesen


def mean_loss(logits, target_out, pad):
    return F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=pad).item()


# %% wrong: the end behind the padding | may be called: end_behind_the_padding
def add_end(target, eos, pad):
    return torch.cat([target, torch.full((len(target), 1), eos)], 1)


# %% wrong: the end is read | may be called: end_mark_in_the_input
def shift_right(target_out, bos, eos, pad):
    return torch.cat([torch.full((len(target_out), 1), bos), target_out[:, :-1]], 1)


# %% wrong: padding is always nought | may be called: padding_is_zero
def add_end(target, eos, pad):
    b, t = target.shape
    out = torch.cat([target, torch.full((b, 1), pad)], 1)
    return out.scatter(1, (target != 0).sum(1, keepdim=True), eos)


# %% wrong: the mean of the sentences' means | may be called: mean_of_sentence_means
def mean_loss(logits, target_out, pad):
    n = F.cross_entropy(logits.mT, target_out, ignore_index=pad, reduction="none")
    return (n.sum(1) / (target_out != pad).sum(1)).mean()


# %% wrong: counts the padding | may be called: padding_in_the_loss
def mean_loss(logits, target_out, pad):
    return F.cross_entropy(logits.flatten(0, 1), target_out.flatten())


# %% wrong: writes into its input
def shift_right(target_out, bos, eos, pad):
    target_out[target_out == eos] = pad
    return torch.cat([torch.full((len(target_out), 1), bos), target_out[:, :-1]], 1)


# %% wrong: sum over tokens
def mean_loss(logits, target_out, pad):
    return F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=pad, reduction="sum")
