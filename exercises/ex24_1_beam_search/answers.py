import heapq

import torch


# %% right: lists of tuples
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    alive, finished = [((bos,), 0.0)], []
    for _ in range(cap):
        every = []
        for prefix, total in alive:
            every += [(total + value, prefix + (t,)) for t, value in enumerate(step(list(prefix)).tolist())]
        every.sort(key=lambda c: -c[0])
        best = every[: 2 * beam_size]
        finished += [(p, s) for s, p in best if p[-1] == eos]
        alive = [(p, s) for s, p in best if p[-1] != eos][:beam_size]
    score = lambda h: h[1] / ((5 + len(h[0]) - 1) / 6) ** alpha
    tokens, total = max(finished or alive, key=score)
    return [t for t in tokens[1:] if t != eos], total


# %% right: a heap, and classes
class Hypothese:
    def __init__(self, ids, summe):
        self.ids, self.summe = ids, summe

    def kinder(self, step):
        for t, w in enumerate(step(self.ids)):
            yield Hypothese(self.ids + [t], self.summe + float(w))

    def wert(self, alpha):
        return self.summe / ((4 + len(self.ids)) / 6) ** alpha


def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    lebend, fertig = [Hypothese([bos], 0.0)], []
    for _ in range(cap):
        kinder = (kind for h in lebend for kind in h.kinder(step))
        beste = heapq.nlargest(2 * beam_size, kinder, key=lambda h: h.summe)
        fertig.extend(h for h in beste if h.ids[-1] == eos)
        lebend = [h for h in beste if h.ids[-1] != eos][:beam_size]
    sieger = max(fertig if fertig else lebend, key=lambda h: h.wert(alpha))
    return sieger.ids[1 : -1 if sieger.ids[-1] == eos else None], sieger.summe


def _beam(step, k, cap, alpha, bos, eos, wide=2, count=lambda p: len(p) - 1, stop=False, keep=True, own=False):
    alive, finished = [((bos,), 0.0)], []
    for _ in range(cap):
        every = []
        for p, s in alive:
            row = step(list(p)).tolist()
            new = [(s + v, p + (t,)) for t, v in enumerate(row)]
            every += sorted(new, reverse=True)[:k] if own else new
        best = sorted(every, key=lambda c: -c[0])[: wide * k]
        finished += [(p, s) for s, p in best if p[-1] == eos]
        alive = [(p, s) for s, p in best if p[-1] != eos][:k]
        if stop and finished or not alive:
            break
    pool = (finished or alive) if keep else finished + alive
    p, s = max(pool, key=lambda h: h[1] / ((5 + count(h[0])) / 6) ** alpha)
    return [t for t in p[1:] if t != eos], s


# %% wrong: k instead of 2k
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, beam_size, cap, alpha, bos, eos, wide=1)


# %% wrong: stops at the first that is finished
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, beam_size, cap, alpha, bos, eos, stop=True)


# %% wrong: no penalty
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, beam_size, cap, 0.0, bos, eos)


# %% wrong: counts bos
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, beam_size, cap, alpha, bos, eos, count=len)


# %% wrong: alive ones may win
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, beam_size, cap, alpha, bos, eos, keep=False)


# %% wrong: greedy whatever the beam
def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _beam(step, 1, cap, alpha, bos, eos)


# %% wrong: returns the score
_right = beam_search


def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    tokens, s = _right(step, beam_size, cap, alpha, bos, eos)
    return tokens, s / ((6 + len(tokens)) / 6) ** alpha


# %% wrong: the end has always id 2
_right = beam_search


def beam_search(step, beam_size, cap, alpha=0.6, bos=1, eos=2):
    return _right(step, beam_size, cap, alpha, bos, 2)
