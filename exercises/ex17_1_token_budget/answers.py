from itertools import count


# %% right: one pass with running maxima
def make_batches(source_lengths, target_lengths, budget):
    pairs = [(max(s, t), s, t, i) for i, (s, t) in enumerate(zip(source_lengths, target_lengths))]
    batches, ms, mt = [], 0, 0
    for longer, s, t, i in sorted(pairs):
        if longer > budget:
            raise ValueError(f"pair {i} has {longer} tokens")
        n = len(batches[-1]) + 1 if batches else 1
        if not batches or max(ms, s) * n > budget or max(mt, t) * n > budget:
            batches.append([])
            ms = mt = 0
        batches[-1].append(i)
        ms, mt = max(ms, s), max(mt, t)
    return batches


# %% right: recursion on prefixes
def make_batches(source_lengths, target_lengths, budget):
    paare = list(zip(source_lengths, target_lengths))
    folge = sorted(range(len(paare)), key=lambda i: (max(paare[i]), *paare[i], i))

    def passt(gruppe):
        return all(len(gruppe) * max(seite) <= budget for seite in zip(*(paare[i] for i in gruppe)))

    def teile(rest):
        if not rest:
            return []
        if not passt(rest[:1]):
            raise ValueError
        n = 1
        while n < len(rest) and passt(rest[: n + 1]):
            n += 1
        return [list(rest[:n]), *teile(rest[n:])]

    return teile(folge)


def _batches(s, t, budget, key=None, fits=None, refuse=True):
    order = sorted(range(len(s)), key=key or (lambda i: (max(s[i], t[i]), s[i], t[i], i)))
    fits = fits or (lambda g: len(g) * max(s[i] for i in g) <= budget and len(g) * max(t[i] for i in g) <= budget)
    out = []
    for i in order:
        if refuse and max(s[i], t[i]) > budget:
            raise ValueError(i)
        if out and fits(out[-1] + [i]):
            out[-1].append(i)
        else:
            out.append([i])
    return out


# %% wrong: real tokens without padding
def make_batches(s, t, budget):
    return _batches(s, t, budget, fits=lambda g: sum(s[i] for i in g) <= budget and sum(t[i] for i in g) <= budget)


# %% wrong: the source side only
def make_batches(s, t, budget):
    return _batches(s, t, budget, fits=lambda g: len(g) * max(s[i] for i in g) <= budget)


# %% wrong: both sides together
def make_batches(s, t, budget):
    return _batches(s, t, budget, fits=lambda g: len(g) * (max(s[i] for i in g) + max(t[i] for i in g)) <= budget)


# %% wrong: strictly below the budget
def make_batches(s, t, budget):
    return _batches(s, t, budget, fits=lambda g: len(g) * max(max(s[i], t[i]) for i in g) < budget)


# %% wrong: not sorted
def make_batches(s, t, budget):
    return _batches(s, t, budget, key=lambda i: i)


# %% wrong: sorted by the source
def make_batches(s, t, budget):
    return _batches(s, t, budget, key=lambda i: (s[i], t[i], i))


# %% wrong: a pair too long stands alone
def make_batches(s, t, budget):
    return _batches(s, t, budget, refuse=False)


# %% wrong: leaves out pairs that are too long
def make_batches(s, t, budget):
    keep = [i for i in range(len(s)) if max(s[i], t[i]) <= budget]
    return [[keep[j] for j in b] for b in _batches([s[i] for i in keep], [t[i] for i in keep], budget)]


# %% wrong: lengths in place of indices
def make_batches(s, t, budget):
    return [[s[i] for i in b] for b in _batches(s, t, budget)]


# %% wrong: ties by index only
def make_batches(s, t, budget):
    return _batches(s, t, budget, key=lambda i: max(s[i], t[i]))
