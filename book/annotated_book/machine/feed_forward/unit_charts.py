"""Charts of single hidden units: one along a sentence, all its activations by token, and how often the top misleads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.analysis.feed_forward import Activity
from annotated_book.machine.feed_forward.firing import firings
from annotated_book.viz.channels import colour_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import line_layers, rule_at, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

Units = Sequence[tuple[int, int]]
"""(layer, unit), both from 0."""
_OTHERS = "others"
_LEAST = 0.001  # where the logarithmic axis of rises begins


def unit_label(layer: int, unit: int) -> str:
    """'layer 1, unit 385' for (0, 384): people count from one."""
    return f"layer {layer + 1}, unit {unit + 1}"


def readable(token: str) -> str:
    """A token without the sign that marks the beginning of a word."""
    return token.replace("▁", "").strip() or "␣"


def unit_chart(activity: Activity, sentences: Sequence[int], unit: tuple[int, int]) -> alt.LayerChart:
    """One unit along a sentence: its score at every token, and what the ReLU lets through; a menu for the sentence.

    Parameters
    ----------
    sentences
        Numbers of the sentences in the menu.
    unit
        (layer, unit), both from 0.
    """
    starts = np.cumsum([0, *map(len, activity.tokens)])
    scores = activity.scores[unit[0], :, unit[1]].tolist()
    rows = []
    for s in sentences:
        text = "".join(activity.tokens[s]).replace("</s>", "").replace("▁", " ").strip()
        for p, token in enumerate(activity.tokens[s]):
            score = round(scores[starts[s] + p], 3)
            rows.append((text, p, f"{p + 1} {readable(token)}", score, max(0.0, score)))
    table = pd.DataFrame(rows, columns=["sentence", "place", "token", "score", "passed"])
    base = (
        alt.Chart(table)
        .transform_filter("datum.sentence == sentence")
        .encode(y=alt.Y("token:N", sort=None, title=None, axis=_TOKENS))
    )
    tip = ["token:N", alt.Tooltip("score:Q", title="score"), alt.Tooltip("passed:Q", title="after the ReLU")]
    span = [float(np.floor(table["score"].min())), float(np.ceil(table["score"].max() + 0.5))]
    x = x_axis("score:Q", "score  x · k + b", domain=span, tickCount=6)
    bars = base.mark_bar(stroke="currentColor", strokeOpacity=0.4).encode(
        x=x, color=alt.condition("datum.score > 0", alt.value(BLUE), alt.value(f"{GREY}55")), tooltip=tip
    )
    kept = base.transform_filter("datum.score > 0").mark_text(align="left", dx=4, fontSize=12)
    zero = rule_at(alt.X("score:Q"), 0, color="currentColor")
    told = table[table["sentence"] == table["sentence"].iloc[0]]
    active = ", ".join(f"{row.token} {row.score:.1f}" for row in told[told["score"] > 0].itertuples())
    return titled(
        alt.layer(bars, kept.encode(x=x, text=alt.Text("score:Q", format=".1f")), zero),
        menu("sentence", list(dict.fromkeys(table["sentence"]))),
        height=alt.Step(20),
        title=f"{unit_label(*unit).capitalize()}: the ReLU sets every score below zero (grey) to zero",
        description=f"Bars of the score of {unit_label(*unit)} at each token of a sentence, with a menu of "
        f"{len(sentences)} sentences. Above zero in the first: {active}.",
    )


_TOKENS = alt.Axis(labelExpr="slice(datum.label, indexof(datum.label, ' ') + 1)", labelOverlap=False)


def activations_chart(activity: Activity, units: Units, *, named: int = 4, bins: int = 16) -> alt.LayerChart:
    """All activations of a unit above zero, as a histogram by token; a menu chooses the unit.

    Parameters
    ----------
    units
        (layer, unit), both from 0; the first is shown at first.
    named
        Tokens that get a colour of their own: that of the strongest activation, and the most frequent others.
    bins
        Columns of the histogram.
    """
    found = pd.concat(_binned(activity, unit, named, bins) for unit in units)
    ranks = [f"{i}" for i in range(named + 1)]
    colours = [ORANGE, BLUE, GREEN, PALETTE[3], GREY]
    chart = alt.Chart(found).transform_filter("datum.unit == unit")
    scale = alt.Scale(domain=ranks, range=[*colours[:named], GREY])
    bars = chart.mark_bar(stroke="currentColor", strokeOpacity=0.25, strokeWidth=0.5).encode(
        x=x_axis("from:Q", "activation", bin="binned", tickCount=8),
        x2="to:Q",
        y=alt.Y("count:Q", title="positions", stack="zero"),
        order=alt.Order("rank:O"),
        color=alt.Color("rank:N", sort=ranks, scale=scale, legend=None),
        tooltip=["token:N", "count:Q", alt.Tooltip("from:Q", format=".2f"), alt.Tooltip("to:Q", format=".2f")],
    )
    key = (
        chart.transform_aggregate(n="sum(count)", groupby=["rank", "token"])
        .transform_calculate(text="datum.n + ' × ' + datum.token")
        .mark_text(align="right", fontSize=13, fontWeight="bold")
        .encode(
            x=alt.value("width"),
            y=y_axis("rank:N", sort=ranks, axis=None, domain=ranks, range=[12, 102]),
            text="text:N",
            color=alt.Color("rank:N", sort=ranks, scale=scale, legend=None),
        )
    )
    return titled(
        alt.layer(bars, key).resolve_scale(y="independent"),
        menu("unit", list(dict.fromkeys(found["unit"]))),
        height=240,
        title=alt.expr(f"{json.dumps({unit_label(*unit): _trap(activity, unit) for unit in units})}[unit]"),
        description=_told(activity, units),
    )


def _trap(activity: Activity, unit: tuple[int, int]) -> list[str]:
    """A title in two lines: where the unit is strongest, and where it is active most often."""
    found = firings(activity, *unit)
    often, count = next(iter(found["token"].value_counts().items()))
    best = readable(found["token"].iloc[0])
    return [
        f"{unit_label(*unit).capitalize()}: strongest at “{best}”,",
        f"most often active at “{readable(str(often))}”, {count} of {len(found)}",
    ]


def _binned(activity: Activity, unit: tuple[int, int], named: int, bins: int) -> pd.DataFrame:
    """Counts of one unit's activations by bin and token: rank 0 is the token of the strongest one."""
    found = firings(activity, *unit)
    best = found["token"].iloc[0]
    frequent = [token for token in found["token"].value_counts().index if token != best][: named - 1]
    ranks: Mapping[str, int] = {token: i for i, token in enumerate([best, *frequent])}
    found["rank"] = found["token"].map(ranks).fillna(named).astype(int).astype(str)
    found["token"] = [readable(t) if t in ranks else _OTHERS for t in found["token"]]
    width = float(found["activation"].max()) * 1.0001 / bins
    found["bin"] = (found["activation"] // width).astype(int)
    table = found.groupby(["rank", "token", "bin"], as_index=False).size().rename(columns={"size": "count"})
    # A column without anything, far to the right: room for the key.
    room = pd.DataFrame({"rank": ["0"], "token": [readable(best)], "bin": [round(1.4 * bins)], "count": [0]})
    table = pd.concat([table, room], ignore_index=True)
    edges = {"from": (table["bin"] * width).round(3), "to": ((table["bin"] + 1) * width).round(3)}
    return table.drop(columns="bin").assign(unit=unit_label(*unit), **edges)


def _told(activity: Activity, units: Units) -> str:
    parts = []
    for unit in units:
        found = firings(activity, *unit)
        counts = found["token"].value_counts().head(3)
        said = ", ".join(f"{n} at {readable(token)}" for token, n in counts.items())
        parts.append(
            f"{unit_label(*unit)}: strongest at {readable(found['token'].iloc[0])}, {len(found)} in all, {said}"
        )
    return "Histograms of all activations of single units above zero, by token, with a menu. " + "; ".join(parts) + "."


def agreement_strip(units: pd.DataFrame) -> alt.LayerChart:
    """Units whose strongest activations are all at one token, by the share of all their active positions that hold it.

    Parameters
    ----------
    units
        As `annotated_book.machine.feed_forward.firing.agreeing_units` returns them.
    """
    layers = sorted(units["layer"].unique())
    order = units.groupby("layer").cumcount()
    table = units.assign(
        place=[f"layer {n}" for n in units["layer"]],
        jitter=((order * 0.618034) % 1).round(3),  # spreads the dots evenly without a random number
        name=[readable(token) for token in units["token"]],
        share=units["share"].round(4),
        clean=units["share"] > 0.9,
    )
    base = alt.Chart(table)
    x = x_axis("share:Q", "share of its active positions at this token", domain=[0, 1], format="%", tickCount=6)
    y = alt.Y("place:N", title=None, sort=[f"layer {n}" for n in layers])
    points = base.mark_circle(size=55, opacity=0.75).encode(
        x=x,
        y=y,
        yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-0.1, 1.1])),
        color=alt.condition("datum.clean", alt.value(GREEN), alt.value(ORANGE)),
        tooltip=["place:N", "unit:Q", "name:N", alt.Tooltip("share:Q", format=".0%"), "active:Q"],
    )
    line = rule_at(alt.X("share:Q"), 0.9, color="currentColor", strokeDash=[4, 4])
    return titled(
        alt.layer(points, line),
        height=90 * len(layers),
        title="Units whose six strongest activations are at one token: few are active there only",
        description=f"A dot for each of {len(units)} units, by layer and by the share of its active positions that "
        f"hold the token of its six strongest activations. {int(table['clean'].sum())} lie above 90 per cent, the "
        f"median at {units['share'].median():.0%}.",
    )


