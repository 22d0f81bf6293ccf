"""Runs the learner's attention with NaN in one key and one value."""

import math

import torch


def away_from_nan():
    """A function: the output of the queries `far` away from place `at`, whose key and value are NaN.

    A NaN that reaches them is returned as a billion, so that it can be told.
    """

    def run(attention, q, k, v, radius, at, far):
        k, v = k.clone(), v.clone()
        k[:, :, at], v[:, :, at] = math.nan, math.nan
        out = attention(q, k, v, radius)
        return torch.nan_to_num(out[:, :, far], nan=1e9)

    return run
