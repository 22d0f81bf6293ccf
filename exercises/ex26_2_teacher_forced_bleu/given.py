"""Models, and evaluations of them: honest ones, and ones that look at the reference."""

import torch


def model(table):
    """A function from a source and a prefix, lists of ids, to logits [V] of the next token.

    The next token follows from the last one and the source's token at that place; behind the source comes 2, the end.
    """

    def next_logits(source, prefix):
        place = len(prefix) - 1
        if place >= len(source):
            return torch.nn.functional.one_hot(torch.tensor(2), table.size(-1)).float() * 9
        return table[source[place], prefix[-1] % len(table)]

    return next_logits


def greedy(model, source, cap):
    """Greedy decoding: ids without 1 and 2."""
    prefix = [1]
    while len(prefix) <= cap and prefix[-1] != 2:
        prefix.append(int(model(source, prefix).argmax()))
    return [token for token in prefix[1:] if token != 2]


def forced(model, source, reference):
    """The best token after each prefix of the reference."""
    prefixes = [[1, *reference[:i]] for i in range(len(reference) + 1)]
    found = [int(model(source, prefix).argmax()) for prefix in prefixes]
    return found[: found.index(2)] if 2 in found else found


def runner():
    """A function that runs `translate(model, sources, cap)` on a model made of a table."""
    return lambda translate, table, sources, cap: translate(model(table), sources, cap)


def evaluation(kind):
    """A function `evaluate(model, sources, references)` that returns translations, of one of several kinds."""

    def evaluate(model, sources, references):
        if kind == "forced":
            return [forced(model, s, r) for s, r in zip(sources, references, strict=False)]
        if kind == "length":  # decodes, but stops where the reference does
            return [greedy(model, s, len(r)) for s, r in zip(sources, references, strict=False)]
        if kind == "first word":  # decodes from the reference's first word
            return [r[:1] + greedy(model, s, 20)[1:] for s, r in zip(sources, references, strict=False)]
        if kind == "one sentence":  # cheats on the last sentence only
            honest = [greedy(model, s, 20) for s in sources[:-1]]
            return honest + [forced(model, sources[-1], references[-1])]
        if kind == "number":  # counts the references, which is no secret
            return [greedy(model, s, 20) for s in sources[: len(references)]]
        return [greedy(model, s, 20) for s in sources]

    return evaluate


def spotter():
    """A function that asks `spots` about an evaluation of a model made of a table."""
    return lambda spots, kind, table, sources, references: spots(evaluation(kind), model(table), sources, references)
