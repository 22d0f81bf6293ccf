import torch


# %% right: one dimension for everything
def head(d_model):
    w_q, w_k = torch.zeros(d_model, 1), torch.zeros(d_model, 1)
    w_v = torch.zeros(d_model, 1)
    w_v[0] = 1
    w_o = torch.zeros(1, d_model)
    w_o[0, -2] = 1
    return w_q, w_k, w_v, w_o


def network(n, d_model):
    # a triangle over 1/(t+1): its tip at 1/(n+1), its feet at the neighbours
    s = torch.tensor
    tip = 1 / (n + 1)
    left, right = 1 / (n + 2), (1 / n if n else 2.0)
    w_1 = torch.zeros(d_model, 3)
    w_1[-2] = 1.0
    b_1 = -s([left, tip, right])
    up, down = 1 / (tip - left), 1 / (right - tip)
    w_2 = torch.zeros(3, d_model)
    w_2[:, -1] = s([up, -up - down, down])
    return w_1, b_1, w_2, torch.zeros(d_model)


def unmasked(t, length):
    return 1 / length


# %% right: full width, and large slopes
def head(d_model):
    null = torch.zeros(d_model, d_model)
    w_v, w_o = torch.eye(d_model), null.clone()
    w_o[0, d_model - 2] = 1.0
    return null, null, w_v, w_o


def network(n, d_model):
    ziel = 1 / (n + 1)
    steil = 4.0 * (n + 1) * (n + 2)
    w_1, w_2 = torch.zeros(d_model, 3), torch.zeros(3, d_model)
    w_1[-2] = torch.tensor([-steil, -0.0, steil])
    b_1 = torch.tensor([steil * ziel, 1.0, -steil * ziel])
    # one minus the distance, cut at zero by a second layer that is not there: so cut with three kinks
    w_1[-2] = steil
    b_1 = -steil * ziel + torch.tensor([1.0, 0.0, -1.0])
    w_2[:, -1] = torch.tensor([1.0, -2.0, 1.0])
    return w_1, b_1, w_2, torch.zeros(d_model)


def unmasked(t: int, length: int) -> float:
    return sum(1 / length for word in range(length) if word == 0)


# %% wrong: the value of every word
def head(d_model):
    z = torch.zeros(d_model, 1)
    w_o = torch.zeros(1, d_model)
    w_o[0, -2] = 1
    return z, z, torch.ones(d_model, 1), w_o


# %% wrong: into another dimension
def head(d_model):
    z = torch.zeros(d_model, 1)
    w_v, w_o = z.clone(), torch.zeros(1, d_model)
    w_v[0] = 1
    w_o[0, -1] = 1
    return z, z, w_v, w_o


# %% wrong: looks at the start only
def head(d_model):
    w_q, w_k = torch.ones(d_model, 1) * 100, torch.zeros(d_model, 1)
    w_k[0] = 1
    w_v, w_o = torch.zeros(d_model, 1), torch.zeros(1, d_model)
    w_v[0] = w_o[0, -2] = 1
    return w_q, w_k, w_v, w_o


# %% wrong: one from position n on
def network(n, d_model):
    tip, left = 1 / (n + 1), 1 / (n + 2)
    w_1, w_2 = torch.zeros(d_model, 2), torch.zeros(2, d_model)
    w_1[-2] = 1.0
    up = 1 / (tip - left)
    w_2[:, -1] = torch.tensor([up, -up])
    return w_1, -torch.tensor([left, tip]), w_2, torch.zeros(d_model)


# %% wrong: one position too late
_right = network


def network(n, d_model):
    return _right(n + 1, d_model)


# %% wrong: into the dimension of the head
_right = network


def network(n, d_model):
    w_1, b_1, w_2, b_2 = _right(n, d_model)
    return w_1, b_1, w_2.roll(-1, 1), b_2


# %% wrong: as with the mask
def unmasked(t, length):
    return 1 / (t + 1)


# %% wrong: nothing
def unmasked(t, length):
    return 0.0
