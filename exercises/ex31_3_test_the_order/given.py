"""Layers of ex31-3: what is normalised, and where the residual connection passes."""

from torch.nn.functional import layer_norm


def layer(kind):
    """A function of x `[T, 8]` and of a sub-layer."""

    def norm(x, eps=1e-6):
        return layer_norm(x, x.shape[-1:], eps=eps)

    def run(x, sublayer):
        if kind == "by hand":
            x = x + sublayer(x)
            x = x - x.mean(-1, keepdim=True)
            return x / (x.square().mean(-1, keepdim=True) + 1e-5) ** 0.5
        if kind == "pre-norm":
            return x + sublayer(norm(x))
        if kind == "no residual":
            return norm(sublayer(x))
        if kind == "output alone":
            return x + norm(sublayer(x))
        if kind == "no norm":
            return x + sublayer(x)
        if kind == "both":
            return norm(x + sublayer(norm(x)))
        return norm(x + sublayer(x))

    return run
