import math


# %% right: sorted places
def length_penalty(length, alpha):
    return math.pow((5 + length) / 6, alpha)


def ranked(hypotheses, alpha):
    scores = [lp / length_penalty(len(t) + 1, alpha) for t, lp in hypotheses]
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


def turning_alpha(a, b):
    (ta, pa), (tb, pb) = a, b
    return math.log(pa / pb) / math.log((len(ta) + 6) / (len(tb) + 6))


# %% right: bisection in logarithms, selection sort
def length_penalty(length, alpha):
    return math.exp(alpha * (math.log(5 + length) - math.log(6)))


def ranked(hypotheses, alpha):
    rest, folge = list(enumerate(hypotheses)), []
    while rest:
        beste = max(rest, key=lambda p: p[1][1] / length_penalty(1 + len(p[1][0]), alpha))
        rest.remove(beste)
        folge.append(beste[0])
    return tuple(folge)


def turning_alpha(a, b):
    kurz, lang = sorted((a, b), key=lambda h: len(h[0]))
    diff = lambda x: math.log(-kurz[1]) - math.log(-lang[1]) - x * math.log((6 + len(kurz[0])) / (6 + len(lang[0])))
    u, o = -1e4, 1e4
    for _ in range(200):
        m = (u + o) / 2
        u, o = (m, o) if diff(m) < 0 else (u, m)
    return m


# %% wrong: the end token is not counted
def ranked(hypotheses, alpha):
    return sorted(range(len(hypotheses)), key=lambda i: -hypotheses[i][1] / length_penalty(len(hypotheses[i][0]), alpha))


# %% wrong: worst first
_right = ranked


def ranked(hypotheses, alpha):
    return _right(hypotheses, alpha)[::-1]


# %% wrong: divides by the length | may be called: length_to_the_alpha
def length_penalty(length, alpha):
    return length**alpha


# %% wrong: multiplies
def ranked(hypotheses, alpha):
    return sorted(range(len(hypotheses)), key=lambda i: -hypotheses[i][1] * length_penalty(len(hypotheses[i][0]) + 1, alpha))


# %% wrong: never below nought
_right = turning_alpha


def turning_alpha(a, b):
    return abs(_right(a, b))


# %% wrong: differences of log-probabilities | may be called: turn_by_difference
def turning_alpha(a, b):
    return (a[1] - b[1]) / math.log((len(a[0]) + 6) / (len(b[0]) + 6))
