import math

import torch


# %% right: batch first with bmm
def summary(states, lengths):
    return states[lengths - 1, torch.arange(states.size(1))]


def attend(state, states, lengths):
    h = states.transpose(0, 1)
    e = torch.bmm(h, state.unsqueeze(2)).squeeze(2)
    e[torch.arange(h.size(1))[None, :] >= lengths[:, None]] = -math.inf
    a = e.softmax(1)
    return torch.bmm(a.unsqueeze(1), h).squeeze(1), a


# %% right: one sentence after another, lists
def summary(states, lengths):
    return torch.stack([states[int(n) - 1, b] for b, n in enumerate(lengths)])


def attend(state, states, lengths):
    S = states.shape[0]
    kontexte, gewichte = [], []
    for b, n in enumerate(lengths.tolist()):
        echte = states[:n, b]
        w = torch.softmax(echte @ state[b], dim=0)
        kontexte.append((w[:, None] * echte).sum(dim=0))
        gewichte.append(torch.cat([w, w.new_zeros(S - n)]))
    return torch.stack(kontexte), torch.stack(gewichte)


# %% wrong: the state at index length | may be called: one_step_too_far
def summary(states, lengths):
    return states[lengths.clamp(max=states.size(0) - 1), torch.arange(states.size(1))]


# %% wrong: the longest length for all
def summary(states, lengths):
    return states[int(lengths.max()) - 1]


# %% wrong: mean of the real states
def summary(states, lengths):
    return torch.stack([states[:n, b].mean(0) for b, n in enumerate(lengths.tolist())])


# %% wrong: divides by the root of the width | may be called: scores_divided
def attend(state, states, lengths):
    e = (states * state).sum(-1) / math.sqrt(state.size(-1))
    e = e.masked_fill(torch.arange(len(states))[:, None] >= lengths, -math.inf)
    a = e.softmax(0)
    return (a[..., None] * states).sum(0), a.T


# %% wrong: weights not turned | may be called: weights_not_turned
def attend(state, states, lengths):
    e = (states * state).sum(-1)
    e = e.masked_fill(torch.arange(len(states))[:, None] >= lengths, -math.inf)
    a = e.softmax(0)
    return (a[..., None] * states).sum(0), a


# %% wrong: one position of padding is read | may be called: one_position_too_many
def attend(state, states, lengths):
    e = (states * state).sum(-1)
    e = e.masked_fill(torch.arange(len(states))[:, None] > lengths, -math.inf)
    a = e.softmax(0)
    return (a[..., None] * states).sum(0), a.T


# %% wrong: scores of padding are zero | may be called: zero_fill
def attend(state, states, lengths):
    e = (states * state).sum(-1)
    e = e.masked_fill(torch.arange(len(states))[:, None] >= lengths, 0.0)
    a = e.softmax(0)
    return (a[..., None] * states).sum(0), a.T
