"""The decoder's cache, against lists that are moved by hand."""

from __future__ import annotations

import random

import pytest
import torch

from annotated.speed.layouts import AttentionCache


@pytest.mark.parametrize("with_gradient", [False, True])
def test_rows_keep_their_past_however_often_they_are_reordered(with_gradient):
    rng = random.Random(0)
    rows, limit = 6, 70  # more than one doubling of the reserved space
    cache = AttentionCache(rows, 2, 3, 4, limit, torch.zeros(()))
    expected: list[list[float]] = [[] for _ in range(rows)]
    for step in range(limit):
        new = [step + row / 10 for row in range(len(expected))]
        column = torch.tensor(new).view(-1, 1, 1).requires_grad_(with_gradient)
        keys, values = cache.append(column.expand(-1, 2, 3), -column.expand(-1, 2, 4))
        expected = [past + [one] for past, one in zip(expected, new, strict=True)]
        for row, past in enumerate(expected):
            assert torch.equal(keys[row, 1, :, 2], torch.tensor(past))
            assert torch.equal(values[row, 0, :, 3], -torch.tensor(past))
        parents = [rng.randrange(len(expected)) for _ in range(len(expected) - (step == 20))]  # once, a row leaves
        cache.take(torch.tensor(parents))
        expected = [expected[parent] for parent in parents]
    with pytest.raises(ValueError, match="70 positions"):
        cache.append(column.expand(-1, 2, 3), column.expand(-1, 2, 4))
