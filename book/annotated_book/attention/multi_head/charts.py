"""Charts of many heads: what concatenated, averaged and single heads retrieve, and what one head reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.caption import captioned
from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.forms import labelled_cells, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.tables import array_table, curves_table, named_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE
from annotated_book.viz.titles import title_of

_SHARE = alt.Scale(domain=[0, 1])
_RETRIEVAL = ("heads", "offset", "accuracy")
READ_BY = {"linear": "one matrix", "hidden": "a hidden layer"}
_COLOURS = {"linear": BLUE, "hidden": GREEN}


def retrieval_chart(
    results: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], *, chance: float
) -> alt.VConcatChart:
    """The share of words named by each way of joining heads, a panel for each read-out, for all offsets or one.

    Parameters
    ----------
    results
        For each read-out, by name, the arms, each with `by_offset`: its accuracy at the offsets 1, 2, ...
    chance
        Accuracy of a blind guess, drawn as a line.
    """
    table = pd.concat([_by_offset(arms).assign(read=read) for read, arms in results.items()])
    choices = ["all", *(one for one in table["offset"].unique() if one != "all")]
    room = alt.Scale(domain=[0, 1.25], nice=False)  # for the figures beside the bars
    x = x_axis("accuracy:Q", "words named correctly (%)", scale=room, format="%", values=[0, 0.25, 0.5, 0.75, 1])
    y = y_axis("heads:N", None, sort=list(table["heads"].unique()), labelLimit=130, minExtent=110)
    tooltip = ["heads:N", "offset:N", alt.Tooltip("accuracy:Q", format=".1%")]
    guess = alt.Chart(pd.DataFrame({"chance": [chance], "name": [f"guessing {chance:.0%}"]}))
    across = alt.X("chance:Q", scale=room, title="words named correctly (%)")
    panels = []
    for read in results:
        shown = alt.Chart(table[table["read"] == read]).transform_filter("datum.offset == offset")
        layers = (
            shown.mark_bar(color=_COLOURS[read], height=16).encode(x=x, y=y, tooltip=tooltip),
            shown.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("accuracy:Q", format=".0%")),
            guess.mark_rule(color=ORANGE, strokeDash=[4, 3], strokeWidth=2).encode(
                x=across, tooltip=alt.Tooltip("name:N", title="dashed line")
            ),
        )
        panels.append(alt.layer(*layers).properties(width=300, height=112, title=f"Read by {READ_BY[read]}"))
    said = "; ".join(
        f"read by {READ_BY[row.read]}, {row.heads} {row.accuracy:.0%}"
        for row in table[table["offset"] == "all"].itertuples()
    )
    titles = {one: _retrieval_title(table[table["offset"] == one], one) for one in choices}
    return titled(
        alt.vconcat(*panels, usermeta={"fit": True}),
        menu("offset", choices, label="places back"),
        title=alt.Title(title_of("offset", titles), anchor="start"),
        description=f"Two panels of bars: the share of words named correctly, read by one matrix and read by a hidden "
        f"layer; a dashed line at guessing ({chance:.0%}); a menu for the offset. Over all offsets: {said}.",
        caption="Four ways to attend on the retrieval task, the mean of five seeds. The dashed line is a blind guess. "
        "The menu chooses how many places back the word is.",
    )


def _by_offset(arms: Mapping[str, Mapping[str, Sequence[float]]]) -> pd.DataFrame:
    """The accuracies of some arms at each offset, and their mean under the offset 'all'."""
    for name, arm in arms.items():
        if not all(0 <= value <= 1 for value in arm["by_offset"]):
            raise ValueError(f"accuracies lie between 0 and 1; those of {name!r} do not: {list(arm['by_offset'])}")
    found = curves_table({name: arm["by_offset"] for name, arm in arms.items()}, *_RETRIEVAL, start=1)
    over_all = found.groupby("heads", sort=False, as_index=False)["accuracy"].mean().round(4).assign(offset="all")
    return pd.concat([found.astype({"offset": str}), over_all])


def _retrieval_title(shown: pd.DataFrame, offset: str) -> str:
    """What the last arm gets by each read-out, at one offset or at all."""
    where = "All four places" if offset == "all" else f"{offset} place{'s' * (offset != '1')} back"
    read = [f"{group['accuracy'].iloc[-1]:.0%} by {READ_BY[read]}" for read, group in shown.groupby("read", sort=False)]
    return f"{where}, {shown['heads'].iloc[-1]}: {', '.join(read)}"


def one_head_chart(results: Mapping[str, Sequence[Sequence[float]]]) -> alt.VConcatChart:
    """Mean weight that a single trained head puts on the word so many places back, a panel for each read-out.

    Parameters
    ----------
    results
        For each read-out and each seed, the weight at distance 0, 1, 2, ...
    """
    panels, said = [], []
    for read, weights in results.items():
        table = curves_table(dict(enumerate(weights)), "seed", "back", "weight")
        x = x_axis("back:O", "places back (0: the word itself)", labelAngle=0)
        y = y_axis("weight:Q", "mean weight", domain=[0, 0.6], tickCount=3, format="%", minExtent=38)
        base = alt.Chart(table).encode(x=x)
        layers = (
            base.mark_bar(color=_COLOURS[read], opacity=0.45).encode(y=alt.Y("mean(weight):Q", title="mean weight")),
            base.mark_circle(color=_COLOURS[read], size=45, opacity=0.9).encode(
                y=y, tooltip=["seed:N", "back:O", alt.Tooltip("weight:Q", format=".1%")]
            ),
        )
        panels.append(alt.layer(*layers).properties(width=300, height=110, title=f"Read by {READ_BY[read]}"))
        means = table.groupby("back")["weight"].mean()
        said.append(f"read by {READ_BY[read]}: " + ", ".join(f"{back} back {w:.0%}" for back, w in means.items()))
    return titled(
        alt.vconcat(*panels, usermeta={"fit": True}),
        title=alt.Title(["One head gives the four places", "four different weights"], anchor="start"),
        description=f"Two panels: the mean weight of the single head by distance. {'; '.join(said)}.",
        caption="Mean attention weight of the trained single head at each distance. A dot is one of five seeds.",
    )


def head_count_chart(
    measured: Mapping[str, Mapping[int, Sequence[float]]], printed: Mapping[int, float]
) -> alt.VConcatChart:
    """Accuracy against the number of heads at constant cost, above the BLEU of Table 3, rows (A).

    Parameters
    ----------
    measured
        For each read-out, accuracies of several seeds, by number of heads.
    printed
        BLEU, by number of heads.
    """
    if not measured or not printed or not all(measured.values()):
        raise ValueError("both the measured and the printed numbers are needed")
    domain = sorted({*printed, *(h for curve in measured.values() for h in curve)})
    x = x_axis("h:O", domain=domain, labelAngle=0)
    y = y_axis("accuracy:Q", "named correctly", scale=_SHARE, format="%", tickCount=5, minExtent=38)
    tip = [alt.Tooltip("h:O", title="heads"), alt.Tooltip("accuracy:Q", format=".1%")]
    curves, said = [], []
    for read, curve in measured.items():
        table = curves_table(curve, "h", "seed", "accuracy").drop(columns="seed").round({"accuracy": 4})
        seeds = alt.Chart(table)
        at = sorted(curve)[len(curve) // 2] if read == "hidden" else min(curve)  # where no other line is near
        name = named_table({at: float(np.mean(curve[at]))}, "h", "accuracy")
        label = alt.Chart(name.assign(name=READ_BY[read])).mark_text(
            align="left",
            dx=-30 if read == "hidden" else 10,
            dy=16 if read == "hidden" else 6,
            color=_COLOURS[read],
            fontWeight=600,
        )
        curves += [
            seeds.mark_line(color=_COLOURS[read], strokeWidth=2).encode(
                x=x.title(None), y=alt.Y("mean(accuracy):Q", title="named correctly")
            ),
            seeds.mark_circle(color=_COLOURS[read], size=45).encode(x=x.title(None), y=y, tooltip=tip),
            label.encode(x=x.title(None), y=y, text="name:N"),
        ]
        means = ", ".join(f"{h} heads {float(np.mean(values)):.0%}" for h, values in curve.items())
        said.append(f"read by {READ_BY[read]}: {means}")
    table = alt.Chart(named_table(printed, "h", "BLEU")).encode(
        x=x.title("heads h"), y=y_axis("BLEU:Q", "BLEU", domain=[24.5, 26.1], tickCount=4, minExtent=38)
    )
    below = alt.layer(
        table.mark_line(color=ORANGE, strokeDash=[5, 3], strokeWidth=2),
        table.mark_point(color=ORANGE, filled=True, shape="diamond", size=90, opacity=1),
        table.mark_text(dy=-12).encode(text=alt.Text("BLEU:Q", format=".1f")),
    )
    chart = titled(
        alt.vconcat(
            alt.layer(*curves).properties(width=300, height=150, title="Retrieval, heads of width 32 / h"),
            below.properties(width=300, height=130, title="Translation, Table 3 (A), heads of width 512 / h"),
            usermeta={"fit": True},
        ),
        description=f"Above, accuracy over the number of heads, {'; '.join(said)}. Below, BLEU in the paper: "
        + ", ".join(f"{h} heads {bleu}" for h, bleu in printed.items())
        + ". All curves rise and fall again.",
    )
    return captioned(chart, "Above, three seeds each and their mean, in a model of width 32. Below, the paper's BLEU.")


def reads_chart(kinds: Mapping[str, ArrayLike]) -> alt.ConcatChart:
    """How strongly each head's output depends on each slice of the input, a square for each network.

    Parameters
    ----------
    kinds
        By name, `[H, H]`: heads on rows, slices of the input on columns; each is scaled to its largest entry.
    """
    squares = [_square(name, matrix) for name, matrix in kinds.items()]
    chart = titled(
        alt.concat(*squares, columns=1, usermeta={"columns": 2}),
        title=alt.Title(
            ["Every head reads every quarter of the input;", "cut into groups, a head reads one"], anchor="start"
        ),
        description="How strongly each head reads each slice of the input, a square for each network. Each head of "
        "multi-head attention reads every slice; each head of the grouped network its own alone.",
    )
    return captioned(chart, "Size of the derivatives of each head's output by each quarter of the input; largest = 1.")


def _square(name: str, matrix: ArrayLike) -> alt.LayerChart:
    """One network of `reads_chart`."""
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.min() < 0:
        raise ValueError(f"{name!r} must be [H, H] without negative entries, not {list(array.shape)}")
    heads = [f"head {i + 1}" for i in range(len(array))]
    quarters = [str(i + 1) for i in range(len(array))]
    table = array_table((array / array.max()).round(3), "strength", head=heads, slice=quarters)
    base = alt.Chart(table.assign(network=name)).encode(
        x=x_axis("slice:N", "quarter of the input", labelAngle=0, orient="top"),
        y=alt.Y("head:N", title=None),
        tooltip=["network:N", "head:N", "slice:N", alt.Tooltip("strength:Q", format=".2f")],
    )
    shade = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.85]), legend=None)
    number = alt.Text("strength:Q", format=".2f")
    cells = labelled_cells(base, number, cell={"opacity": shade}, fill=BLUE, stroke=GREY, strokeWidth=0.4)
    return alt.layer(*cells).properties(width=230, height=150, title=name.capitalize())
