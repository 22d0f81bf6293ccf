import numpy as np
import torch


# %% right: numpy in a loop
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    g = gradients.numpy().astype(np.float64)
    w = m = v = np.zeros(g.shape[1])
    out = []
    for k in range(len(g)):
        m = beta1 * m + (1 - beta1) * g[k]
        v = beta2 * v + (1 - beta2) * g[k] ** 2
        w = w - rates[k] * (m / (1 - beta1 ** (k + 1))) / (np.sqrt(v / (1 - beta2 ** (k + 1))) + epsilon)
        out.append(w)
    return torch.tensor(np.stack(out))


def first_step(gradient, rate):
    return -rate * gradient.sign()


# %% right: weights of all gradients at once, without a loop
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    g, U = gradients.double(), len(gradients)
    k = torch.arange(U, dtype=torch.double)
    alter = (k[:, None] - k[None]).clamp(min=0)

    def mittel(b, x):
        w = ((1 - b) * b**alter).tril()
        return w @ x / (1 - b ** (k + 1))[:, None]

    schritt = mittel(beta1, g) / (mittel(beta2, g.square()).sqrt() + epsilon)
    return -(torch.tensor(rates).double()[:, None] * schritt).cumsum(0)


def first_step(gradient, rate):
    return torch.where(gradient > 0, -rate, rate)


def _adam(g, rates, b1, b2, e, one=True, two=True, inside=False, first=1):
    w, m, v, out = torch.zeros(g.size(1)), 0, 0, []
    for k, (x, r) in enumerate(zip(g, rates), start=first):
        m, v = b1 * m + (1 - b1) * x, b2 * v + (1 - b2) * x * x
        a = m / (1 - b1**k) if one else m
        b = v / (1 - b2**k) if two else v
        w = w - r * a / ((b + e).sqrt() if inside else b.sqrt() + e)
        out.append(w)
    return torch.stack(out)


# %% wrong: no correction
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    return _adam(gradients, rates, beta1, beta2, epsilon, False, False)


# %% wrong: epsilon under the root
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    return _adam(gradients, rates, beta1, beta2, epsilon, inside=True)


# %% wrong: counts from two
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    return _adam(gradients, rates, beta1, beta2, epsilon, first=2)


# %% wrong: betas are those of the paper
def adam(gradients, rates, beta1=0.9, beta2=0.98, epsilon=1e-9):
    return _adam(gradients, rates, 0.9, 0.98, epsilon)


# %% wrong: along the gradient | may be called: first_step_uphill
def first_step(gradient, rate):
    return rate * gradient.sign()


# %% wrong: as long as the gradient | may be called: first_step_keeps_the_size
def first_step(gradient, rate):
    return -rate * gradient
