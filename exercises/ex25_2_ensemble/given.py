"""Models of next tokens, from tables."""


def model(table):
    """A function from a prefix (ids, bos first) to log-probabilities [V]; it looks at the last two tokens."""
    return lambda prefix: table[prefix[-2] if len(prefix) > 1 else 0, prefix[-1]].log_softmax(0)


def models(tables):
    """A function that runs `write(models, cap)` on models made of tables [M, V, V, V]."""
    return lambda write, cap: write([model(table) for table in tables], cap)
