import torch


# %% right: a dictionary of functions
def residual(x, sublayer, norm, dropout, order):
    ways = {
        "post": lambda: norm(x + dropout(sublayer(x))),
        "pre": lambda: x + dropout(sublayer(norm(x))),
    }
    if order not in ways:
        raise ValueError(f"order is {order!r}, not post or pre")
    return ways[order]()


def agree(d):
    # x is normalised already, and so is x + x @ w, if w only turns x round: x -> -2x
    x = torch.ones(d)
    x[: d // 2] = -1
    if d % 2:
        x = torch.zeros(d)
        x[0], x[1] = 1.0, -1.0
        x = x * (d / 2) ** 0.5
    return x, -2 * torch.eye(d)


# %% right: match, and a matrix that does nothing to this vector
def residual(x, sublayer, norm, dropout, order):
    match order:
        case "post":
            return norm(x + dropout(sublayer(x)))
        case "pre":
            y = norm(x)
            y = dropout(sublayer(y))
            return x + y
        case andere:
            raise ValueError(andere)


def agree(d):
    x = torch.arange(d, dtype=torch.float64)
    x = (x - x.mean()) / x.var(correction=0).sqrt()
    return x.float(), torch.ones(d, d)


# %% wrong: everything else is pre | may be called: anything_else_is_pre
def residual(x, sublayer, norm, dropout, order):
    return norm(x + dropout(sublayer(x))) if order == "post" else x + dropout(sublayer(norm(x)))


# %% wrong: dropout on the sum | may be called: dropout_on_the_sum
def residual(x, sublayer, norm, dropout, order):
    if order == "post":
        return norm(dropout(x + sublayer(x)))
    if order == "pre":
        return dropout(x + sublayer(norm(x)))
    raise ValueError


# %% wrong: the normalised input is carried on | may be called: carries_the_normalised_x
def residual(x, sublayer, norm, dropout, order):
    if order == "post":
        return norm(x + dropout(sublayer(x)))
    if order == "pre":
        y = norm(x)
        return y + dropout(sublayer(y))
    raise ValueError


# %% wrong: adds in place
def residual(x, sublayer, norm, dropout, order):
    if order == "post":
        return norm(x.add_(dropout(sublayer(x))))
    if order == "pre":
        return x.add_(dropout(sublayer(norm(x))))
    raise ValueError


# %% wrong: exchanged | may be called: orders_exchanged
_right = residual


def residual(x, sublayer, norm, dropout, order):
    return _right(x, sublayer, norm, dropout, {"pre": "post", "post": "pre"}.get(order, order))


# %% wrong: normalises the sub-layer alone | may be called: norm_of_the_output_only
def residual(x, sublayer, norm, dropout, order):
    if order == "post":
        return x + dropout(norm(sublayer(x)))
    if order == "pre":
        return x + dropout(sublayer(norm(x)))
    raise ValueError


# %% wrong: dropout before the sub-layer | may be called: dropout_on_the_input
def residual(x, sublayer, norm, dropout, order):
    if order == "post":
        return norm(x + sublayer(dropout(x)))
    if order == "pre":
        return x + sublayer(dropout(norm(x)))
    raise ValueError


# %% wrong: gives back the error
def residual(x, sublayer, norm, dropout, order):
    if order not in ("pre", "post"):
        return ValueError(order)
    return _right0(x, sublayer, norm, dropout, order)


_right0 = lambda x, s, n, d, o: n(x + d(s(x))) if o == "post" else x + d(s(n(x)))


# %% wrong: a vector with another mean
def agree(d):
    return torch.ones(d), torch.ones(d, d)


# %% wrong: a matrix of zeros
def agree(d):
    x = torch.arange(float(d))
    return (x - x.mean()) / x.std(correction=0), torch.zeros(d, d)


# %% wrong: as long as one
def agree(d):
    x = torch.arange(float(d))
    x = x - x.mean()
    return x / x.norm(), torch.ones(d, d) - torch.eye(d)
