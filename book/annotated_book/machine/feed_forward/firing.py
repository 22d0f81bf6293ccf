"""Positions at which hidden units are active: all of them by token, and how far the strongest few represent them."""

from __future__ import annotations

import pandas as pd
import torch

from annotated.analysis.feed_forward import Activity


def all_tokens(activity: Activity) -> list[str]:
    """The token at each of the N positions."""
    return [token for sentence in activity.tokens for token in sentence]


def firings(activity: Activity, layer: int, unit: int) -> pd.DataFrame:
    """Every position at which a unit is active, the strongest first: columns `token` and `activation`."""
    table = pd.DataFrame({"token": all_tokens(activity), "activation": activity.hidden[layer, :, unit].tolist()})
    return table[table["activation"] > 0].sort_values("activation", ascending=False, ignore_index=True)


def token_counts(activity: Activity, layer: int, unit: int) -> pd.DataFrame:
    """The active positions of a unit by token, the most frequent first.

    Columns `active` (positions), `occurrences` (of the token, in all sentences), `share` (of the active positions) and
    `weight` (share of the sum of all activations).
    """
    found = firings(activity, layer, unit)
    grouped = found.groupby("token", sort=False)["activation"]
    table = pd.DataFrame({"active": grouped.size(), "weight": grouped.sum() / found["activation"].sum()})
    table.insert(1, "occurrences", pd.Series(all_tokens(activity)).value_counts().reindex(table.index))
    table.insert(2, "share", table["active"] / len(found))
    return table.sort_values("active", ascending=False)


def agreeing_units(activity: Activity, top: int = 6) -> pd.DataFrame:
    """Units whose `top` strongest activations are all at one token, and how much of their activity is at it.

    Columns `layer` and `unit` (both from 1), `token`, `active` (positions), `share` (of the active positions that hold
    the token) and `weight` (its share of the sum of all activations).
    """
    tokens = all_tokens(activity)
    kinds = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    names, ids = list(kinds), torch.tensor([kinds[token] for token in tokens])
    rows = []
    for layer, hidden in enumerate(activity.hidden, 1):
        best = hidden.topk(top, dim=0)
        same = (ids[best.indices] == ids[best.indices[0]]).all(0) & (best.values[-1] > 0)
        for unit in same.nonzero()[:, 0].tolist():
            value, at = hidden[:, unit], ids == ids[best.indices[0, unit]]
            active = value > 0
            rows.append(
                {
                    "layer": layer,
                    "unit": unit + 1,
                    "token": names[int(ids[best.indices[0, unit]])],
                    "active": int(active.sum()),
                    "share": float((active & at).sum() / active.sum()),
                    "weight": float(value[at].sum() / value.sum()),
                }
            )
    return pd.DataFrame(rows)
