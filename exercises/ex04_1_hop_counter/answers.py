import torch


# %% right: Jacobian row by row in double precision
def hops(layers, n, d):
    torch.manual_seed(7)
    x0 = torch.randn(1, n, d, requires_grad=True)
    y = x0
    for count, layer in enumerate(layers, start=1):
        y = layer(y)
        for j in range(d):
            (g,) = torch.autograd.grad(y[0, -1, j], x0, retain_graph=True)
            if (g[0, 0] != 0).any():
                return count
    return None


# %% right: one random cotangent, from the start again for each depth
def hops(layers, n, d):
    def reaches(k):
        x = torch.randn(1, n, d).requires_grad_()
        y = x
        for schicht in layers[:k]:
            y = schicht(y)
        (y[0, n - 1] * torch.randn(d)).sum().backward()
        return bool(x.grad[0, 0].count_nonzero())

    return next((k for k in range(1, len(layers) + 1) if reaches(k)), None)


# %% wrong: sums the features
def hops(layers, n, d):
    x = torch.randn(1, n, d, requires_grad=True)
    y = x
    for i, f in enumerate(layers):
        y = f(y)
        (g,) = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)
        if g[0, 0].abs().max() > 1e-12:
            return i + 1


# %% wrong: counts from nought | may be called: counted_from_zero
def hops(layers, n, d):
    x = torch.randn(1, n, d, requires_grad=True)
    y = x
    for i, f in enumerate(layers):
        y = f(y)
        (g,) = torch.autograd.grad((y[0, -1] * torch.randn(d)).sum(), x, retain_graph=True)
        if (g[0, 0] != 0).any():
            return i


# %% wrong: changes an input and compares
def hops(layers, n, d):
    a = torch.randn(1, n, d)
    b = a.clone()
    b[0, 0] += 1
    for i, f in enumerate(layers):
        a, b = f(a), f(b)
        if not torch.allclose(a[0, -1], b[0, -1]):
            return i + 1


# %% wrong: asks each layer alone
def hops(layers, n, d):
    for i, f in enumerate(layers):
        x = torch.randn(1, n, d, requires_grad=True)
        (g,) = torch.autograd.grad((f(x)[0, -1] * torch.randn(d)).sum(), x)
        if (g[0, 0] != 0).any():
            return i + 1


# %% wrong: from the last input to the first output
def hops(layers, n, d):
    x = torch.randn(1, n, d, requires_grad=True)
    y = x
    for i, f in enumerate(layers):
        y = f(y)
        (g,) = torch.autograd.grad((y[0, 0] * torch.randn(d)).sum(), x, retain_graph=True)
        if (g[0, -1] != 0).any():
            return i + 1


# %% wrong: gives the number of layers if nothing arrives
def hops(layers, n, d):
    x = torch.randn(1, n, d, requires_grad=True)
    y = x
    for i, f in enumerate(layers):
        y = f(y)
        (g,) = torch.autograd.grad((y[0, -1] * torch.randn(d)).sum(), x, retain_graph=True)
        if (g[0, 0] != 0).any():
            return i + 1
    return len(layers)
