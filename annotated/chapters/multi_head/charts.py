"""Charts of many heads: what concatenated, averaged and single heads fetch, and what one head reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.parameters import menu
from annotated.viz.tables import array_table, curves_table, named_table
from annotated.viz.theme import BLUE, GREY, ORANGE

_RETRIEVAL = ("heads", "offset", "accuracy")
_SHARE = alt.Scale(domain=[0, 1])


def retrieval_chart(arms: Mapping[str, Mapping[str, Sequence[float]]], *, chance: float) -> alt.LayerChart:
    """The share of tokens fetched rightly by each way of joining heads, for all offsets or one of them.

    Parameters
    ----------
    arms
        By name, `by_offset`: the accuracy at each of the offsets 1, 2, ...
    chance
        Accuracy of a blind guess, drawn as a line.
    """
    for name, arm in arms.items():
        if not all(0 <= value <= 1 for value in arm["by_offset"]):
            raise ValueError(f"accuracies lie between 0 and 1; those of {name!r} do not: {list(arm['by_offset'])}")
    by_offset = curves_table({name: arm["by_offset"] for name, arm in arms.items()}, *_RETRIEVAL, start=1)
    over_all = by_offset.groupby("heads", sort=False, as_index=False)["accuracy"].mean().round(4).assign(offset="all")
    table = pd.concat([by_offset.astype({"offset": str}), over_all])
    choices = ["all", *table["offset"].unique()[:-1]]
    chosen = alt.Chart(table).transform_filter("datum.offset == offset")
    y = alt.Y("heads:N", sort=list(arms), title=None, axis=alt.Axis(labelLimit=130))
    room = alt.Scale(domain=[0, 1.25], nice=False)  # for the figures beside the bars
    percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    x = alt.X("accuracy:Q", scale=room, title="share of tokens named rightly", axis=percent)
    tooltip = ["heads:N", "offset:N", alt.Tooltip("accuracy:Q", format=".1%")]
    figures = chosen.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("accuracy:Q", format=".0%"))
    guess = alt.Chart(pd.DataFrame({"chance": [chance]})).mark_rule(color=ORANGE, strokeDash=[4, 3], strokeWidth=2)
    said = ", ".join(f"{row.heads} {row.accuracy:.0%}" for row in over_all.itertuples())
    return (
        alt.layer(
            chosen.mark_bar(color=BLUE, height=20).encode(x=x, y=y, tooltip=tooltip),
            figures,
            guess.encode(x=alt.X("chance:Q", scale=room)),
        )
        .add_params(menu("offset", choices))
        .properties(
            width="container",
            height=36 * len(arms),
            description="Bars of the share of tokens fetched rightly, a dashed line at blind guessing "
            f"({chance:.0%}), and a menu for the offset. Over all offsets: {said}.",
        )
    )


def head_count_chart(measured: Mapping[int, Sequence[float]], printed: Mapping[int, float]) -> alt.VConcatChart:
    """Accuracy against the number of heads at constant cost, above the BLEU of Table 3, rows (A).

    Parameters
    ----------
    measured
        Accuracies of several seeds, by number of heads.
    printed
        BLEU, by number of heads.
    """
    if not measured or not printed:
        raise ValueError("both the measured and the printed numbers are needed")
    domain = sorted({*measured, *printed})
    x = alt.X("h:O", scale=alt.Scale(domain=domain), axis=alt.Axis(labelAngle=0))
    seeds = alt.Chart(curves_table(measured, "h", "seed", "accuracy").drop(columns="seed").round({"accuracy": 4}))
    y = alt.Y("accuracy:Q", scale=_SHARE, title="rightly named", axis=alt.Axis(format="%", tickCount=5, minExtent=38))
    tip = [alt.Tooltip("h:O", title="heads"), alt.Tooltip("accuracy:Q", format=".1%")]
    line = seeds.mark_line(color=BLUE, strokeWidth=2).encode(
        x=x.title(None), y=alt.Y("mean(accuracy):Q", title="rightly named")
    )
    above = alt.layer(line, seeds.mark_circle(color=BLUE, size=45).encode(x=x.title(None), y=y, tooltip=tip))
    table = alt.Chart(named_table(printed, "h", "BLEU")).encode(
        x=x.title("heads h"),
        y=alt.Y("BLEU:Q", scale=alt.Scale(domain=[24.5, 26.1]), title="BLEU", axis=alt.Axis(tickCount=4, minExtent=38)),
    )
    below = alt.layer(
        table.mark_line(color=ORANGE, strokeDash=[5, 3], strokeWidth=2),
        table.mark_point(color=ORANGE, filled=True, shape="diamond", size=90, opacity=1),
        table.mark_text(dy=-12).encode(text=alt.Text("BLEU:Q", format=".1f")),
    )
    means = {h: float(np.mean(values)) for h, values in measured.items()}
    return alt.vconcat(
        above.properties(width=300, height=150, title="Four tokens to fetch, d_k = 32 / h"),
        below.properties(width=300, height=130, title="Table 3 (A), translation, d_k = 512 / h"),
        usermeta={"fit": True},
    ).properties(
        description="Two curves over the number of heads. Measured accuracy: "
        + ", ".join(f"{h} heads {value:.0%}" for h, value in means.items())
        + ". BLEU in the paper: "
        + ", ".join(f"{h} heads {bleu}" for h, bleu in printed.items())
        + ". Both rise and fall again."
    )


def reads_chart(kinds: Mapping[str, ArrayLike]) -> alt.LayerChart:
    """How strongly each head's output depends on each slice of the inputs, with a menu between networks.

    Parameters
    ----------
    kinds
        By name, `[H, H]`: heads on rows, slices of the input on columns; each is scaled to its largest entry.
    """
    tables = {}
    for name, matrix in kinds.items():
        array = np.asarray(matrix, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != array.shape[1] or array.min() < 0:
            raise ValueError(f"{name!r} must be [H, H] without negative entries, not {list(array.shape)}")
        heads, slices = ([f"{axis} {i + 1}" for i in range(len(array))] for axis in ("head", "slice"))
        tables[name] = array_table((array / array.max()).round(3), "strength", head=heads, slice=slices)
    base = (
        alt.Chart(pd.concat(tables, names=["network"]).reset_index("network"))
        .transform_filter("datum.network == network")
        .encode(
            x=alt.X("slice:N", title="slice of the input", axis=alt.Axis(labelAngle=0, orient="top")),
            y=alt.Y("head:N", title=None),
            tooltip=["network:N", "head:N", "slice:N", alt.Tooltip("strength:Q", format=".2f")],
        )
    )
    shade = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.85]), legend=None)
    return (
        alt.layer(
            base.mark_rect(fill=BLUE, stroke=GREY, strokeWidth=0.4).encode(opacity=shade),
            base.mark_text().encode(text=alt.Text("strength:Q", format=".2f")),
        )
        .add_params(menu("network", list(kinds)))
        .properties(
            width="container",
            height=150,
            description="How strongly each head reads each slice of the input, with a menu for the network. Each "
            "head of multi-head attention reads every slice; each head of the grouped network its own alone.",
        )
    )
