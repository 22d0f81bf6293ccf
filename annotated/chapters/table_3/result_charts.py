"""Charts of the small Table 3: its rows with their seeds, their curves, the paper's differences, quality and cost."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from annotated.chapters.table_3.results import Rows, cost_table, curve_table, difference_table, seed_table
from annotated.chapters.table_3.words import label
from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE, GREEN, GREY, INK, ORANGE
from annotated.viz.titles import title_lines

VERDICTS = {
    "confirmed": BLUE, "contradicted": ORANGE, "not told apart": GREY, "no sign to confirm": GREEN,
}  # fmt: skip
COSTS = {"parameters": "parameters of the model", "operations": "operations of the training (FLOP)"}
ROW_HEIGHT = 21


def _verdict_colour() -> alt.Color:
    scale = alt.Scale(domain=list(VERDICTS), range=list(VERDICTS.values()))
    return alt.Color("verdict:N", scale=scale, legend=alt.Legend(columns=2))


def rows_chart(rows: Rows, row: str = "C1") -> alt.LayerChart:
    """Every row's seeds, the mean's interval, and the paper's difference; lines below tell of the row pointed at.

    Parameters
    ----------
    rows
        Of the summary.
    row
        The row told of at first.
    """
    table = difference_table(rows).reset_index()
    told_lines = [_told(one) for one in table.to_dict("records")]
    for line in range(len(told_lines[0])):
        table[f"told_{line}"] = [lines[line] for lines in told_lines]
    largest = table.loc[table["difference"].abs().idxmax(), "name"]
    order = table.sort_values("difference")["name"].tolist()
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=150))
    x = alt.X("difference:Q", title="nats per token, difference from base")
    base = alt.Chart(table)
    picked = alt.selection_point(
        name="picked", fields=["row"], on="pointerover", nearest=True, clear=False, empty=False, value=[{"row": row}]
    )
    intervals = base.mark_rule(strokeWidth=3).encode(
        alt.X("low:Q", title="nats per token, difference from base"), y, x2="high:Q", color=_verdict_colour()
    )
    means = base.mark_point(filled=True, size=70, opacity=1).encode(x, y, color=_verdict_colour()).add_params(picked)
    seeds = alt.Chart(seed_table(rows)).mark_tick(thickness=1.5, size=12, color=INK, opacity=0.6).encode(x, y)
    papers = base.mark_point(shape="diamond", size=60, color=INK, filled=False).encode(alt.X("paper:Q"), y)
    zero = alt.Chart(pd.DataFrame({"difference": [0.0]})).mark_rule(color=GREY).encode(x)
    height = ROW_HEIGHT * len(table)
    told = [
        base.transform_filter(picked)
        .mark_text(align="left", color=INK, fontWeight=600 if line == 0 else 400)
        .encode(x=alt.value(-60), y=alt.value(height + 52 + 18 * line), text=f"told_{line}:N")
        for line in range(len(told_lines[0]))
    ]
    ring = base.transform_filter(picked).mark_point(size=240, strokeWidth=1.5, color=INK).encode(x, y)
    return alt.layer(zero, intervals, seeds, papers, means, ring, *told).properties(
        width="container",
        height=height,
        title=title_lines(f"{largest} differs most from base"),
        description="For each of the 19 changed rows of the small Table 3: its seeds as ticks, the mean of their "
        "difference from base in validation loss with its interval of 95 %, and the paper's difference as a diamond. "
        f"The colour is the verdict. At first the lines below tell of {label(row)}.",
    )


def _told(one: dict[str, Any]) -> tuple[str, ...]:
    """What a reader is told of a row, in lines that are no wider than a phone."""
    return (
        f"{one['name']}: {one['difference']:+.3f} nats",
        f"{one['low']:+.3f} to {one['high']:+.3f} ({one['seeds']} seed{'s' * (one['seeds'] != 1)})",
        f"paper {one['paper']:+.3f}: {one['verdict']}",
        f"{one['parameters'] / 1e3:,.0f} thousand parameters, {one['gflop'] / 1e3:,.1f} TFLOP",
    )


def curves_chart(rows: Rows, row: str = "C1") -> alt.LayerChart:
    """Through the training: how a row's validation loss differs from that of base with the same seed.

    Parameters
    ----------
    rows
        Of the summary.
    row
        Where the menu starts; there is none for a single row.
    """
    table = curve_table(rows)
    names = list(dict.fromkeys(table["name"]))
    chosen = alt.Chart(table) if len(names) == 1 else alt.Chart(table).transform_filter("datum.name == row")
    x = alt.X("share:Q", title="training done (%)", scale=alt.Scale(domain=[0, 100], nice=False))
    y = alt.Y("difference:Q", title="nats per token, row less base", scale=alt.Scale(zero=True, padding=10))
    lines = chosen.mark_line(strokeWidth=2, color=BLUE, opacity=0.75).encode(x, y, detail="seed:N")
    points = chosen.mark_point(filled=True, size=28, color=BLUE).encode(
        x, y, tooltip=["seed:N", alt.Tooltip("difference:Q", format="+.3f")]
    )
    zero = alt.Chart(pd.DataFrame({"difference": [0.0]})).mark_rule(color=GREY).encode(y=y)
    words = [
        alt.Chart(pd.DataFrame([{"text": f"the row is {text} than base"}]))
        .mark_text(align="right", dx=-6, color=INK, opacity=0.75)
        .encode(x=alt.value("width"), y=alt.value(place), text="text:N")
        for text, place in (("worse", 14), ("better", 238))
    ]
    return (
        alt.layer(zero, lines, points, *words)
        .add_params(*[menu("row", names, label(row), "row")][: len(names) - 1])
        .properties(
            width="container",
            height=250,
            title=title_lines("Where the curve crosses zero, the order of the two rows changes"),
            description=f"Difference in validation loss between {label(row)} and base with the same seed, over the "
            "training; a line for each seed.",
        )
    )


_PLACES = [("left", 7, -7), ("right", -7, -7), ("left", 7, 9), ("right", -7, 9)]
"""Where a name can stand beside its point: alignment, and pixels to the right and down."""


def _names(table: pd.DataFrame, x_name: str, y_name: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Names of points, each in the first of four places that no name stands in yet."""
    scaled = {name: (table[name] - table[name].min()) / (table[name].max() - table[name].min())
              for name in (x_name, y_name)}  # fmt: skip
    taken: list[tuple[float, float]] = []
    places = []
    for across, up in zip(scaled[x_name] * 500, scaled[y_name] * 280, strict=True):  # about the chart's pixels
        centres = [(across + 2.2 * dx, -up + dy) for _, dx, dy in _PLACES]
        free = [n for n, (h, v) in enumerate(centres) if all(abs(h - a) > 20 or abs(v - b) > 12 for a, b in taken)]
        places.append(free[0] if free else 0)
        taken.append(centres[places[-1]])
    return [
        alt.Chart(part).mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=INK).encode(x, y, text="row:N")
        for place, (align, dx, dy) in enumerate(_PLACES)
        if not (part := table[[one == place for one in places]]).empty
    ]


