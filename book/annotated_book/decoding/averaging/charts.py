"""Charts of averaged checkpoints: the last k of a run, lines between weights, and noise that cancels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREY, INK, ORANGE, PALETTE
from annotated_book.viz.titles import title_of


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
    scale = alt.Scale(zero=False, nice=False, reverse=True, padding=14)
    x = x_axis("k:Q", "oldest  ←  checkpoint  →  newest", scale=scale, tickMinStep=1, format="d")
    y = y_axis("loss:Q", "loss (nats per token)", zero=False, padding=12)
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
    words = (
        "(last > datum.most ? 'all there are: ' : '') + 'average of ' + datum.k + ': loss ' + format(datum.loss, '.3f')"
    )
    words += " + (isValid(datum.bleu) ? ', BLEU ' + format(datum.bleu, '.1f') : '')"
    # At a fixed place: the single checkpoints fall to the right, so the upper right is free.
    text = chosen.transform_calculate(words=words).mark_text(align="right", color=INK, fontWeight="bold", fontSize=12)
    text = text.encode(x=alt.value("width"), y=alt.value(14), text="words:N")
    return titled(
        alt.layer(points, line, here, text, _last_k_names(dots, pd.concat(means), x, y)),
        menu("run", names),
        slider("last", k, 1, most, 1, label="checkpoints averaged"),
        height=280,
        title=_last_k_title(runs, each),
        description=f"Loss of averaged checkpoints for {', '.join(names)}: a line over the number of checkpoints "
        "averaged, and a dot for each single checkpoint. A slider chooses how many of the last are averaged, a menu "
        "the run.",
    )


def _last_k_title(runs: Mapping[str, Sequence[Mapping[str, float]]], each: Mapping[str, Sequence[float]]) -> Any:
    """An expression: the title for the run in the menu, which says what holds for the averages of two to five."""
    lower = "The average of the last few checkpoints has a lower loss than each of them"
    higher = "No average of the last checkpoints has a lower loss than the newest alone"
    mixed = "Not every average of the last checkpoints has a lower loss than each of them"

    def title(name: str) -> str:
        averages, newest = [one["loss"] for one in runs[name][1:]], each[name][-1]
        if averages and min(averages) >= newest:
            return higher
        return lower if all(loss < min(each[name][-k:]) for k, loss in enumerate(averages[:4], 2)) else mixed

    return title_of("run", {name: title(name) for name in runs})


def _last_k_names(dots: pd.DataFrame, means: pd.DataFrame, x: Any, y: Any) -> alt.Chart:
    """The names of dots and line, at the oldest checkpoint, where they are furthest apart."""
    kinds = ["single checkpoint", "average of last k"]
    both = pd.concat([table.assign(what=kind) for table, kind in zip((dots, means), kinds, strict=True)])
    base = alt.Chart(both[["what", "run", "k", "loss"]]).transform_filter("datum.run == run")
    return name_lines(base.encode(x, y, colour_by("what:N", kinds, [ORANGE, BLUE])), "what", dx=10, dy=-9)


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
    ticks = alt.Axis(values=[half / 2 for half in range(math.ceil(2 * low), math.floor(2 * high) + 1)], format=".1f")
    x = x_axis("t:Q", "place t on the line", domain=[low, high], nice=False, axis=ticks)
    y = y_axis("loss:Q", "loss (nats per token)", zero=False)
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
        .mark_text(align=alt.expr("t > 0.5 ? 'right' : 'left'"), dx=alt.expr("t > 0.5 ? -9 : 9"), dy=-26, color=INK,
                   fontWeight="bold")
        .encode(x, y, text="words:N")
    )  # fmt: skip
    both = alt.Chart(marks).transform_filter("datum.line == path")
    rules = both.mark_rule(strokeDash=[4, 3], color=INK, opacity=0.6).encode(x="t:Q")
    labels = both.mark_text(align="center", baseline="top", dy=4, color=INK).encode(
        x="t:Q", y=alt.value(0), text="what:N"
    )
    return titled(
        alt.layer(rules, line, here, text, labels),
        menu("path", names, label="line"),
        slider("t", t, low, high, 0.1),
        height=280,
        title="The lowest loss lies between the two checkpoints, nearer to the newer",
        description=f"Loss along straight lines between weights: {', '.join(names)}. A menu chooses the line, and a "
        "slider walks along it from before its first end to beyond its second.",
    )


def valley_and_mountain_chart(
    within: Sequence[tuple[float, float]], between: Sequence[tuple[float, float]]
) -> alt.LayerChart:
    """Two lines through the space of weights on one scale: along one run, and from one seed to another.

    Parameters
    ----------
    within, between
        Pairs (t, loss); t = 0 and t = 1 are the two ends.
    """
    kinds = ["two checkpoints of one run", "two seeds"]
    tables = [pd.DataFrame(line, columns=["t", "loss"]) for line in (within, between)]
    table = pd.concat([one.assign(ends=kind) for one, kind in zip(tables, kinds, strict=True)])
    encoding = {
        "x": x_axis("t:Q", "place t on the line (0 and 1: the two models)", format=".1f"),
        "color": colour_by("ends:N", kinds, [BLUE, ORANGE]),
    }
    top = math.ceil(float(table["loss"].max()) + 1)  # with room for the label of the peak
    encoding["y"] = y_axis("loss:Q", "loss (nats per token)", domain=[0, top])
    base = alt.Chart(table)
    dashes = dash_by("ends:N", kinds, [[1, 0], [6, 3]])
    line = base.mark_line(strokeWidth=2.4, point={"size": 22})
    line = line.encode(**encoding, strokeDash=dashes, tooltip=["ends:N", "t:Q", "loss:Q"])
    words = "replace(datum.ends, ' of', '\\nof') + ':\\n' + format(datum.name_value, '.2f') + ' at t = 0.5'"
    halves = base.transform_filter("abs(datum.t - 0.5) < 0.01").encode(**encoding)
    text = name_lines(halves, "ends", words=words, align="center", dx=0, dy=-30)
    ends = alt.Chart(pd.DataFrame({"t": [0, 1]})).mark_rule(strokeDash=[4, 3], color=INK, opacity=0.6).encode(x="t:Q")
    return titled(
        alt.layer(ends, line, text),
        height=300,
        title="Between two checkpoints the loss is low; between two seeds it has a peak",
        description="The loss along two straight lines between weights, on one scale. Between two checkpoints of one "
        f"run it stays near the bottom; between two seeds it rises to a peak of about {table['loss'].max():.1f} "
        f"halfway (axis from 0 to {top}).",
    )


def translated_line_chart(
    walk: Sequence[Mapping[str, Any]], *, title: str, ends: tuple[str, str], t: float = 0.5
) -> alt.VConcatChart:
    """The loss along a line between two sets of weights, and what the model at the slider's place writes.

    Parameters
    ----------
    walk
        Places in equal steps from t = 0 to t = 1, each with 't', 'loss' and 'writes'.
    title
        What to see.
    ends
        What stands at t = 0 and at t = 1.
    t
        Where the slider stands at first.
    """
    table, step = pd.DataFrame(walk)[["t", "loss", "writes"]], 1 / (len(walk) - 1)
    base = alt.Chart(table)
    x = x_axis("t:Q", f"{ends[0]}  ←  place t  →  {ends[1]}", format=".1f")
    y = alt.Y("loss:Q", title="loss (nats per token)")
    line = base.mark_line(color=BLUE, strokeWidth=2.2, point={"size": 22, "color": BLUE}).encode(
        x, y, tooltip=["t:Q", alt.Tooltip("loss:Q", format=".3f"), "writes:N"]
    )
    here = base.transform_filter(f"abs(datum.t - t) < {step / 2}")
    point = here.mark_point(filled=True, size=140, color=ORANGE, opacity=1).encode(x, y)
    said = here.transform_calculate(
        where="'t = ' + format(datum.t, '.1f') + ', loss ' + format(datum.loss, '.2f') + ':'"
    )
    lines = [
        said.mark_text(align="left", baseline="top", limit=340, **style).encode(
            x=alt.value(0), y=alt.value(top), text=text
        )
        for text, top, style in (("where:N", 0, {"opacity": 0.75}), ("writes:N", 18, {"fontWeight": "bold"}))
    ]
    middle = table.iloc[len(table) // 2]
    return titled(
        alt.vconcat(
            alt.layer(line, point).properties(width=300, height=200),
            alt.layer(*lines).properties(width=300, height=38, view=alt.ViewConfig(stroke=None)),
            spacing=8,
            usermeta={"fit": True},
            title=title,
        ),
        slider("t", t, 0, 1, step),
        description=f"The loss along a straight line from {ends[0]} to {ends[1]}, with a slider for the place. "
        f"Halfway the loss is {middle['loss']:.2f} and the model writes: {middle['writes']} At the ends: "
        f"{table.iloc[0]['writes']}",
    )


def averaged_noise_chart(rows: Sequence[Mapping[str, float]]) -> alt.LayerChart:
    """What noise in the weights costs when k noisy copies are averaged, beside the law 1/k.

    Parameters
    ----------
    rows
        Each with 'k', and 'excess': the loss above that of the model without noise.
    """
    kinds, tens = ["measured", "the first, divided by k"], [10.0**power for power in range(-4, 2)]
    table = pd.DataFrame(rows)[["k", "excess"]].rename(columns={"excess": kinds[0]})
    table[kinds[1]] = table[kinds[0]].iloc[0] / table["k"]
    chart = alt.Chart(table.melt("k", var_name="what", value_name="excess"))
    encoding = {
        "x": x_axis("k:Q", "noisy copies averaged", type="log", base=2, nice=False, values=sorted(table["k"])),
        "y": y_axis("excess:Q", "excess loss (nats per token)", type="log", values=tens, format="~g"),
        "color": colour_by("what:N", kinds, [PALETTE[0], GREY]),
    }
    line = chart.mark_line(strokeWidth=2).encode(**encoding, strokeDash=dash_by("what:N", kinds, [[1, 0], [5, 4]]))
    names = name_lines(chart.encode(**encoding), "what", words={kinds[1]: "the first,\ndivided\nby k"})
    points = chart.transform_filter("datum.what == 'measured'").mark_point(filled=True, size=70, opacity=1)
    return titled(
        alt.layer(line, points.encode(**encoding, tooltip=["k:Q", "excess:Q"]), names),
        height=220,
        title="Averaging noisy copies lowers the excess loss, at first faster than 1/k",
        description="The loss that noise in the weights adds, over the number of noisy copies averaged, both on "
        "logarithmic axes: from one copy to four it falls faster than one over the number, and later about as fast.",
    )
