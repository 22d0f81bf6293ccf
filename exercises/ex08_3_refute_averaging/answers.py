import torch


# %% right: one head for each neighbour
def average_loses():
    before = torch.eye(3).roll(1, 0)
    return torch.stack([before, before.T]), torch.ones(2, 1, 1), torch.eye(2)


def average_keeps():
    before = torch.eye(3).roll(1, 0)
    w_v = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    return torch.stack([before, before.T]), w_v, 2 * torch.eye(2)


width = 512

# %% right: lists written out, wider than needed
def average_loses():
    davor = [[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]
    danach = [[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]
    w_v = torch.ones(2, 1, 2)
    w_o = torch.tensor([[1.0, 0], [0, 0], [0, 0.5], [0, 0.5]])
    return torch.tensor([davor, danach]), w_v, w_o


def average_keeps():
    gewichte, _, _ = average_loses()
    w_v = torch.tensor([[[3.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]]])
    return gewichte, w_v, torch.tensor([[2 / 3, 0], [0, 0], [0, 1.0]])


width = 8 * 64

# %% wrong: the average forgets the factor two | may be called: forgot_to_double
def average_keeps():
    before = torch.eye(3).roll(1, 0)
    return torch.stack([before, before.T]), torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]]), torch.eye(2)


# %% wrong: both numbers the other way round | may be called: before_and_after_exchanged
def average_loses():
    before = torch.eye(3).roll(1, 0)
    return torch.stack([before.T, before]), torch.ones(2, 1, 1), torch.eye(2)


# %% wrong: heads that differ enough for their average | may be called: average_that_keeps_everything
def average_loses():
    before = torch.eye(3).roll(1, 0)
    w_v = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    return torch.stack([before, before.T]), w_v, torch.tensor([[1.0, 0], [0, 0], [0, 0], [0, 1]])


# %% wrong: rows that do not sum to one
def average_keeps():
    before = torch.eye(3).roll(1, 0)
    return 2 * torch.stack([before, before.T]), torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]]), torch.eye(2)


# %% wrong: two numbers for an average of one | may be called: average_of_narrow_heads
def average_keeps():
    before = torch.eye(3).roll(1, 0)
    return torch.stack([before, before.T]), torch.ones(2, 1, 1), torch.ones(1, 2)


# %% wrong: no width is enough
width = 0

# %% wrong: as wide as before
width = 64

# %% wrong: weights below zero
def average_loses():
    before = torch.eye(3).roll(1, 0)
    w = torch.stack([2 * before - torch.eye(3), before.T])
    return w, torch.ones(2, 1, 1), torch.eye(2)
