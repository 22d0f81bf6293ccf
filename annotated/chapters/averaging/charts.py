"""Charts of averaged checkpoints: the last k of a run, lines between weights, and noise that cancels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from annotated.viz.parameters import menu, slider
from annotated.viz.tables import curves_table
from annotated.viz.theme import BLUE, GREY, INK, ORANGE, PALETTE


def last_k_chart(
    runs: Mapping[str, Sequence[Mapping[str, float]]], each: Mapping[str, Sequence[float]], *, k: int = 5
) -> alt.LayerChart:
    """Loss of the average of the last k checkpoints; a slider chooses k, a menu the run.

    Parameters
    ----------
    runs
        By name, for k = 1, 2, ...: 'loss' and, if it was measured, 'bleu'.
    each
        By name, the loss of each single checkpoint, oldest first; as many as there are k.
    k
        Where the slider stands at first.

    Raises
    ------
    ValueError
        If a run has another number of checkpoints than of averages.
    """
    names = list(runs)
    for name in names:
        if len(runs[name]) != len(each[name]):
            raise ValueError(f"{name}: {len(each[name])} checkpoints and {len(runs[name])} averages")
    means = [pd.DataFrame(runs[name]).assign(run=name, k=range(1, len(runs[name]) + 1)) for name in names]
    dots = curves_table({name: list(reversed(each[name])) for name in names}, "run", "k", "loss", start=1)
    most = int(dots["k"].max())
    moved = slider("last", k, 1, most, 1, label="average of the last")
    x = alt.X("k:Q", title="checkpoints, counted from the last one back", scale=alt.Scale(zero=False, padding=14),
              axis=alt.Axis(tickMinStep=1, format="d"))  # fmt: skip
    y = alt.Y("loss:Q", title="loss on unseen sentences (nats a token)", scale=alt.Scale(zero=False))
    averages = alt.Chart(pd.concat(means)).transform_filter("datum.run == run")
    single = alt.Chart(dots).transform_filter("datum.run == run")
    points = single.mark_point(filled=True, size=70).encode(
        x, y, color=alt.condition("datum.k <= last", alt.value(ORANGE), alt.value(GREY)),
        opacity=alt.condition("datum.k <= last", alt.value(1), alt.value(0.5)), tooltip=["k:Q", "loss:Q"],
    )  # fmt: skip
    line = averages.mark_line(color=BLUE, strokeWidth=2).encode(x, y)
    # A run with fewer checkpoints than the slider has shows the average of all.
    chosen = averages.transform_joinaggregate(most="max(k)").transform_filter("datum.k == min(last, datum.most)")
    here = chosen.mark_point(shape="diamond", filled=True, size=170, color=BLUE, opacity=1).encode(x, y)
    words = "'average of ' + datum.k + ': loss ' + format(datum.loss, '.3f')"
    words += " + (isValid(datum.bleu) ? ', BLEU ' + format(datum.bleu, '.1f') : '')"
    # At a fixed place: the single checkpoints rise to the right, so the upper left is free.
    text = chosen.transform_calculate(words=words).mark_text(align="left", color=INK, fontWeight="bold", fontSize=12)
    text = text.encode(x=alt.value(10), y=alt.value(14), text="words:N")
    description = (
        f"Loss of averaged checkpoints for {', '.join(names)}: a line over the number of checkpoints averaged, and a "
        "dot for each single checkpoint. A slider chooses how many of the last are averaged, a menu the run."
    )
    return (
        alt.layer(points, line, here, text)
        .add_params(menu("run", names), moved)
        .properties(width="container", height=280, description=description)
    )


def weight_line_chart(
    lines: Mapping[str, Sequence[tuple[float, float]]], *, ends: Mapping[str, tuple[str, str]], t: float = 0.5
) -> alt.LayerChart:
    """The loss along straight lines between two sets of weights; a slider walks, a menu chooses the line.

    Parameters
    ----------
    lines
        By name, pairs (t, loss); t = 0 and t = 1 are the two ends.
    ends
        By name, what stands at t = 0 and at t = 1.
    t
        Where the walk begins; the nearest measured place is shown.
    """
    names = list(lines)
    walks = pd.concat([pd.DataFrame(lines[name], columns=["t", "loss"]).assign(line=name) for name in names])
    marks = pd.concat([pd.DataFrame({"line": name, "t": [0, 1], "what": ends[name]}) for name in names])
    low, high = float(walks["t"].min()), float(walks["t"].max())
    moved = slider("t", t, low, high, 0.1)
    ticks = alt.Axis(values=[half / 2 for half in range(math.ceil(2 * low), math.floor(2 * high) + 1)], format=".1f")
    x = alt.X("t:Q", title="place t on the line", scale=alt.Scale(domain=[low, high], nice=False), axis=ticks)
    y = alt.Y("loss:Q", title="loss on unseen sentences (nats a token)", scale=alt.Scale(zero=False))
    base = alt.Chart(walks).transform_filter("datum.line == path")
    line = base.mark_line(color=BLUE, strokeWidth=2.2, point={"size": 22, "color": BLUE}).encode(
        x, y, tooltip=["t:Q", "loss:Q"]
    )
    near = base.transform_calculate(far="abs(datum.t - t)").transform_window(
        place="row_number()", sort=[alt.SortField("far")]
    )
    near = near.transform_filter("datum.place == 1")
    here = near.mark_point(filled=True, size=140, color=ORANGE, opacity=1).encode(x, y)
    text = (
        near.transform_calculate(words="'t = ' + format(datum.t, '.1f') + ': ' + format(datum.loss, '.3f')")
        .mark_text(align=alt.expr("t > 0.5 ? 'right' : 'left'"), dx=alt.expr("t > 0.5 ? -9 : 9"), dy=-14, color=INK,
                   fontWeight="bold")
        .encode(x, y, text="words:N")
    )  # fmt: skip
    both = alt.Chart(marks).transform_filter("datum.line == path")
    rules = both.mark_rule(strokeDash=[4, 3], color=INK, opacity=0.6).encode(x="t:Q")
    labels = both.mark_text(align="center", baseline="top", dy=4, color=INK).encode(
        x="t:Q", y=alt.value(0), text="what:N"
    )
    description = (
        f"Loss along straight lines between weights: {', '.join(names)}. A menu chooses the line, and a slider walks "
        "along it from before its first end to beyond its second."
    )
    return (
        alt.layer(rules, line, here, text, labels)
        .add_params(menu("path", names, label="line"), moved)
        .properties(width="container", height=280, description=description)
    )


def averaged_noise_chart(rows: Sequence[Mapping[str, float]]) -> alt.LayerChart:
    """What noise in the weights costs when k noisy copies are averaged, beside the law 1/k.

    Parameters
    ----------
    rows
        Each with 'k', and 'excess': the loss above that of the model without noise.
    """
    kinds = ["measured", "the first, divided by k"]
    table = pd.DataFrame(rows)[["k", "excess"]].rename(columns={"excess": kinds[0]})
    table[kinds[1]] = table[kinds[0]].iloc[0] / table["k"]
    chart = alt.Chart(table.melt("k", var_name="what", value_name="excess"))
    encoding = {
        "x": alt.X("k:Q", title="noisy copies averaged", scale=alt.Scale(type="log", base=2)),
        "y": alt.Y("excess:Q", title="loss above the noiseless model's", scale=alt.Scale(type="log")),
        "color": alt.Color("what:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[PALETTE[0], GREY])),
    }
    line = chart.mark_line(strokeWidth=2).encode(
        **encoding,
        strokeDash=alt.StrokeDash("what:N", sort=kinds, scale=alt.Scale(domain=kinds, range=[[1, 0], [5, 4]])),
    )
    points = chart.transform_filter("datum.what == 'measured'").mark_point(filled=True, size=70, opacity=1)
    description = (
        "The loss that noise in the weights adds, over the number of noisy copies averaged, both on logarithmic axes: "
        "it falls in proportion to one over the number."
    )
    return alt.layer(line, points.encode(**encoding, tooltip=["k:Q", "excess:Q"])).properties(
        width="container", height=220, description=description
    )
