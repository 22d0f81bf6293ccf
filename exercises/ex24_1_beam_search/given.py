"""A model made of tables: what to write next, by everything written so far."""

import torch
from torch import Tensor


def tables(logs: Tensor):
    """`step(prefix)`: log-probabilities `[V]` after a list of ids that begins with bos; `logs` is `[n, V]`.

    Every id of the prefix and its place count. It answers after eos, too: with junk.
    """

    def step(prefix):
        return logs[sum((place + 1) * token for place, token in enumerate(prefix)) % len(logs)].clone()

    return step


def written(rows: dict, width: int, other: float, bos: int = 1):
    """`step(prefix)`: the probabilities written down for that prefix (bos left out), all others share what is left.

    `rows` maps '3 4' to a dictionary of token to probability; prefixes that are not in it take '...'.
    """

    def step(prefix):
        if prefix[0] != bos:
            raise ValueError(f"the prefix begins with {prefix[0]}, not with bos, {bos}")
        row = rows.get(" ".join(map(str, prefix[1:])), rows["..."])
        p = torch.full((width,), other)
        for token, value in row.items():
            p[int(token)] = value
        return p.log()

    return step
