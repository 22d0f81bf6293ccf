"""Charts of the small Table 3: its rows with their seeds, the paper's differences, quality and cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.results.table_3.noise import TRANSFORMER_XL
from annotated_book.results.table_3.results import CHOSE_THE_SIZE, Rows, cost_table, difference_table, seed_table
from annotated_book.results.table_3.words import label, paper_words, seed_words, signed
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import interval_rules, rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE, PALETTE

VERDICTS = {
    "confirmed": BLUE, "contradicted": ORANGE, "not told apart": PALETTE[3], "no sign to confirm": GREEN,
    CHOSE_THE_SIZE: PALETTE[4], "too few runs": GREY,
}  # fmt: skip
COSTS = {"parameters": "parameters of the model", "operations": "operations of the training (FLOP)"}
ROW_HEIGHT = 21
_FAR, _NEAR = 0.05, 0.02
"""Nats per token, about which the axes of our differences and of the paper's turn from even steps to ratios: on them
the rows near base are told apart, though three are far from it."""
_TICKS = [-0.5, -0.2, -0.1, 0, 0.1, 0.2, 0.5]


def _stretched(field: str, title: str, constant: float = _FAR) -> dict[str, Any]:
    """A channel of differences from base: in even steps near zero, by ratios far from it."""
    axis = alt.Axis(values=_TICKS, format="~g", labelOverlap="greedy", labelSeparation=3)
    return {"shorthand": field, "title": title, "axis": axis, "scale": alt.Scale(type="symlog", constant=constant)}


def _stretch(values: pd.Series, constant: float) -> pd.Series:
    """Where such an axis has its values."""
    return np.sign(values) * np.log1p(values.abs() / constant)


def _verdict_colour(table: pd.DataFrame, columns: int) -> alt.Color:
    given = [one for one in VERDICTS if one in set(table["verdict"])]
    return colour_by("verdict:N", given, [VERDICTS[one] for one in given], legend=alt.Legend(columns=columns))


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
    tested = table[table["verdict"] != CHOSE_THE_SIZE]["verdict"]
    same, opposite = ((tested == word).sum() for word in ("confirmed", "contradicted"))
    order = table.sort_values("difference")["name"].tolist()
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=150))
    x = alt.X(**_stretched("difference:Q", "nats per token, from base"))
    base, colour = alt.Chart(table), _verdict_colour(table, columns=1)  # two are cut on a phone, beside long names
    picked = alt.selection_point(
        name="picked", fields=["row"], on="pointerover", nearest=True, clear=False, empty=False, value=[{"row": row}]
    )
    intervals = interval_rules(base.encode(y, color=colour), x, strokeWidth=3)
    means = base.mark_point(filled=True, size=70, opacity=1).encode(x, y, color=colour).add_params(picked)
    seeds = alt.Chart(seed_table(rows)).mark_tick(thickness=1.5, size=12, color=INK, opacity=0.6).encode(x, y)
    papers = base.mark_point(shape="diamond", size=60, color=INK, filled=False).encode(alt.X("paper:Q"), y)
    height = ROW_HEIGHT * len(table)
    told = [
        base.transform_filter(picked)
        .mark_text(align="left", color=INK, fontWeight=600 if line == 0 else 400)
        .encode(x=alt.value(-60), y=alt.value(height + 52 + 18 * line), text=f"told_{line}:N")
        for line in range(len(told_lines[0]))
    ]
    ring = base.transform_filter(picked).mark_point(size=240, strokeWidth=1.5, color=INK).encode(x, y)
    return titled(
        alt.layer(rule_at(x, 0.0, color=GREY), intervals, seeds, papers, means, ring, *told),
        height=height,
        title=f"Of {len(tested)} rows {same} have the paper's sign, {opposite} the opposite one",
        description="For each of the 19 changed rows of the small Table 3: its seeds as ticks, the mean of their "
        "difference from base in validation loss with its interval of 95 %, and the paper's difference as a diamond. "
        f"The colour is the verdict. At first the lines below tell of {label(row)}.",
    )


def _told(one: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader is told of a row, in lines that are no wider than a phone."""
    return (
        f"{one['name']}: {signed(one['difference'])} nats",
        f"{signed(one['low'])} to {signed(one['high'])} ({seed_words(one['seeds'])})",
        paper_words(one),
        f"{one['parameters'] / 1e3:,.0f} thousand parameters, {one['gflop'] / 1e3:,.1f} TFLOP",
    )


_CORNERS = [("left", 7, -8), ("right", -7, -8), ("left", 7, 9), ("right", -7, 9)]
"""Where a name can stand beside a point that has lines to all sides: alignment, pixels to the right and down."""
_SIDES = [("left", 8, 0), ("right", -8, 0), *_CORNERS]
"""The same beside a point that has none to its left and right."""
_PIXELS = 270, 320
"""About the size of a chart on a phone, by which names are kept apart."""
_LETTER = 7
"""Pixels that a letter of a name is wide, at most."""