def paper_chart(rows: Rows, deviation: float = 0.01) -> alt.LayerChart:
    """Our differences against the paper's, ours with their intervals, the paper's with those of a chosen noise.

    Parameters
    ----------
    rows
        Of the summary.
    deviation
        Of one run of the paper, in nats per token, 0 to 0.05, where the slider starts.
    """
    table = difference_table(rows).reset_index()
    x = alt.X("paper:Q", title="the paper: nats per token, from base")
    y = alt.Y("difference:Q", title="here: nats per token, from base")
    base = alt.Chart(table)
    colour = _verdict_colour()
    wide = base.transform_calculate(
        left="datum.paper - 1.96 * sqrt(2) * noise", right="datum.paper + 1.96 * sqrt(2) * noise"
    )
    theirs = wide.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        alt.X("left:Q", title="the paper: nats per token, from base"), y, x2="right:Q", color=colour
    )
    ours = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(x, alt.Y("low:Q"), y2="high:Q", color=colour)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, color=colour,
        tooltip=["name:N", alt.Tooltip("paper:Q", format="+.3f"), alt.Tooltip("difference:Q", format="+.3f")],
    )  # fmt: skip
    names = _names(table, "paper", "difference", x, y)
    axes = [
        alt.Chart(pd.DataFrame({"paper": [0.0], "difference": [0.0]})).mark_rule(color=GREY).encode(**{c: e})
        for c, e in (("x", x), ("y", y))
    ]
    noise = slider("noise", deviation, 0, 0.05, 0.005, label="the paper's standard deviation of one run, nats")
    return (
        alt.layer(*axes, theirs, ours, dots, *names)
        .add_params(noise)
        .properties(
            width="container",
            height=340,
            title=title_lines("In the upper right and the lower left, both agree in sign"),
            description="The differences of the 19 rows from base in validation loss, here against the paper's. "
            "Vertical lines are our intervals; horizontal ones the paper's, for the standard deviation of a slider.",
        )
    )


def cost_chart(rows: Rows, cost: str = "parameters") -> alt.LayerChart:
    """Loss of every row over what it costs.

    Parameters
    ----------
    rows
        Of the summary.
    cost
        One of `COSTS`, where the menu starts.
    """
    table = cost_table(rows)
    table["low"], table["high"] = table["loss"] - table["reach"], table["loss"] + table["reach"]
    long = pd.concat([table.assign(cost=words, x=table[key]) for key, words in COSTS.items()])
    chosen = alt.Chart(long).transform_filter("datum.cost == cost")
    x = alt.X("x:Q", title=None, scale=alt.Scale(type="log", nice=False, padding=24), axis=alt.Axis(format="~s"))
    y = alt.Y("loss:Q", title="validation loss, nats per token", scale=alt.Scale(zero=False, padding=14))
    is_base = "datum.row == 'base'"
    rules = chosen.mark_rule(opacity=0.5, color=GREY).encode(
        x, alt.Y("low:Q", scale=alt.Scale(zero=False)), y2="high:Q"
    )
    dots = chosen.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, color=alt.condition(is_base, alt.value(ORANGE), alt.value(BLUE)),
        tooltip=["name:N", alt.Tooltip("loss:Q", format=".3f"), alt.Tooltip("x:Q", title="cost", format=".3s")],
    )  # fmt: skip
    names = chosen.mark_text(align="left", dx=7, fontSize=11, color=INK).encode(x, y, text="row:N")
    what = chosen.transform_aggregate(groupby=["cost"]).mark_text(align="left", color=INK)
    return (
        alt.layer(rules, dots, names, what.encode(x=alt.value(0), y=alt.value(330 + 36), text="cost:N"))
        .add_params(menu("cost", list(COSTS.values()), COSTS[cost], "cost"))
        .properties(
            width="container",
            height=330,
            title=title_lines("Rows of one size differ; a larger model is not always the better one"),
            description="Validation loss of the 20 rows over their parameters, or over the operations of their "
            f"training, as a menu chooses; at first {COSTS[cost]}.",
        )
    )
