"""Attention functions of ex31-1: right ones, written in several ways, and others with a wrong divisor."""


def attention(kind):
    """A function of q `[T, d_k]`, k `[S, d_k]` and v `[S, d_v]`."""

    def scores(q, k):
        d_k = q.size(-1)
        if kind == "query first":
            return (q / d_k**0.5) @ k.T
        if kind == "in float64":
            return (q.double() @ k.T.double() / d_k**0.5).float()
        return q @ k.T

    def run(q, k, v):
        d_k, found = q.size(-1), scores(q, k)
        divisor = {
            "none": 1.0,
            "d_k": d_k,
            "eight": 8.0,
            "root of d_v": v.size(-1) ** 0.5,
            "root of keys": k.size(0) ** 0.5,
            "root of queries": q.size(0) ** 0.5,
            "plain": d_k**0.5,
            "by hand": d_k**0.5,
        }.get(kind, 1.0)
        found = found / divisor
        if kind == "by hand":
            powers = (found - found.max()).exp()
            return powers @ v / powers.sum(-1, keepdim=True)
        return found.softmax(-1) @ v

    return run