def _names(
    table: pd.DataFrame,
    x_name: str,
    y_name: str,
    x: alt.X,
    y: alt.Y,
    places: list[tuple[str, int, int]],
    unnamed: Collection[str] = (),
) -> list[alt.Chart]:
    """Names of points, each in the first of the places where it covers the fewest names and other points.

    Where two places cover as little, the name stands on the side that faces away from base.
    """
    table = table.sort_values([y_name, x_name])
    across, up = (
        (table[name] - table[name].min()) / (table[name].max() - table[name].min()) * pixels
        for name, pixels in zip((x_name, y_name), _PIXELS, strict=True)
    )
    points = list(zip(across, -up, strict=True))
    base = float(across[table["row"] == "base"].iloc[0]) if "base" in set(table["row"]) else -1.0
    taken: list[tuple[float, float, float]] = []
    chosen = []
    for row, point in zip(table["row"], points, strict=True):
        if row in unnamed:
            chosen.append(-1)
            continue
        half = _LETTER * len(row) / 2
        centres = [(point[0] + dx + (half if side == "left" else -half), point[1] + dy) for side, dx, dy in places]
        covered = [
            sum(abs(h - a) < half + other + 5 and abs(v - b) < 11 for a, b, other in taken)
            + sum(abs(h - a) < half + 6 and abs(v - b) < 8 for a, b in points if (a, b) != point)
            for h, v in centres
        ]
        inside = [(side == "right") == (point[0] >= base) for side, _, _ in places]
        costs = list(zip(covered, inside, strict=True))
        chosen.append(costs.index(min(costs)))
        taken.append((*centres[chosen[-1]], half))
    return [
        alt.Chart(part).mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=INK).encode(x, y, text="row:N")
        for place, (align, dx, dy) in enumerate(places)
        if not (part := table[[one == place for one in chosen]]).empty
    ]


def paper_chart(rows: Rows, deviation: float = TRANSFORMER_XL.deviation) -> alt.LayerChart:
    """Our differences against the paper's, ours with their intervals, the paper's with those of a chosen noise.

    Parameters
    ----------
    rows
        Of the summary.
    deviation
        Of one run of the paper, in nats per token, 0 to 0.05, where the slider starts.
    """
    table = difference_table(rows).reset_index()
    x = alt.X(**_stretched("paper:Q", "the paper: nats per token, from base", _NEAR))
    y = alt.Y(**_stretched("difference:Q", "here: nats per token, from base"))
    base = alt.Chart(table)
    colour = _verdict_colour(table, columns=2)
    wide = base.transform_calculate(
        left="datum.paper - 1.96 * sqrt(2) * noise", right="datum.paper + 1.96 * sqrt(2) * noise"
    )
    theirs = interval_rules(wide.encode(y, color=colour), x, "left:Q", "right:Q", strokeWidth=1.5, opacity=0.6)
    ours = interval_rules(base.encode(x, color=colour), alt.Y("low:Q"), strokeWidth=1.5, opacity=0.6)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, color=colour,
        tooltip=["name:N", alt.Tooltip("paper:Q", format="+.3f"), alt.Tooltip("difference:Q", format="+.3f")],
    )  # fmt: skip
    places = table.assign(  # as the stretched axes have them
        across=_stretch(table["paper"], _NEAR), up=_stretch(table["difference"], _FAR)
    )
    names = _names(places, "across", "up", x, y, _CORNERS)
    axes = [
        alt.Chart(pd.DataFrame({"paper": [0.0], "difference": [0.0]})).mark_rule(color=GREY).encode(**{c: e})
        for c, e in (("x", x), ("y", y))
    ]
    return titled(
        alt.layer(*axes, theirs, ours, dots, *names),
        slider("noise", deviation, 0, 0.05, 0.0004, label="the paper's standard deviation of one run, nats"),
        height=340,
        title="In the upper right and the lower left, both agree in sign",
        description="The differences of the 19 rows from base in validation loss, here against the paper's. Vertical "
        "lines are our intervals; horizontal ones the paper's, for the standard deviation of a slider.",
    )


def cost_chart(rows: Rows, cost: str = "parameters") -> alt.LayerChart:
    """Loss of every row over what it costs.

    Of the rows of base's size only base and the two that are farthest apart have names beside them: they lie above one
    another. The tooltip names all.

    Parameters
    ----------
    rows
        Of the summary.
    cost
        One of `COSTS`, where the menu starts.
    """
    table = cost_table(rows)
    size = table.set_index("row").loc["base", "parameters"]
    as_large = table[table["parameters"] == size].set_index("row")["loss"]
    apart = as_large.max() - as_large.min()
    unnamed = set(table.loc[(table["parameters"] / size - 1).abs() < 0.02, "row"])
    unnamed -= {"base", as_large.idxmin(), as_large.idxmax()}
    table["low"], table["high"] = table["loss"] - table["reach"], table["loss"] + table["reach"]
    long = pd.concat([table.assign(cost=words, x=table[key], place=np.log(table[key])) for key, words in COSTS.items()])
    chosen = alt.Chart(long).transform_filter("datum.cost == cost")
    x = x_axis("x:Q", None, type="log", nice=False, padding=30, format="~s", labelOverlap="greedy", labelSeparation=6)
    y = y_axis("loss:Q", "validation loss, nats per token", zero=False, padding=14)
    is_base = "datum.row == 'base'"
    rules = interval_rules(chosen.encode(x), y_axis("low:Q", zero=False), opacity=0.5, color=GREY)
    dots = chosen.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, color=alt.condition(is_base, alt.value(ORANGE), alt.value(BLUE)),
        tooltip=["name:N", alt.Tooltip("loss:Q", format=".3f"), alt.Tooltip("x:Q", title="cost", format=".3s")],
    )  # fmt: skip
    names = [
        chart.transform_filter("datum.cost == cost")
        for words in COSTS.values()
        for chart in _names(long[long["cost"] == words], "place", "loss", x, y, _SIDES, unnamed)
    ]
    what = chosen.transform_aggregate(groupby=["cost"]).mark_text(align="left", color=INK)
    return titled(
        alt.layer(rules, dots, *names, what.encode(x=alt.value(0), y=alt.value(380 + 36), text="cost:N")),
        menu("cost", list(COSTS.values()), COSTS[cost], "cost"),
        height=380,
        title=f"Rows of base's size lie up to {apart:.1f} nats apart",
        description="Validation loss of the 20 rows over their parameters, or over the operations of their training, "
        f"as a menu chooses; at first {COSTS[cost]}.",
    )
