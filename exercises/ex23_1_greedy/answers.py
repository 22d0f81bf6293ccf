import math

import torch


# %% right: masked copy
def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    tokens, total = [bos], 0.0
    for _ in range(source_length + extra):
        logs = step(list(tokens)).clone()
        logs[[pad, bos, *forbidden]] = -math.inf
        t = int(logs.argmax())
        total += float(logs[t])
        if t == eos:
            return tokens[1:], total, True
        tokens.append(t)
    return tokens[1:], total, False


# %% right: plain Python, a set of what is not allowed
def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    nicht = {pad, bos} | set(forbidden)

    def weiter(geschrieben):
        werte = step([bos] + geschrieben).tolist()
        return max(((w, i) for i, w in enumerate(werte) if i not in nicht), key=lambda p: (p[0], -p[1]))

    text, summe, n = [], 0.0, 0
    while n < source_length + extra:
        wert, token = weiter(text)
        summe, n = summe + wert, n + 1
        if token == eos:
            return (text, summe, True)
        text.append(token)
    return (text, summe, False)


# %% wrong: the end does not count | may be called: eos_without_its_share
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    tokens, total, done = _right(step, source_length, extra, forbidden, pad, bos, eos)
    return tokens, total - (float(step([bos, *tokens])[eos]) if done else 0), done


# %% wrong: one symbol too many
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    return _right(step, source_length + 1, extra, forbidden, pad, bos, eos)


# %% wrong: the source does not matter
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    return _right(step, 0, extra, forbidden, pad, bos, eos)


# %% wrong: normalises what is allowed | may be called: share_given_away
def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    tokens, total = [bos], 0.0
    for _ in range(source_length + extra):
        logs = step(list(tokens)).clone()
        logs[[pad, bos, *forbidden]] = -math.inf
        logs = logs.log_softmax(-1)
        t = int(logs.argmax())
        total += float(logs[t])
        if t == eos:
            return tokens[1:], total, True
        tokens.append(t)
    return tokens[1:], total, False


# %% wrong: the end has always id 2
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    return _right(step, source_length, extra, forbidden, pad, bos, 2)


# %% wrong: ignores what is forbidden
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    return _right(step, source_length, extra, (), pad, bos, eos)


# %% wrong: keeps the end token | may be called: eos_in_the_result
_right = greedy


def greedy(step, source_length, extra=50, forbidden=(), pad=0, bos=1, eos=2):
    tokens, total, done = _right(step, source_length, extra, forbidden, pad, bos, eos)
    return tokens + [eos] * done, total, done
