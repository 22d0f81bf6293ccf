"""Agreement of a unit's key with its value: does the token that the value promotes follow the key's contexts?"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from torch import Tensor

from annotated.analysis.feed_forward import Activity, value_logits
from annotated.model import Transformer


def value_agreement(model: Transformer, activity: Activity, follows: Tensor, counts: Sequence[int]) -> pd.DataFrame:
    """How often the token that a unit's value row promotes most is the one that followed in the unit's top contexts.

    Parameters
    ----------
    follows
        Id of the token that came next, at each of the N positions.
    counts
        How many of its strongest contexts each unit is asked about.

    Returns
    -------
    DataFrame
        Columns `layer` (from 1), `contexts`, `agreement`, and `chance`: the same with the contexts of the unit before.
    """
    rows = []
    for layer, hidden in enumerate(activity.hidden):
        promoted = value_logits(model, layer).argmax(-1)
        order = hidden.topk(max(counts), dim=0).indices
        for count in counts:
            nexts = follows[order[:count]]
            hit, swapped = nexts == promoted, nexts.roll(1, dims=1) == promoted
            rows.append((layer + 1, count, float(hit.float().mean()), float(swapped.float().mean())))
    return pd.DataFrame(rows, columns=["layer", "contexts", "agreement", "chance"])
