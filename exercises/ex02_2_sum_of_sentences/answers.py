import math


# %% right: closed forms
def ended_by(e, n):
    return -math.expm1((n + 1) * math.log1p(-e)) if e < 1 else 1.0


def longest_needed(e, rest):
    return next(n for n in range(10**6) if 1 - (1 - e) ** (n + 1) >= 1 - rest)


def next_distribution(prefix):
    t = len(prefix)
    end = 0.02 / 2**t if t <= 120 else 0.0
    return [1 - end, end]


# %% right: sums of a geometric series, ends fall like a square
def ended_by(e, n):
    return sum(e * (1 - e) ** k for k in range(n + 1))


def longest_needed(e, rest):
    alive, n = 1 - e, 0
    while alive > rest:
        alive *= 1 - e
        n += 1
    return n


def next_distribution(prefix):
    ende = 0.5 * 0.8 ** (len(prefix) + 3)
    return (1 - ende, ende)


# %% wrong: n words make n choices
def ended_by(e, n):
    return 1 - (1 - e) ** n


# %% wrong: exactly n words | may be called: exactly_n_words
def ended_by(e, n):
    return e * (1 - e) ** n


# %% wrong: one too many
def longest_needed(e, rest):
    return math.ceil(math.log(rest) / math.log(1 - e))


# %% wrong: never less than the whole
def next_distribution(prefix):
    return [0.9, 0.1]


# %% wrong: ends fall too slowly, like 1/t | may be called: falls_too_slowly
def next_distribution(prefix):
    e = 1 / (len(prefix) + 2)
    return [1 - e, e]


# %% wrong: the end first
def next_distribution(prefix):
    end = 0.02 / 2 ** len(prefix)
    return [end, 1 - end]


# %% wrong: no end after sixty words
def next_distribution(prefix):
    end = 0.02 / 2 ** len(prefix) if len(prefix) < 60 else 0.0
    return [1 - end, end]
