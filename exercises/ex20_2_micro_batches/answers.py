import torch


# %% right: chunks
def train(parameter, micro_batches, accumulate, d_model, warmup):
    w, rates = parameter.clone(), []
    for k, start in enumerate(range(0, len(micro_batches), accumulate), start=1):
        group = micro_batches[start : start + accumulate]
        r = rate(k, d_model, warmup)
        w = w - r * sum(g for g, _ in group) / sum(n for _, n in group)
        rates.append(r)
    return w, rates


# %% right: a generator and running totals
def gruppen(teile, n):
    summe, tokens, offen = 0, 0, 0
    for g, t in teile:
        summe, tokens, offen = summe + g, tokens + t, offen + 1
        if offen == n:
            yield summe / tokens
            summe, tokens, offen = 0, 0, 0
    if offen:
        yield summe / tokens


def train(parameter, micro_batches, accumulate, d_model, warmup):
    neu, raten = parameter.detach().clone(), []
    for gradient in gruppen(micro_batches, accumulate):
        raten.append(rate(len(raten) + 1, d_model, warmup))
        neu.sub_(raten[-1] * gradient)
    return [neu, raten]


# %% wrong: the mean of the means | may be called: mean_of_means
def train(parameter, micro_batches, accumulate, d_model, warmup):
    w, rates = parameter.clone(), []
    for k, start in enumerate(range(0, len(micro_batches), accumulate), start=1):
        group = micro_batches[start : start + accumulate]
        rates.append(rate(k, d_model, warmup))
        w = w - rates[-1] * sum(g / n for g, n in group) / len(group)
    return w, rates


# %% wrong: drops what is left over | may be called: drops_the_rest
_right = train


def train(parameter, micro_batches, accumulate, d_model, warmup):
    n = len(micro_batches) // accumulate * accumulate
    return _right(parameter, micro_batches[:n], accumulate, d_model, warmup)


# %% wrong: rates of micro-batches | may be called: rate_of_micro_batches
def train(parameter, micro_batches, accumulate, d_model, warmup):
    w, rates = parameter.clone(), []
    for start in range(0, len(micro_batches), accumulate):
        group = micro_batches[start : start + accumulate]
        rates.append(rate(start + len(group), d_model, warmup))
        w = w - rates[-1] * sum(g for g, _ in group) / sum(n for _, n in group)
    return w, rates


# %% wrong: adds the gradients into the first of them
def train(parameter, micro_batches, accumulate, d_model, warmup):
    w, rates = parameter.clone(), []
    for k, start in enumerate(range(0, len(micro_batches), accumulate), start=1):
        group = micro_batches[start : start + accumulate]
        total = group[0][0]
        for g, _ in group[1:]:
            total += g
        rates.append(rate(k, d_model, warmup))
        w = w - rates[-1] * total / sum(n for _, n in group)
    return w, rates
