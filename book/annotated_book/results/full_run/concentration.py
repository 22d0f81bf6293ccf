"""Concentration of the recorded run's heads: entropy of the cross-attention over the updates, with BLEU below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annotated.runs.validation_callbacks import SentenceHeads
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.theme import BLUE, GREEN, ORANGE


def spread(weights: NDArray[Any]) -> NDArray[np.float64]:
    """How evenly each head spreads its weights: the mean entropy of its rows, 1 for equal weights and 0 for one key.

    Parameters
    ----------
    weights
        `[L, H, queries, keys]`, two keys or more, not negative. A row need not add up to 1; one of zeros counts as 0.

    Returns
    -------
    numpy.ndarray
        `[L, H]`, as a share of the largest entropy, the logarithm of the number of keys.
    """
    p = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-12)
    nats = -(p * np.log(np.where(p > 0, p, 1))).sum(-1)
    return np.asarray(nats.mean(-1) / np.log(p.shape[-1]))


def spreads(heads: Mapping[int, Sequence[SentenceHeads]]) -> pd.DataFrame:
    """`spread` of the cross-attention, the mean of the sentences: a row for each update, layer and head, from 1."""
    rows = []
    for update, sentences in heads.items():
        mean = np.mean([spread(one.cross) for one in sentences], axis=0)
        rows += [
            {"update": update, "layer": layer + 1, "head": head + 1, "spread": float(value)}
            for (layer, head), value in np.ndenumerate(mean)
        ]
    return pd.DataFrame(rows)


def concentration_chart(table: pd.DataFrame, bleu: Mapping[int, float], *, title: str) -> alt.VConcatChart:
    """Entropy of each head and of each layer's mean over the updates, and BLEU below; the legend shows one layer alone.

    Parameters
    ----------
    table
        From `spreads`.
    bleu
        By update.
    title
        What to see.
    """
    table = table.assign(layer="layer " + table["layer"].astype(str))
    names = sorted(table["layer"].unique())
    last = int(table["update"].max())
    x = x_axis("update:Q", domain=[0, last], nice=False)
    wide = alt.Axis(minExtent=40)
    bleu_table = pd.DataFrame({"update": list(bleu), "BLEU": list(bleu.values())})
    below = alt.Chart(bleu_table).mark_line(color=GREEN, strokeWidth=2, point={"color": GREEN, "size": 35})
    below = below.encode(
        x=x, y=alt.Y("BLEU:Q", title="BLEU", axis=wide), tooltip=["update:Q", alt.Tooltip("BLEU:Q", format=".1f")]
    )
    ends = table[table["update"] == last].groupby("layer")["spread"].mean()
    return titled(
        alt.vconcat(
            _entropies(table, names, x, wide),
            below.properties(width=300, height=90),
            spacing=8,
            title=title,
            usermeta={"fit": True},
        ),
        description="Entropy of the cross-attention over the updates, a thin line for each head and a thick one for "
        f"each layer's mean, and BLEU below. At update {last}: "
        + ", ".join(f"{name} {ends[name]:.2f}" for name in names)
        + ".",
    )


def _entropies(table: pd.DataFrame, names: Sequence[str], x: alt.X, axis: alt.Axis) -> alt.LayerChart:
    """A thin line for each head, a thick one with points for each layer's mean."""
    pick = alt.selection_point(name="layer", fields=["layer"], bind="legend")
    above = x.copy(deep=False)
    above.title, above.axis = None, alt.Axis(labels=False)
    looks = {
        "x": above,
        "y": y_axis("spread:Q", "entropy (1: even)", domain=[0, 1], axis=axis),
        "color": colour_by("layer:N", names, [BLUE, ORANGE], legend=alt.Legend()),
    }

    def seen(strong: float, faint: float) -> Any:
        return alt.condition(pick, alt.value(strong), alt.value(faint))

    heads = alt.Chart(table).mark_line(strokeWidth=1).encode(detail="head:N", opacity=seen(0.4, 0.05), **looks)
    means = alt.Chart(table.groupby(["update", "layer"], as_index=False)["spread"].mean()).encode(
        opacity=seen(1, 0.12), tooltip=["layer:N", "update:Q", alt.Tooltip("spread:Q", format=".2f", title="entropy")],
        **looks,
    )  # fmt: skip
    layers = line_layers(means, line={"strokeWidth": 2.8}, size=45, opacity=None)
    return alt.layer(heads, *layers).add_params(pick).properties(width=300, height=200)
