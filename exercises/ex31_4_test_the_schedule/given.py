"""Schedules of ex31-4: the rates of a training's updates."""

import struct


def schedule(kind):
    """A function of the number of updates, of micro-batches per update, of d_model and of the warm-up."""

    def rate(k, d_model, warmup):
        return d_model**-0.5 * min(k**-0.5, k * warmup**-1.5)

    def run(updates, micro_batches, d_model, warmup):
        if not 0 < updates <= 2000:
            raise ValueError("ask for 1 to 2,000 updates")
        steps = range(1, updates + 1)
        if kind == "micro-batches":
            return [rate(k * micro_batches, d_model, warmup) for k in steps]
        if kind == "late":
            return [rate(max(k - 1, 1), d_model, warmup) for k in steps]
        if kind == "no decay":
            return [rate(min(k, warmup), d_model, warmup) for k in steps]
        if kind in ("twice", "half"):
            return [{"twice": 2, "half": 0.5}[kind] * rate(k, d_model, warmup) for k in steps]
        rates = [rate(k, d_model, warmup) for k in steps]
        if kind == "float32":
            return [struct.unpack("f", struct.pack("f", one))[0] for one in rates]
        return rates

    return run
