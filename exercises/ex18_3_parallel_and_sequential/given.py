"""Decoders of ex18-3: one with a mask or without, as a pass and as steps with the same numbers."""

import torch


def predict(table, places, last, masked=True, drift=0.0):
    """A function from ids [B, S], [B, T] to logits [B, T, V].

    One head of attention over the target, and the mean of the source. `drift` is a small number that a pass over T
    slots adds T times, as rounding would.
    """

    def run(source, target_in):
        length = target_in.size(1)
        x = table[target_in] + places[:length]
        scores = x @ x.transpose(1, 2) / x.size(-1) ** 0.5
        if masked:
            scores = scores.masked_fill(torch.ones(length, length).triu(1) > 0, float("-inf"))
        mixed = scores.softmax(-1) @ x + table[source].mean(1, keepdim=True)
        return torch.tanh(mixed) @ last + drift * length

    return run


def start(table):
    """The beginning: nothing read yet, and the mean of the source."""

    def run(source):
        return table[source].mean(1, keepdim=True), []

    return run


def step(table, places, last):
    """A function from ids [B] and a state to logits [B, V] and the next state; the old state stays as it was."""

    def run(token, state):
        memory, past = state
        x = (table[token] + places[len(past)])[:, None]
        past = [*past, x]
        keys = torch.cat(past, dim=1)
        weights = (x @ keys.transpose(1, 2) / x.size(-1) ** 0.5).softmax(-1)
        return torch.tanh(weights @ keys + memory)[:, 0] @ last, (memory, past)

    return run
