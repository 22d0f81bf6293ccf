# %% right: sums by hand
from math import fsum, sqrt


def _mitte(werte):
    werte = list(werte)
    return fsum(werte) / len(werte)


def _quadrate(werte):
    werte = list(werte)
    m = _mitte(werte)
    return fsum((w - m) ** 2 for w in werte)


def pooled(losses):
    summe, frei = 0.0, 0
    for laeufe in losses.values():
        summe += _quadrate(laeufe.values())
        frei += len(laeufe) - 1
    return sqrt(summe / frei), frei


def interval(losses, row):
    s, frei = pooled(losses)
    d = _mitte(losses[row].values()) - _mitte(losses["base"].values())
    varianz = s * s / len(losses[row]) + s * s / len(losses["base"])
    weite = T[frei] * sqrt(varianz)
    return [d, d - weite, d + weite]


def _paare(losses, row):
    gemeinsam = set(losses["base"]) & set(losses[row])
    return [(losses["base"][k], losses[row][k]) for k in gemeinsam]


def paired_interval(losses, row):
    d = [y - x for x, y in _paare(losses, row)]
    n = len(d)
    weite = T[n - 1] * sqrt(_quadrate(d) / (n - 1) / n)
    return _mitte(d), _mitte(d) - weite, _mitte(d) + weite


def gain(losses, row):
    paare = _paare(losses, row)
    a, b = zip(*paare)
    return (_quadrate(a) + _quadrate(b)) / _quadrate([y - x for x, y in paare])


# %% right: numpy, and the covariance
import numpy as np


def pooled(losses):
    rows = [np.array(list(r.values())) for r in losses.values() if len(r) >= 2]
    residuals = np.concatenate([r - r.mean() for r in rows])
    freedom = len(residuals) - len(rows)
    return float(np.sqrt(residuals @ residuals / freedom)), freedom


def interval(losses, row):
    deviation, freedom = pooled(losses)
    x, y = (np.array(list(losses[name].values())) for name in ("base", row))
    gap = y.mean() - x.mean()
    reach = T[freedom] * deviation * np.hypot(len(x) ** -0.5, len(y) ** -0.5)
    return float(gap), float(gap - reach), float(gap + reach)


def paired_interval(losses, row):
    gaps = np.array([losses[row][s] - losses["base"][s] for s in sorted(losses[row]) if s in losses["base"]])
    reach = T[gaps.size - 1] * gaps.std(ddof=1) / gaps.size**0.5
    return tuple(float(x) for x in (gaps.mean(), gaps.mean() - reach, gaps.mean() + reach))


def gain(losses, row):
    seeds = [s for s in losses[row] if s in losses["base"]]
    c = np.cov([losses["base"][s] for s in seeds], [losses[row][s] for s in seeds])
    return float(np.trace(c) / (np.trace(c) - 2 * c[0, 1]))


# %% wrong: population variance | may be called: n_instead_of_n_minus_1
def pooled(losses):
    summe = sum(_quadrate(r.values()) for r in losses.values() if len(r) > 1)
    return sqrt(summe / sum(len(r) for r in losses.values() if len(r) > 1)), pooled_freedom(losses)


def pooled_freedom(losses):
    return sum(len(r) - 1 for r in losses.values())


# %% wrong: the two rows alone are pooled
_alle = pooled


def interval(losses, row):
    s, frei = _alle({"base": losses["base"], row: losses[row]})
    d = _mitte(losses[row].values()) - _mitte(losses["base"].values())
    weite = T[frei] * s * sqrt(1 / len(losses[row]) + 1 / len(losses["base"]))
    return d, d - weite, d + weite


# %% wrong: Welch's error
def interval(losses, row):
    _, frei = pooled(losses)
    d = _mitte(losses[row].values()) - _mitte(losses["base"].values())
    teile = [_quadrate(losses[r].values()) / (len(losses[r]) - 1) / len(losses[r]) for r in ("base", row)]
    weite = T[frei] * sqrt(sum(teile))
    return d, d - weite, d + weite


# %% wrong: two standard errors
def interval(losses, row):
    s, _ = pooled(losses)
    d = _mitte(losses[row].values()) - _mitte(losses["base"].values())
    weite = 2 * s * sqrt(1 / len(losses[row]) + 1 / len(losses["base"]))
    return d, d - weite, d + weite


# %% wrong: a run's spread | may be called: spread_of_a_run_for_that_of_a_mean
def interval(losses, row):
    s, frei = pooled(losses)
    d = _mitte(losses[row].values()) - _mitte(losses["base"].values())
    return d, d - T[frei] * s, d + T[frei] * s


# %% wrong: zip | may be called: pairs_by_place
def paired_interval(losses, row):
    d = [y - x for x, y in zip(losses["base"].values(), losses[row].values())]
    weite = T[len(d) - 1] * sqrt(_quadrate(d) / (len(d) - 1) / len(d))
    return _mitte(d), _mitte(d) - weite, _mitte(d) + weite


# %% wrong: the deviation of the differences, not of their mean
def paired_interval(losses, row):
    d = [y - x for x, y in _paare(losses, row)]
    weite = T[len(d) - 1] * sqrt(_quadrate(d) / (len(d) - 1))
    return _mitte(d), _mitte(d) - weite, _mitte(d) + weite


# %% wrong: a correlation
def gain(losses, row):
    a, b = zip(*_paare(losses, row))
    ab = fsum((x - _mitte(a)) * (y - _mitte(b)) for x, y in zip(a, b))
    return ab / sqrt(_quadrate(a) * _quadrate(b))
