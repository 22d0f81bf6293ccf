"""Decoders of ex07-2, made to measure: which position reads which is decided by the grader."""

import torch


def decoder(mixes, maps, last):
    """A function from [1, T, D] to [1, T, D].

    Each layer mixes positions by a matrix `[T, T]` (row i reads column j) after each vector has gone through a matrix
    `[D, D]` and a tanh. `last` is a matrix `[D, D]` for the outputs.
    """

    def run(x):
        for mix, weight in zip(mixes, maps, strict=True):
            x = mix @ torch.tanh(x @ weight)
        return x @ last

    return run
