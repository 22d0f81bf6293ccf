import math

import numpy as np
import torch


# %% right: pad_sequence
def teacher_forcing(sentences, bos, eos, pad):
    def block(rows):
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=pad)

    return block([[bos] + list(s) for s in sentences]), block([list(s) + [eos] for s in sentences])


def visible(length, masked, shift):
    grid = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for slot in range(i + 1 if masked else length):
            if slot - shift >= 0:
                grid[i, slot - shift] = True
    return grid


def noise_loss(length, vocabulary, masked, shift):
    blind = sum(not visible(length, masked, shift)[i, i] for i in range(length))
    return blind / length * math.log(vocabulary)


# %% right: numpy full of padding and comparisons
def teacher_forcing(sentences, bos, eos, pad):
    T = 1 + max(len(s) for s in sentences)
    a = np.full((len(sentences), T), pad)
    b = a.copy()
    for zeile, satz in enumerate(sentences):
        a[zeile, : len(satz) + 1] = [bos, *satz]
        b[zeile, : len(satz) + 1] = [*satz, eos]
    return torch.from_numpy(a), torch.from_numpy(b)


def visible(length, masked, shift):
    i, j = torch.arange(length)[:, None], torch.arange(length)[None]
    return (j + shift <= i) if masked else (j + shift < length).expand(length, length)


def noise_loss(length, vocabulary, masked, shift):
    return float((~visible(length, masked, shift)).diagonal().double().mean()) * math.log(vocabulary)


# %% wrong: both have an end token
def teacher_forcing(sentences, bos, eos, pad):
    T = 2 + max(map(len, sentences))
    rows = torch.tensor([[bos, *s, eos] + [pad] * (T - 2 - len(s)) for s in sentences])
    return rows[:, :-1], rows[:, 1:]


# %% wrong: padded on the left | may be called: padded_on_the_left
def teacher_forcing(sentences, bos, eos, pad):
    T = max(map(len, sentences))
    return (
        torch.tensor([[pad] * (T - len(s)) + [bos, *s] for s in sentences]),
        torch.tensor([[pad] * (T - len(s)) + [*s, eos] for s in sentences]),
    )


# %% wrong: pads with nought
_right = teacher_forcing


def teacher_forcing(sentences, bos, eos, pad):
    return _right(sentences, bos, eos, 0)


# %% wrong: the shift is always one
_right = visible


def visible(length, masked, shift):
    return _right(length, masked, 1)


# %% wrong: slots in place of tokens | may be called: shift_ignored
def visible(length, masked, shift):
    return torch.ones(length, length, dtype=torch.bool).tril() if masked else torch.ones(length, length, dtype=torch.bool)


# %% wrong: bits | may be called: bits
def noise_loss(length, vocabulary, masked, shift):
    return float((~visible(length, masked, shift)).diagonal().double().mean()) * math.log2(vocabulary)


# %% wrong: all or nothing
def noise_loss(length, vocabulary, masked, shift):
    return math.log(vocabulary) if masked and shift else 0.0


# %% wrong: sums instead of a mean
def noise_loss(length, vocabulary, masked, shift):
    return float((~visible(length, masked, shift)).diagonal().double().sum()) * math.log(vocabulary)
