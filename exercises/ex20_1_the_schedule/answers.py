import math


# %% right: two branches and a comprehension
def rate(update, d_model=512, warmup=4000):
    if update < 1:
        raise ValueError("updates are counted from 1")
    learning = update / warmup if update < warmup else math.sqrt(warmup / update)
    return learning / math.sqrt(d_model * warmup)


def peak(d_model, warmup):
    return warmup, 1 / math.sqrt(d_model * warmup)


def first_rates(count, d_model, warmup):
    return [rate(k + 1, d_model, warmup) for k in range(count)]


# %% right: logarithms, and a search for the peak
def rate(update, d_model=512, warmup=4000):
    if not update >= 1:
        raise ValueError(update)
    steigend, fallend = math.log(update) - 1.5 * math.log(warmup), -0.5 * math.log(update)
    return math.exp(-0.5 * math.log(d_model) + min(steigend, fallend))


def peak(d_model, warmup):
    best = max(range(1, 2 * warmup + 1), key=lambda k: (rate(k, d_model, warmup), -abs(k - warmup)))
    return [best, rate(best, d_model, warmup)]


def first_rates(count, d_model, warmup):
    raten = []
    while len(raten) < count:
        raten += [rate(len(raten) + 1, d_model, warmup)]
    return raten


# %% wrong: the larger of both | may be called: the_larger_branch
def rate(update, d_model=512, warmup=4000):
    if update < 1:
        raise ValueError
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


# %% wrong: a linear decay over 96,000 updates
def rate(update, d_model=512, warmup=4000):
    if update < 1:
        raise ValueError
    top = (d_model * warmup) ** -0.5
    return top * (update / warmup if update <= warmup else max(0, 1 - (update - warmup) / 96000))


# %% wrong: no refusal of nought | may be called: zero_is_allowed
def rate(update, d_model=512, warmup=4000):
    update = max(update, 1)
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


# %% wrong: times the root of the width
def rate(update, d_model=512, warmup=4000):
    if update < 1:
        raise ValueError
    return d_model**0.5 * min(update**-0.5, update * warmup**-1.5)


# %% wrong: warm-up is always 4,000
_right = rate


def rate(update, d_model=512, warmup=4000):
    return _right(update, d_model)


# %% wrong: rates from nought
def first_rates(count, d_model, warmup):
    return [0.0] + [rate(k, d_model, warmup) for k in range(1, count)]


# %% wrong: one rate too few
def first_rates(count, d_model, warmup):
    return [rate(k, d_model, warmup) for k in range(1, count)]
