from collections import Counter, defaultdict


# %% right: lists of pieces, one dictionary
def learn_merges(word_counts, count):
    words = {w: list(w) for w in word_counts}
    merges = []
    while len(merges) < count:
        pairs = defaultdict(int)
        for w, pieces in words.items():
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += word_counts[w]
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        if pairs[best] < 2:
            break
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
    return merges


# %% right: tuples and recursion
def verschmelze(stücke, paar):
    if len(stücke) < 2:
        return stücke
    if stücke[:2] == paar:
        return (paar[0] + paar[1],) + verschmelze(stücke[2:], paar)
    return stücke[:1] + verschmelze(stücke[1:], paar)


def learn_merges(word_counts, count):
    def weiter(wörter, n):
        if n == 0:
            return []
        zahl = Counter()
        for stücke, oft in wörter:
            for a, b in zip(stücke, stücke[1:]):
                zahl[a, b] += oft
        rang = sorted(zahl.items(), key=lambda kv: (-kv[1], kv[0]))
        if not rang or rang[0][1] < 2:
            return []
        paar = rang[0][0]
        return [paar] + weiter([(verschmelze(s, paar), o) for s, o in wörter], n - 1)

    return weiter([(tuple(w), o) for w, o in word_counts.items()], count)


def _learn(word_counts, count, weight=True, best=None, least=2, merge=verschmelze):
    words, merges = [(tuple(w), n) for w, n in word_counts.items()], []
    for _ in range(count):
        c = Counter()
        for p, n in words:
            for pair in zip(p, p[1:]):
                c[pair] += n if weight else 1
        if not c or max(c.values()) < least:
            break
        pair = best(c) if best else min(c, key=lambda x: (-c[x], x))
        merges.append(pair)
        words = [(merge(p, pair), n) for p, n in words]
    return merges


# %% wrong: each word once
def learn_merges(word_counts, count):
    return _learn(word_counts, count, weight=False)


# %% wrong: the first that was seen at a tie
def learn_merges(word_counts, count):
    return _learn(word_counts, count, best=lambda c: c.most_common(1)[0][0])


# %% wrong: the last tuple at a tie
def learn_merges(word_counts, count):
    return _learn(word_counts, count, best=lambda c: max(c, key=lambda x: (c[x], x)))


# %% wrong: goes on with pairs that occur once
def learn_merges(word_counts, count):
    return _learn(word_counts, count, least=1)


# %% wrong: merges only once in a word
def _once(p, pair):
    for i in range(len(p) - 1):
        if p[i : i + 2] == pair:
            return p[:i] + ("".join(pair),) + p[i + 2 :]
    return p


def learn_merges(word_counts, count):
    return _learn(word_counts, count, merge=_once)


# %% wrong: from right to left
def learn_merges(word_counts, count):
    def back(p, pair):
        return verschmelze(p[::-1], pair[::-1])[::-1] if pair[0] != pair[1] else verschmelze(p[::-1], pair)[::-1]

    def merge(p, pair):
        out, i = [], len(p)
        while i > 0:
            if i > 1 and p[i - 2 : i] == pair:
                out.append("".join(pair))
                i -= 2
            else:
                out.append(p[i - 1])
                i -= 1
        return tuple(out[::-1])

    return _learn(word_counts, count, merge=merge)


# %% wrong: returns joined pieces | may be called: merged_strings
_right = learn_merges


def learn_merges(word_counts, count):
    return ["".join(p) for p in _right(word_counts, count)]


# %% wrong: crosses the ends of words
def learn_merges(word_counts, count):
    return _learn({"".join(w * n for w, n in word_counts.items()): 1}, count)


# %% wrong: joins through text, so that a pair is found inside a piece
def learn_merges(word_counts, count):
    return _learn(word_counts, count, merge=lambda p, q: tuple(" ".join(p).replace(" ".join(q), "".join(q)).split(" ")))
