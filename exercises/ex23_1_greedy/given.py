"""A model made of tables: what to write next, by everything written so far."""

from torch import Tensor


def tables(logs: Tensor):
    """`step(prefix)`: log-probabilities `[V]` after a list of ids that begins with bos; `logs` is `[n, V]`.

    Every id of the prefix and its place count.
    """

    def step(prefix):
        return logs[sum((place + 1) * token for place, token in enumerate(prefix)) % len(logs)].clone()

    return step


def clock(logs: Tensor):
    """`step(prefix)`: log-probabilities that depend on how many tokens have been written; the last row stays."""

    def step(prefix):
        return logs[min(len(prefix) - 1, len(logs) - 1)].clone()

    return step


def tree(first: Tensor, second: Tensor, rest: Tensor):
    """`step(prefix)`: `first` `[V]`, then `second` `[V, V]` by the first token written, then `rest` `[V]`."""

    def step(prefix):
        return (first, second[prefix[1]] if len(prefix) > 1 else first, rest)[min(len(prefix) - 1, 2)].clone()

    return step
