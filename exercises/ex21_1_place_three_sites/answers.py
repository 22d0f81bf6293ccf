import math

import torch


# %% right: where and a plain layer
def dropout(x, keep, p, training):
    return torch.where(keep, x / (1 - p), 0.0) if training else x


def embed(ids, table, positions, drop):
    return drop(table[ids] * math.sqrt(table.size(1)) + positions[: ids.size(1)])


def encoder_layer(x, attention, feed_forward, norm_1, norm_2, drop):
    x = norm_1(x + drop(attention(x)))
    return norm_2(x + drop(feed_forward(x)))


# %% right: masked_fill and a loop over both sub-layers
def dropout(x, keep, p, training):
    if not training:
        return x
    return x.masked_fill(~keep, 0) * (1 / (1 - p))


def embed(ids, table, positions, drop):
    B, S = ids.shape
    D = table.shape[-1]
    wörter = table.index_select(0, ids.flatten()).view(B, S, D)
    return drop(torch.add(positions[None, :S], wörter, alpha=D**0.5))


def encoder_layer(x, attention, feed_forward, norm_1, norm_2, drop):
    for schicht, norm in ((attention, norm_1), (feed_forward, norm_2)):
        x = norm(drop(schicht(x)) + x)
    return x


# %% wrong: not scaled | may be called: no_factor
def dropout(x, keep, p, training):
    return x * keep if training else x


# %% wrong: scaled at evaluation | may be called: factor_in_evaluation
def dropout(x, keep, p, training):
    return x * keep if training else x * (1 - p)


# %% wrong: divides by p
def dropout(x, keep, p, training):
    return x * keep / p if training else x


# %% wrong: always drops | may be called: still_drops_in_evaluation
def dropout(x, keep, p, training):
    return x * keep / (1 - p)


# %% wrong: words only | may be called: word_dropped_position_kept
def embed(ids, table, positions, drop):
    return drop(table[ids] * math.sqrt(table.size(1))) + positions[: ids.size(1)]


# %% wrong: both apart
def embed(ids, table, positions, drop):
    return drop(table[ids] * math.sqrt(table.size(1))) + drop(positions[: ids.size(1)])


# %% wrong: no factor | may be called: unscaled_embedding
def embed(ids, table, positions, drop):
    return drop(table[ids] + positions[: ids.size(1)])


# %% wrong: after the norm | may be called: after_the_norm
def encoder_layer(x, attention, feed_forward, norm_1, norm_2, drop):
    x = drop(norm_1(x + attention(x)))
    return drop(norm_2(x + feed_forward(x)))


# %% wrong: pre-norm | may be called: pre_norm
def encoder_layer(x, attention, feed_forward, norm_1, norm_2, drop):
    x = x + drop(attention(norm_1(x)))
    return x + drop(feed_forward(norm_2(x)))


# %% wrong: one norm twice
def encoder_layer(x, attention, feed_forward, norm_1, norm_2, drop):
    x = norm_1(x + drop(attention(x)))
    return norm_1(x + drop(feed_forward(x)))
