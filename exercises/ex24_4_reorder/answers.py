import torch


# %% right: flat rows
def advance(state, parents, tokens, log_probability):
    B, k = parents.shape
    rows = (parents + k * torch.arange(B)[:, None]).reshape(-1)
    new = tokens.reshape(-1)
    return {
        "tokens": torch.cat([state["tokens"].index_select(0, rows), new[:, None]], 1),
        "log_probability": log_probability.reshape(-1).clone(),
        "finished": state["finished"][rows].logical_or(new == 2),
        "keys": [x[rows] for x in state["keys"]],
        "values": [x[rows] for x in state["values"]],
        "memory": state["memory"],
    }


# %% right: nested loops over sentences
def advance(state, parents, tokens, log_probability):
    k = parents.size(1)
    von = [b * k + p for b, zeile in enumerate(parents.tolist()) for p in zeile]
    neu = {name: wert for name, wert in state.items()}
    neu["tokens"] = torch.stack([torch.cat([state["tokens"][r], t.view(1)]) for r, t in zip(von, tokens.flatten())])
    neu["finished"] = torch.tensor([bool(state["finished"][r]) or int(t) == 2 for r, t in zip(von, tokens.flatten())])
    neu["log_probability"] = log_probability.flatten()
    for name in ("keys", "values"):
        neu[name] = [torch.stack([schicht[r] for r in von]) for schicht in state[name]]
    return neu


def _advance(state, parents, tokens, lp, rows=None, finished=None, cache=None):
    k = parents.size(1)
    right = (parents + k * torch.arange(len(parents))[:, None]).flatten()
    rows = right if rows is None else rows
    cache = rows if cache is None else cache
    return {
        **state,
        "tokens": torch.cat([state["tokens"][rows], tokens.flatten()[:, None]], 1),
        "log_probability": lp.flatten(),
        "finished": state["finished"][rows if finished is None else finished] | (tokens.flatten() == 2),
        "keys": [x[cache] for x in state["keys"]],
        "values": [x[cache] for x in state["values"]],
    }


# %% wrong: caches stay where they are
def advance(state, parents, tokens, log_probability):
    return _advance(state, parents, tokens, log_probability, cache=torch.arange(parents.numel()))


# %% wrong: rows of the first sentence
def advance(state, parents, tokens, log_probability):
    return _advance(state, parents, tokens, log_probability, rows=parents.flatten())


# %% wrong: finished is not moved
def advance(state, parents, tokens, log_probability):
    return _advance(state, parents, tokens, log_probability, finished=torch.arange(parents.numel()))


# %% wrong: an offset out of range
def advance(state, parents, tokens, log_probability):
    k = parents.size(1)
    return _advance(state, parents, tokens, log_probability, rows=(parents + k * torch.arange(1, len(parents) + 1)[:, None]).flatten())


# %% wrong: memory is moved
def advance(state, parents, tokens, log_probability):
    out = _advance(state, parents, tokens, log_probability)
    return {**out, "memory": state["memory"].repeat_interleave(parents.size(1), 0)}


# %% wrong: finished only now
def advance(state, parents, tokens, log_probability):
    return {**_advance(state, parents, tokens, log_probability), "finished": tokens.flatten() == 2}
