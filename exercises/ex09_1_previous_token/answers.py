import numpy as np
import torch


# %% right: loops over everything
def previous_token_scores(weights, lengths, causal=False):
    H = weights.size(1)
    got, even, rows = torch.zeros(H), torch.zeros(H), 0
    for b, n in enumerate(lengths.tolist()):
        for i in range(1, n):
            got += weights[b, :, i, i - 1]
            even += 1 / (i + 1 if causal else n)
            rows += 1
    return got / rows, even / rows


# %% right: diagonal and masks
def previous_token_scores(weights, lengths, causal=False):
    B, H, T, _ = weights.shape
    below = weights.diagonal(offset=-1, dim1=2, dim2=3)
    row = torch.arange(1, T)
    real = (row[None] < lengths[:, None]).to(weights.dtype)
    score = (below * real[:, None]).sum((0, 2)) / real.sum()
    keys = (row + 1).expand(B, -1) if causal else lengths[:, None].expand(-1, T - 1)
    return score, ((real / keys).sum() / real.sum()).expand(H)


# %% wrong: one vote for each sentence | may be called: mean_of_sentence_means
def previous_token_scores(weights, lengths, causal=False):
    got, even = [], []
    for b, n in enumerate(lengths.tolist()):
        if n > 1:
            got.append(weights[b].diagonal(-1, 1, 2)[:, : n - 1].mean(1))
            even.append(sum(1 / (i + 1 if causal else n) for i in range(1, n)) / (n - 1))
    return torch.stack(got).mean(0), torch.full((weights.size(1),), sum(even) / len(even))


# %% wrong: padded rows count | may be called: padded_rows_counted
def previous_token_scores(weights, lengths, causal=False):
    B, H, T, _ = weights.shape
    even = sum(1 / (i + 1 if causal else n) for n in lengths.tolist() for i in range(1, T)) / (B * (T - 1))
    return weights.diagonal(-1, 2, 3).mean((0, 2)), torch.full((H,), even)


# %% wrong: the token after | may be called: token_after
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    return _right(weights.transpose(2, 3), lengths, causal)


# %% wrong: causal is ignored | may be called: causal_forgotten
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    return _right(weights, lengths)


# %% wrong: an even spread over the padded length | may be called: one_over_t_everywhere
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    return _right(weights, lengths, causal)[0], torch.full((weights.size(1),), 1 / weights.size(-1))


# %% wrong: the first row counts as nothing
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    a, b = _right(weights, lengths, causal)
    f = (lengths.sum() - len(lengths)) / lengths.sum()
    return a * f, b * f


# %% wrong: causal spread without the token itself | may be called: itself_not_seen
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    a, b = _right(weights, lengths, causal)
    if causal:
        n = [1 / i for n in lengths.tolist() for i in range(1, n)]
        b = torch.full_like(b, sum(n) / len(n))
    return a, b


# %% wrong: one number for all heads
_right = previous_token_scores


def previous_token_scores(weights, lengths, causal=False):
    a, b = _right(weights, lengths, causal)
    return a.mean(), b.mean()
