"""Charts of what F1 hides: single labels, and phrases that only meaning attaches."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.results.parsing import titles
from annotated_book.results.parsing.charts import COLOURS
from annotated_book.results.parsing.results import PARSERS
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, steps
from annotated_book.viz.theme import GREY, INK

ORDERS = ("how often it occurs", "how far the Transformer is behind")
"""How the labels are sorted."""
_TICKS = (0, 50, 80, 90, 95, 98, 99, 100)
_LANE = 8
"""Pixels for each parser of a label."""


def _colour(parsers: list[str], **options: Any) -> Any:
    return colour_by("parser:N", parsers, [COLOURS[one] for one in parsers], **options)


def _labels(table: pd.DataFrame, sizes: list[int]) -> tuple[pd.DataFrame, list[str], list[list[list[int]]]]:
    """The table with the places of its labels in both orders; their names; for each order and size who stands where."""
    cases = table.groupby("label")["cases"].max().sort_values(ascending=False, kind="stable")
    labels = cases.index.tolist()
    table = table.assign(size=[sizes.index(n) for n in table["trees"]], missed=100 - table["f1"])
    orders: list[list[list[int]]] = [[list(range(len(labels)))] * len(sizes), []]
    for trees in sizes:
        f1 = table[table["trees"] == trees].pivot(index="label", columns="parser", values="f1").reindex(labels)
        lag = f1.drop(columns="Transformer, rule").max(axis=1) - f1["Transformer, rule"]
        worst = lag.sort_values(ascending=False, kind="stable").index
        orders[1].append([labels.index(label) for label in worst])
    for column, order in zip(("often", "lag"), orders, strict=True):
        table[column] = [order[size].index(labels.index(label))
                         for size, label in zip(table["size"], table["label"], strict=True)]  # fmt: skip
    return table, [f"{label} ({cases[label]:,})" for label in labels], orders


def labels_chart(table: pd.DataFrame, trees: int) -> alt.Chart:
    """F1 of each label, a lane for each parser; the axis is logarithmic in what is missing from 100.

    Parameters
    ----------
    table
        As `results.detail_table` makes it by 'label'.
    trees
        Where the slider of training trees stands at first; a menu sorts the labels.
    """
    sizes = sorted(int(n) for n in table["trees"].unique())
    parsers = [name for name in PARSERS if name in set(table["parser"])]
    shown = titles.choice([titles.labels_title(table, n) for n in sizes], "size")
    table, names, orders = _labels(table, sizes)
    often = f"sorted == {json.dumps(ORDERS[0])}"
    who = f"{json.dumps(names)}[{json.dumps(orders)}[{often} ? 0 : 1][size][datum.value]]"
    return titled(
        alt.Chart(table)
        .transform_filter("datum.size == size")
        .transform_calculate(place=f"{often} ? datum.often : datum.lag")
        .mark_point(filled=True, size=70, opacity=0.95)
        .encode(
            y=y_axis("place:O", None, ticks=False, grid=True, bandPosition=0, labelExpr=who),
            yOffset=alt.YOffset("parser:N", sort=parsers),
            x=alt.X(
                "missed:Q",
                title="F1",
                scale=alt.Scale(type="symlog", constant=1, domain=[100, 0], nice=False),
                axis=alt.Axis(values=[100 - one for one in _TICKS], labelExpr="100 - datum.value"),
            ),
            color=_colour(parsers, legend=alt.Legend(columns=2, symbolOpacity=1)),
            shape=alt.Shape("parser:N", sort=parsers, legend=None),
            tooltip=["parser:N", "label:N", alt.Tooltip("cases:Q", title="constituents"), "f1:Q"],
        ),
        steps("size", sizes, trees, "training trees"),
        menu("sorted", ORDERS, label="sorted by"),
        height=_LANE * len(parsers) * len(names),
        title=shown,
        description="F1 of each label for each parser. A slider chooses the number of training trees, a menu how the "
        "labels are sorted. The axis stretches the scores near 100.",
    )


def attachments_chart(table: pd.DataFrame) -> alt.LayerChart:
    """For each parser, from the fewest trees to the most: phrases of the verb attached rightly over those of the noun.

    Parameters
    ----------
    table
        As `results.attachment_table` makes it.
    """
    means = table.groupby(["parser", "trees", "kind"])["right"].mean().unstack("kind").reset_index()
    parsers = [name for name in PARSERS if name in set(means["parser"])]
    sizes = sorted(int(n) for n in means["trees"].unique())
    means["size"] = [sizes.index(n) for n in means["trees"]]
    x = x_axis("NP:Q", "phrases of the noun, right (%)", domain=[0, 100], nice=False, values=[0, 25, 50, 75, 100])
    y = y_axis("VP:Q", "phrases of the verb, right (%)", domain=[50, 102], nice=False, values=[50, 75, 100])
    colour = _colour(parsers)
    upto = alt.Chart(means).transform_filter("datum.size <= size")
    path = upto.mark_line(strokeWidth=1.5, opacity=0.6).encode(x, y, colour, order="trees:Q")
    seen = upto.mark_point(filled=True, size=45, opacity=0.6).encode(
        x, y, colour, tooltip=["parser:N", "trees:Q", alt.Tooltip("NP:Q", title="of the noun", format=".1f"),
                               alt.Tooltip("VP:Q", title="of the verb", format=".1f")],
    )  # fmt: skip
    last = alt.Chart(means).transform_filter("datum.size == size")
    dots = last.mark_point(filled=True, size=150, opacity=1).encode(x, y, colour)
    chance = pd.DataFrame({"NP": [0, 50], "VP": [100, 50]})
    even = alt.Chart(chance).mark_line(color=GREY, strokeDash=[4, 3]).encode(x, y)
    said = alt.Chart(pd.DataFrame({"NP": [40], "VP": [60], "text": ["without the words"]}))
    words = said.mark_text(align="left", dx=10, color=INK, opacity=0.75).encode(x, y, text="text:N")
    return titled(
        alt.layer(
            even,
            words,
            path,
            seen,
            dots,
            name_lines(last.encode(x, y, colour), "parser", words=in_lines(parsers, 12), dx=11),
        ),
        steps("size", sizes, sizes[-1], "training trees"),
        height=280,
        title=titles.choice([titles.attachments_title(table, n) for n in sizes], "size"),
        description="Shares of phrases of the noun and of the verb that each parser attaches rightly, from "
        f"{sizes[0]:,} training trees to the number of a slider. A dashed line marks parsers that attach the same "
        "share of both kinds to the verb.",
    )
