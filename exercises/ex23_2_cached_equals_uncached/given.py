"""Continues one state twice, where the answer runs."""


def twice():
    """`run(start, step, tokens, other, memory, w)`: the last logits of both, from one state before the last token."""

    def run(start, step, tokens, other, memory, w):
        state = start(memory, w)
        for t in range(tokens.size(1) - 1):
            _, state = step(tokens[:, t], state, w)
        return [step(ids[:, -1], state, w)[0] for ids in (tokens, other)]

    return run
