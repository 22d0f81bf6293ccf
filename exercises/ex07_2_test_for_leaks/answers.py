import torch


# %% right: the whole Jacobian
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x.double() if False else x)[0, :, :, 0]
    depends = (j != 0).any(dim=3).any(dim=1)
    return [(int(i), int(k)) for i, k in depends.triu(1).nonzero()]


# %% right: one output entry at a time
def leaks(decoder, x):
    x = x.detach().clone().requires_grad_(True)
    y = decoder(x)
    paare = set()
    for i in range(y.size(1)):
        for c in range(y.size(2)):
            y_ic = y[0, i, c]
            (g,) = torch.autograd.grad(y_ic, x, retain_graph=True)
            for j in range(i + 1, x.size(1)):
                if g[0, j].abs().sum() > 0:
                    paare.add((i, j))
    return sorted(paare, reverse=True)


# %% wrong: a tolerance
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, :, 0]
    return [tuple(p) for p in (j.abs().amax((1, 3)) > 1e-8).triu(1).nonzero().tolist()]


# %% wrong: the diagonal, too | may be called: own_position_counts
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, :, 0]
    return [tuple(p) for p in (j != 0).any(3).any(1).triu().nonzero().tolist()]


# %% wrong: reads the table by columns | may be called: pairs_turned_round
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, :, 0]
    return [(b, a) for a, b in (j != 0).any(3).any(1).triu(1).nonzero().tolist()]


# %% wrong: the past | may be called: past_reported
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, :, 0]
    return [tuple(p) for p in (j != 0).any(3).any(1).tril(-1).nonzero().tolist()]


# %% wrong: sums the output of a position
def leaks(decoder, x):
    x = x.clone().requires_grad_()
    y = decoder(x)
    found = []
    for i in range(y.size(1)):
        g = torch.autograd.grad(y[0, i].sum(), x, retain_graph=True)[0][0]
        found += [(i, j) for j in range(i + 1, y.size(1)) if g[j].abs().sum() != 0]
    return found


# %% wrong: changes an input in single precision
def leaks(decoder, x):
    y, found = decoder(x), []
    for j in range(x.size(1)):
        z = x.clone()
        z[0, j] += 1e-3
        changed = (decoder(z) - y).abs().amax(-1)[0] > 1e-7
        found += [(i, j) for i in range(j) if changed[i]]
    return found


# %% wrong: only the neighbour | may be called: only_the_next
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, :, 0]
    d = (j != 0).any(3).any(1)
    return [(i, i + 1) for i in range(len(d) - 1) if d[i, i + 1]]


# %% wrong: only the first feature
def leaks(decoder, x):
    j = torch.autograd.functional.jacobian(decoder, x)[0, :, 0, 0]
    return [tuple(p) for p in (j != 0).any(2).triu(1).nonzero().tolist()]
