# %% right: by the function
def padding(lengths, batches):
    cells = sum(len(b) * max(lengths[i] for i in b) for b in batches)
    real = sum(lengths[i] for b in batches for i in b)
    return cells - real, (cells - real) / cells


_drei = [range(0, 4), range(4, 8), range(8, 12)]
in_order = padding(LENGTHS, _drei)[0]
when_sorted = padding(sorted(LENGTHS), _drei)[0]
fixed = 72 * 12 - sum(LENGTHS)
work_ratio = 33 / 7

# %% right: numpy, and numbers on paper
import numpy as np


def padding(lengths, batches):
    leer = voll = 0
    for b in batches:
        l = np.array(lengths)[list(b)]
        leer += int((l.max() - l).sum())
        voll += int(l.max()) * len(l)
    return [leer, leer / voll]


in_order, when_sorted, fixed, work_ratio = 164, 52, 652, 4.714286

# %% wrong: share of the real tokens | may be called: share_of_real_tokens
def padding(lengths, batches):
    cells = sum(len(b) * max(lengths[i] for i in b) for b in batches)
    real = sum(lengths[i] for b in batches for i in b)
    return cells - real, (cells - real) / real


# %% wrong: the longest of all
def padding(lengths, batches):
    m = max(lengths)
    cells = sum(len(b) * m for b in batches)
    real = sum(lengths[i] for b in batches for i in b)
    return cells - real, (cells - real) / cells


# %% wrong: the mean of the shares | may be called: mean_of_shares
_right = padding


def padding(lengths, batches):
    return _right(lengths, batches)[0], sum(_right(lengths, [b])[1] for b in batches) / len(batches)


# %% wrong: all cells
def padding(lengths, batches):
    return sum(len(b) * max(lengths[i] for i in b) for b in batches), _right0(lengths, batches)


_right0 = lambda lengths, batches: 0.5

# %% wrong: cells in place of padding | may be called: fixed_counts_cells
fixed = 72 * 12

# %% wrong: the other way round
work_ratio = 7 / 33

# %% wrong: sentences with the next longest
when_sorted = 0
