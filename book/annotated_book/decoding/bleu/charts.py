"""Charts of BLEU: its brevity penalty, its settings, and how sure a difference is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines, name_points
from annotated_book.viz.forms import line_layers, rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE


def brevity_chart(ratio: float = 0.8) -> alt.LayerChart:
    """The brevity penalty over the ratio of lengths; a slider moves a translation along the curve.

    Parameters
    ----------
    ratio
        Where the slider stands at first: length of the translation by length of the reference.
    """
    xs = np.arange(0.3, 1.501, 0.02).round(2)
    table = pd.DataFrame({"x": xs, "y": np.minimum(1.0, np.exp(1 - 1 / xs)).round(4)})
    x = x_axis("x:Q", "length of translation / reference (tokens)", domain=[0.3, 1.5])
    y = y_axis("y:Q", "brevity penalty", domain=[0, 1.1])
    curve = alt.Chart(table).mark_line(color=BLUE, strokeWidth=2.5).encode(x, y)
    here = alt.Chart(ONE_ROW).transform_calculate(x="ratio", y="min(1, exp(1 - 1 / ratio))")
    here = here.transform_calculate(
        text="format(datum.y, '.3f') + (datum.x >= 1 ? ': no penalty, and no bonus' : ' times the precisions')"
    )
    point = here.mark_point(size=110, filled=True, color=ORANGE, opacity=1).encode(x, y)
    text = here.mark_text(
        align=alt.expr("ratio > 0.9 ? 'right' : 'left'"), dx=alt.expr("ratio > 0.9 ? -8 : 10"), dy=16, color=INK
    ).encode(x, y, text="text:N")
    return titled(
        alt.layer(curve, point, text),
        slider("ratio", ratio, 0.3, 1.5, 0.01, label="length of translation / reference"),
        height=220,
        title="Half the reference's length multiplies the score by 0.37",
        description="The brevity penalty: one for translations as long as the reference or longer, and falling "
        "exponentially for shorter ones. A slider moves a point along the curve.",
    )


def settings_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """One set of translations under several settings of BLEU, as bars with their numbers; a menu chooses the system.

    Parameters
    ----------
    rows
        Each with 'system', 'setting' and 'bleu'.
    """
    table = pd.DataFrame(rows)
    systems, order = table["system"].unique().tolist(), table["setting"].unique().tolist()
    base = alt.Chart(table).transform_filter("datum.system == system")
    y = y_axis("setting:N", "setting", sort=order, labelLimit=150)
    x = alt.X("bleu:Q", title="BLEU")
    bars = base.mark_bar(height=15).encode(
        x,
        y,
        color=alt.condition("datum.setting == '13a'", alt.value(BLUE), alt.value(GREY)),
        tooltip=["setting:N", "bleu:Q"],
    )
    text = base.mark_text(align="left", dx=4, color=INK).encode(x, y, text=alt.Text("bleu:Q", format=".2f"))
    return titled(
        alt.layer(bars, text),
        menu("system", systems, systems[-1], "translations"),
        height=28 * len(order),
        title=f"One set of translations has {len(order)} scores",
        description=f"BLEU of the same translations under {', '.join(order)}. A menu chooses among "
        f"{', '.join(systems)}.",
    )


def bootstrap_chart(
    draws: Sequence[float], names: tuple[str, str], *, score: float, step: float = 0.1
) -> alt.LayerChart:
    """How often resampled test sets gave which difference of two systems.

    Parameters
    ----------
    draws
        Differences in BLEU, second system minus first.
    names
        Of the two systems.
    score
        The difference on the test set itself.
    step
        Width of a bar.
    """
    values = np.asarray(draws, dtype=np.float64)
    places, counts = np.unique(np.floor(values / step).astype(int), return_counts=True)
    low, high = np.percentile(values, [2.5, 97.5])
    sides = [f"{name} is better" for name in reversed(names)]
    table = pd.DataFrame({"from": step * places, "to": step * (places + 1), "share": counts / len(values)})
    table = table.round({"from": 3, "to": 3, "share": 4}).assign(side=np.where(places < 0, *reversed(sides)))
    base = alt.Chart(table).encode(
        x=alt.X("from:Q", bin="binned", title=f"{names[1]} minus {names[0]} (BLEU)"),
        y=y_axis("share:Q", "share of resampled test sets", format="%"),
        color=colour_by("side:N", sides, [BLUE, ORANGE]),
    )
    bars = base.mark_bar().encode(x2="to:Q", tooltip=["from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")])
    marks = pd.DataFrame({"x": [low, score, high], "what": ["2.5 %", "whole set", "97.5 %"]})
    rules = alt.Chart(marks).encode(x="x:Q")
    dashes = dash_by("what:N", marks["what"], [[4, 3], [1, 0], [4, 3]])
    lines = rules.mark_rule(strokeWidth=2, color=INK).encode(strokeDash=dashes)
    below, above = (base.transform_filter(f"datum.side == {json.dumps(sides[1])}"),
                    base.transform_filter(f"datum.from >= {high}"))  # fmt: skip
    words = in_lines(sides, 7)
    sided = [name_points(below, "side", words=words, align="right", dx=12, dy=-34)
             .properties(name="names_below"),  # beside the rules, above the bars
             name_points(above, "side", words=words, align="left", dx=-8, dy=-34)]  # fmt: skip
    places = rules.mark_text(baseline="bottom", y=-3).encode(text="what:N")
    return titled(
        alt.layer(bars, lines, places, *sided),
        height=230,
        title=alt.Title(
            f"{names[1][:1].upper()}{names[1][1:]} is better on {100 * np.mean(values > 0):.1f}\u00a0% "
            "of the resampled test sets",
            offset=26,
        ),
        description=f"A histogram of {len(values)} resampled test sets: {names[1]} minus {names[0]} is {score:.2f} "
        f"BLEU on the whole test set, and lies between {low:.2f} and {high:.2f} in 95 % of the resampled ones.",
    )


def power_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """How often a difference shows on test sets of growing size; one line for each comparison.

    Parameters
    ----------
    rows
        Each with 'sentences', 'pair' and 'share': of the test sets of that size on which the better system won.
    """
    table = pd.DataFrame(rows)
    pairs, sizes = table["pair"].unique().tolist(), sorted(table["sentences"].unique().tolist())
    base = alt.Chart(table).encode(
        x=x_axis("sentences:Q", "sentences in the test set", type="log", nice=False, values=sizes, grid=False),
        y=y_axis("share:Q", "test sets on which it wins", zero=False, format="%"),
        color=colour_by("pair:N", pairs, [BLUE, ORANGE, GREEN]),
    )
    shape, tip = shape_by("pair:N", pairs), ["pair:N", "sentences:Q", "share:Q"]
    names = name_lines(base, "pair", words=in_lines(pairs, 16))
    rule = rule_at(alt.Y("y:Q"), 0.975, strokeDash=[4, 3], color=INK)
    return titled(
        alt.layer(*line_layers(base, shape=shape, tooltip=tip, line={"strokeWidth": 2.2}), rule, names),
        height=240,
        title=f"The better system wins more often on test sets of {table['sentences'].max():,} sentences "
        f"than of {table['sentences'].min():,}",
        description=f"For {' and '.join(pairs)}: the share of random test sets on which the better system wins, by "
        "their number of sentences. A dashed line marks 97.5 %.",
    )
