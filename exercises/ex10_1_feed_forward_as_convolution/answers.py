import torch
from torch.nn import functional as F
from torch.nn.functional import conv1d


# %% right: transposes around
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    y = conv1d(x.transpose(1, 2), w1.t().unsqueeze(2), b1)
    return conv1d(torch.relu(y), w2.t().unsqueeze(2), b2).transpose(1, 2)


def reach(i, length, width):
    return list(range(max(0, i - width + 1), min(length, i + width)))


# %% right: the position as the batch
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    B, S, D = x.shape
    z = x.reshape(B * S, D, 1)
    z = F.conv1d(z, w1.T[..., None]) + b1.view(1, -1, 1)
    z = z.clamp_min(0)
    z = F.conv1d(z, w2.T[..., None]) + b2.view(1, -1, 1)
    return z.view(B, S, D)


def reach(i, length, width):
    halb = width // 2
    schritt = lambda menge: {p + o for p in menge for o in range(-halb, halb + 1) if 0 <= p + o < length}
    return sorted(schritt(schritt({i})))


# %% wrong: axes as they come
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return conv1d(conv1d(x, w1[..., None], b1).relu(), w2[..., None], b2)


# %% wrong: no ReLU | may be called: without_relu
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return conv1d(conv1d(x.mT, w1.T[..., None], b1), w2.T[..., None], b2).mT


# %% wrong: a ReLU at the end, too
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return conv1d(conv1d(x.mT, w1.T[..., None], b1).relu(), w2.T[..., None], b2).relu().mT


# %% wrong: bias added on the wrong axis
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    y = (conv1d(x.mT, w1.T[..., None]) + b1).relu()
    return (conv1d(y, w2.T[..., None]) + b2).mT


# %% wrong: forgets the second bias
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return conv1d(conv1d(x.mT, w1.T[..., None], b1).relu(), w2.T[..., None]).mT


# %% wrong: a residual connection on top
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return x + conv1d(conv1d(x.mT, w1.T[..., None], b1).relu(), w2.T[..., None], b2).mT


# %% wrong: forgets to turn the result back | may be called: never_came_back
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    return conv1d(conv1d(x.mT, w1.T[..., None], b1).relu(), w2.T[..., None], b2)


# %% wrong: view in place of a transpose
def feed_forward_as_convolution(x, w1, b1, w2, b2):
    B, S, D = x.shape
    return conv1d(conv1d(x.reshape(B, D, S), w1.T[..., None], b1).relu(), w2.T[..., None], b2).mT


# %% wrong: one convolution | may be called: reach_of_one_kernel
def reach(i, length, width):
    return list(range(max(0, i - width // 2), min(length, i + width // 2 + 1)))


# %% wrong: runs over the edges
def reach(i, length, width):
    return list(range(i - width + 1, i + width))


# %% wrong: only the past | may be called: reach_looks_back_only
def reach(i, length, width):
    return list(range(max(0, i - width + 1), i + 1))


# %% wrong: the last one is lost
def reach(i, length, width):
    return list(range(max(0, i - width + 1), min(length, i + width - 1)))
