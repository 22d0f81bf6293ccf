import math


# %% right: entropies
def _h(p):
    return -p * math.log(p) if p > 0 else 0.0


def floor(vocabulary, eps):
    return _h(1 - eps) + (vocabulary - 1) * _h(eps / (vocabulary - 1))


def best_gap(vocabulary, eps):
    return math.log((1 - eps) * (vocabulary - 1) / eps)


def best_perplexity(vocabulary, eps):
    return math.exp(floor(vocabulary, eps))


def honest_perplexity(vocabulary, eps):
    return 1 / (1 - eps)


# %% right: sums over a whole distribution
def _ziel(V, eps):
    return [1 - eps] + [eps / (V - 1)] * (V - 1)


def floor(vocabulary, eps):
    return math.fsum(-p * math.log(p) for p in _ziel(vocabulary, eps) if p)


def best_gap(vocabulary, eps):
    p = _ziel(vocabulary, eps)
    return math.log(p[0]) - math.log(p[1])


def best_perplexity(vocabulary, eps):
    return math.prod(p**-p for p in _ziel(vocabulary, eps) if p)


def honest_perplexity(vocabulary, eps):
    return math.exp(-math.log1p(-eps))


# %% wrong: nought times a logarithm
def floor(vocabulary, eps):
    return -(1 - eps) * math.log(1 - eps) - eps * math.log(eps / (vocabulary - 1))


# %% wrong: shares with all | may be called: shared_by_all_tokens
def floor(vocabulary, eps):
    p, q = 1 - eps + eps / vocabulary, eps / vocabulary
    return -p * math.log(p) - ((vocabulary - 1) * q * math.log(q) if q else 0)


# %% wrong: the floor is nothing
def floor(vocabulary, eps):
    return 0.0


# %% wrong: the gap of the whole rest
def best_gap(vocabulary, eps):
    return math.log((1 - eps) / eps)


# %% wrong: bits | may be called: perplexity_to_base_two
def best_perplexity(vocabulary, eps):
    return 2 ** floor(vocabulary, eps)


# %% wrong: a perfect model has one
def honest_perplexity(vocabulary, eps):
    return 1.0
