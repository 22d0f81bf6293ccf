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

_RETRIEVAL = ("heads", "offset", "accuracy")
_SHARE = alt.Scale(domain=[0, 1])


def retrieval_chart(arms: Mapping[str, Mapping[str, Sequence[float]]], *, chance: float) -> alt.LayerChart:
    """The share of words retrieved by each way of joining heads, for all offsets or one of them.

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
    y = y_axis("heads:N", None, sort=list(arms), labelLimit=130)
    room = alt.Scale(domain=[0, 1.25], nice=False)  # for the figures beside the bars
    x = x_axis("accuracy:Q", "words named correctly (%)", scale=room, format="%", values=[0, 0.25, 0.5, 0.75, 1])
    tooltip = ["heads:N", "offset:N", alt.Tooltip("accuracy:Q", format=".1%")]
    figures = chosen.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("accuracy:Q", format=".0%"))
    guess = alt.Chart(pd.DataFrame({"chance": [chance], "name": [f"guessing {chance:.0%}"]}))
    said = ", ".join(f"{row.heads} {row.accuracy:.0%}" for row in over_all.itertuples())
    across = alt.X("chance:Q", scale=room)
    titles = {one: _retrieval_title(table[table["offset"] == one], one) for one in choices}
    return titled(
        alt.layer(
            chosen.mark_bar(color=GREEN, height=20).encode(x=x, y=y, tooltip=tooltip),
            figures,
            guess.mark_rule(color=ORANGE, strokeDash=[4, 3], strokeWidth=2).encode(x=across),
            guess.mark_text(align="left", dx=5, y=-7).encode(x=across, text="name:N"),
        ),
        menu("offset", choices, label="places back"),
        height=40 * len(arms),
        title=alt.Title(title_of("offset", titles), offset=18),
        description=f"Bars of the share of words named correctly, a dashed line at guessing ({chance:.0%}), and a "
        f"menu for the offset. Over all offsets: {said}.",
        caption="Four ways to attend on the retrieval task, the mean of five seeds. The menu chooses how many places "
        "back the word stands.",
    )


def _retrieval_title(shown: pd.DataFrame, offset: str) -> str:
    """What the first way and the last one name, at one offset or at all."""
    first, last = (shown.iloc[place] for place in (0, -1))
    where = "At all four places" if offset == "all" else f"{offset} place{'s' * (offset != '1')} back"
    return f"{where}: {first.accuracy:.0%} {first.heads}, {last.accuracy:.0%} {last.heads}"


def projection_chart(results: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> alt.VConcatChart:
    """What leaving W_O out costs, before a read-out that is trained and before a fixed one: a dot for each seed.

    Parameters
    ----------
    results
        For each kind of read-out, by name, the arms with and without W_O, each with its `accuracy` by seed.
    """
    table = pd.concat(
        {
            (read, name): pd.DataFrame({"accuracy": arm["accuracy"]})
            for read, both in results.items()
            for name, arm in both.items()
        },
        names=["read", "arm", "seed"],
    ).reset_index()
    table["arm"] = table["arm"].str.replace("W_O", "Wᴼ")  # as the paper writes it
    y = alt.Y("arm:N", sort=list(table["arm"].unique()), title=None)
    room = alt.Scale(domain=[0, 1.12], nice=False)  # for the figures beside the bars
    title, axis = "words named correctly (%)", alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    panels = []
    for read in results:
        base = alt.Chart(table[table["read"] == read]).encode(y=y)
        x = alt.X("accuracy:Q", scale=room, title=title, axis=axis)
        mean = alt.X("mean(accuracy):Q", scale=room, title=title, axis=axis)
        figure = alt.Text("mean(accuracy):Q", format=".0%")
        layers = (
            base.mark_bar(color=GREEN, height=18, opacity=0.4).encode(x=mean),
            base.mark_circle(color=GREEN, size=60, opacity=0.9).encode(
                x=x, tooltip=["arm:N", alt.Tooltip("accuracy:Q", format=".1%")]
            ),
            base.mark_text(align="left", dx=4).encode(x=alt.datum(1.02), text=figure),
        )
        panels.append(alt.layer(*layers).properties(width=300, height=76, title=read.capitalize()))
    means = table.groupby(["read", "arm"], sort=False)["accuracy"].mean()
    said = "; ".join(f"{read}, {name}: {mean:.0%}" for (read, name), mean in means.items())
    chart = titled(
        alt.vconcat(*panels, usermeta={"fit": True}),
        title=alt.Title("Without Wᴼ the heads lose answers only where the read-out is fixed", anchor="start"),
        description=f"Two panels of bars with a dot for each of five seeds. {said}.",
    )
    return captioned(chart, "Four concatenated heads on the retrieval task. A dot is one of five seeds.")


def one_head_chart(weights: Sequence[Sequence[float]]) -> alt.LayerChart:
    """Mean weight that a single trained head puts on the word so many places back.

    Parameters
    ----------
    weights
        For each seed, the weight at distance 0, 1, 2, ...
    """
    by_seed = dict(enumerate(weights))
    table = curves_table(by_seed, "seed", "back", "weight")
    x = x_axis("back:O", "places back (0: the word itself)", labelAngle=0)
    y = y_axis("weight:Q", "mean weight", domain=[0, 1])
    base = alt.Chart(table).encode(x=x)
    means = table.groupby("back")["weight"].mean()
    return titled(
        alt.layer(
            base.mark_bar(color=GREEN, opacity=0.45).encode(y=alt.Y("mean(weight):Q", title="mean weight")),
            base.mark_circle(color=GREEN, size=45, opacity=0.9).encode(y=y, tooltip=["seed:N", "back:O", "weight:Q"]),
        ),
        height=170,
        title=["The single head spreads its weight over all four places"],
        description=(
            "Mean weight of the single head by distance: "
            + ", ".join(f"{back} back {value:.0%}" for back, value in means.items())
        ),
        caption="Mean attention weight of the trained head at each distance. A dot is one of five seeds.",
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
    x = x_axis("h:O", domain=domain, labelAngle=0)
    seeds = alt.Chart(curves_table(measured, "h", "seed", "accuracy").drop(columns="seed").round({"accuracy": 4}))
    y = y_axis("accuracy:Q", "named correctly", scale=_SHARE, format="%", tickCount=5, minExtent=38)
    tip = [alt.Tooltip("h:O", title="heads"), alt.Tooltip("accuracy:Q", format=".1%")]
    line = seeds.mark_line(color=BLUE, strokeWidth=2).encode(
        x=x.title(None), y=alt.Y("mean(accuracy):Q", title="named correctly")
    )
    above = alt.layer(line, seeds.mark_circle(color=BLUE, size=45).encode(x=x.title(None), y=y, tooltip=tip))
    table = alt.Chart(named_table(printed, "h", "BLEU")).encode(
        x=x.title("heads h"), y=y_axis("BLEU:Q", "BLEU", domain=[24.5, 26.1], tickCount=4, minExtent=38)
    )
    below = alt.layer(
        table.mark_line(color=ORANGE, strokeDash=[5, 3], strokeWidth=2),
        table.mark_point(color=ORANGE, filled=True, shape="diamond", size=90, opacity=1),
        table.mark_text(dy=-12).encode(text=alt.Text("BLEU:Q", format=".1f")),
    )
    means = {h: float(np.mean(values)) for h, values in measured.items()}
    chart = titled(
        alt.vconcat(
            above.properties(width=300, height=150, title="Retrieval: best at 8 and 16 heads (width 32 / h)"),
            below.properties(width=300, height=130, title="Translation, Table 3 (A): best at 8 and 16 (width 512 / h)"),
            usermeta={"fit": True},
        ),
        description=(
            "Two curves over the number of heads. Measured accuracy: "
            + ", ".join(f"{h} heads {value:.0%}" for h, value in means.items())
            + ". BLEU in the paper: "
            + ", ".join(f"{h} heads {bleu}" for h, bleu in printed.items())
            + ". Both rise and fall again."
        ),
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
