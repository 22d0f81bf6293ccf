"""Card of a row of the small Table 3: what it changes and costs, its seeds through the training, and its difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import mean
from typing import Any

import altair as alt
import pandas as pd

from annotated.config import ModelConfig
from annotated_book.results.table_3.results import Rows, curve_table, difference_table
from annotated_book.results.table_3.words import label, paper_words, seed_words, signed, what_changes
from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.forms import interval_rules, line_layers, rule_at, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREY, INK

_HEIGHT = 250
_LINE = 18
_LAST = 104
"""Percent of the training where the interval stands, right of the curves' ends."""


def card_lines(
    one: Mapping[str, Any], base: Mapping[str, Any], found: Mapping[str, Any], model: Callable[[str], ModelConfig]
) -> list[str]:
    """What a card says of a row, in lines that are no wider than a phone.

    Parameters
    ----------
    one
        The row, of the summary; one that has been trained.
    base
        Base, of the summary.
    found
        The row of `annotated_book.results.table_3.results.difference_table`.
    model
        The model of a row, at the size of the table.
    """
    shares = {what: one[what] / base[what] for what in ("parameters", "gflop")}
    return [
        f"{one['row']}: {what_changes(one['row'], model)}",
        f"{signed(found['difference'])} nats ({signed(found['low'])} to {signed(found['high'])})",
        paper_words(found),
        f"{one['parameters']:,} parameters, {100 * shares['parameters']:.0f}\u00a0% of base's",
        f"{one['gflop'] / 1e3:.1f} TFLOP of training, {100 * shares['gflop']:.0f}\u00a0% of base's",
        f"{seed_words(found['seeds'])}: BLEU {mean(one['bleus']):.1f}, base {mean(base['bleus']):.1f}",
    ]


def card_chart(rows: Rows, model: Callable[[str], ModelConfig], row: str = "C1") -> alt.LayerChart:
    """A row chosen from a menu: its validation loss less base's with the same seed, what it changes, and what it costs.

    Parameters
    ----------
    rows
        Of the summary.
    model
        The model of a row, at the size of the table.
    row
        Where the menu starts.
    """
    found, by_row = difference_table(rows).reset_index(), {one["row"]: one for one in rows}
    names = found["name"].tolist()
    curves = curve_table(rows)
    x = x_axis("share:Q", "training done (%)", domain=[0, _LAST + 2], nice=False, values=[0, 20, 40, 60, 80, 100])
    y = y_axis("difference:Q", "nats per token, row less base", zero=True, padding=12)
    seeds = alt.Chart(curves).transform_filter("datum.name == row")
    tip, look = ["seed:N", alt.Tooltip("difference:Q", format="+.3f")], {"color": BLUE, "opacity": 0.75}
    lines = line_layers(seeds.encode(x, y), detail="seed:N", tooltip=tip, line=look, color=BLUE, size=28)
    ends = alt.Chart(found.assign(share=_LAST)).transform_filter("datum.name == row")
    intervals = interval_rules(ends.encode(x), alt.Y("low:Q"), strokeWidth=3, color=BLUE)
    papers = ends.mark_point(shape="diamond", size=60, color=INK, filled=False).encode(x, alt.Y("paper:Q"))
    words = pd.DataFrame(
        [
            {"name": one["name"], "line": line, "text": text}
            for one in found.to_dict("records")
            for line, text in enumerate(card_lines(by_row[one["row"]], by_row["base"], one, model))
        ]
    )
    said = [
        alt.Chart(words[words["line"] == line])
        .transform_filter("datum.name == row")
        .mark_text(align="left", color=INK, fontWeight=600 if line == 0 else 400)
        .encode(x=alt.value(-44), y=alt.value(_HEIGHT + 56 + _LINE * line), text="text:N")
        for line in range(words["line"].max() + 1)
    ]
    return titled(
        alt.layer(rule_at(y, 0.0, color=GREY), *lines, intervals, papers, *said),
        menu("row", names, label(row), "row"),
        height=_HEIGHT,
        title="Above zero the row is worse than base; below, better",
        description=f"Difference in validation loss between {label(row)} and base with the same seed, over the "
        "training; a line for each seed. At the right end the interval of the mean difference and the paper's "
        "difference. Below, what the row changes, what it costs, and its BLEU.",
    )