def parts_chart(networks: Sequence[Mapping[str, Any]], shares: Sequence[float]) -> alt.LayerChart:
    """The rise of the loss when growing random parts of a network's units are silenced, a line for each network.

    Parameters
    ----------
    networks
        Of the record `feed_forward`: stack, layer and parts, a list of rises for each random order.
    shares
        The parts, ascending; 1 is the whole network.
    """
    rows = [
        {"network": f"{n['stack']} {n['layer']}", "share": share, "rise": rise, "order": order}
        for n in networks
        for order, rises in enumerate(n["parts"])
        for share, rise in zip((0.0, *shares), (0.0, *rises), strict=True)
    ]
    table = pd.DataFrame(rows)
    names = table["network"].unique().tolist()
    colours = [BLUE] * sum(n.startswith("encoder") for n in names) + [ORANGE, GREEN, PALETTE[3]]
    across = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    least = f"datum.value <= {_LEAST} ? '≤ {_LEAST}' : datum.label"
    up = alt.Axis(values=[0.001, 0.01, 0.1, 1], labelExpr=least)
    rises = alt.Scale(type="log", domain=[_LEAST, 5], clamp=True, nice=False)
    base = alt.Chart(table).encode(
        x=x_axis("share:Q", "share of the 512 units that is silenced", axis=across, nice=False),
        y=y_axis("mean(rise):Q", "rise of the loss (nats per token)", axis=up, scale=rises),
        color=colour_by("network:N", names, colours),
        tooltip=["network:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("mean(rise):Q", format=".3f")],
    )
    half, whole = (table[table["share"] == share].groupby("network")["rise"].mean() for share in (0.5, 1.0))
    told = "; ".join(f"{name} {half[name]:.3f} and {whole[name]:.3f}" for name in names)
    return titled(
        alt.layer(*line_layers(base, shape=shape_by("network:N", names)), name_lines(base, "network")),
        height=300,
        title="In five of six networks a random half of the units can be missing at little cost",
        description="Lines of the rise of the loss, on a logarithmic axis, over the share of silenced units, one for "
        f"each network. At a half and at all units: {told}.",
    )
