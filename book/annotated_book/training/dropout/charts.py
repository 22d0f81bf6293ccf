"""Charts of dropout: what it does to numbers, and what Table 3 says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREY, ORANGE

HIGHEST = 0.5
"""The largest rate that the reader can choose: what is kept is then doubled."""


def dropout_chart(values: ArrayLike, *, p: float = 0.1, draws: int = 6, seed: int = 0) -> alt.LayerChart:
    """A vector before and after dropout; a slider sets the rate, others the draw and the mode.

    Parameters
    ----------
    values
        A few numbers, one vector.
    p
        Where the slider for the rate starts.
    draws
        How many random draws there are to choose from.
    seed
        Of the draws.

    Raises
    ------
    ValueError
        If there is no vector, or p is above `HIGHEST`.
    """
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or not x.size:
        raise ValueError("values must be one vector")
    if not 0 <= p <= HIGHEST:
        raise ValueError(f"p must lie in [0, {HIGHEST}], not {p}")
    chance = np.random.default_rng(seed).random((draws, x.size)).round(3)
    table = pd.DataFrame({"i": range(1, x.size + 1), "x": x.round(3), "u": chance.T.tolist()})
    mode = alt.param(
        name="mode",
        value="training",
        bind=alt.binding_radio(options=["training", "evaluation"], name="mode "),
    )
    base = (
        alt.Chart(table)
        .transform_calculate(dropped="mode == 'training' && datum.u[draw - 1] < p")
        .transform_calculate(after="datum.dropped ? 0 : mode == 'training' ? datum.x / (1 - p) : datum.x")
    )
    place = x_axis("i:O", "entry of the vector", labelAngle=0, values=[1, *range(4, x.size + 1, 4)])
    top = float(np.abs(x).max()) * 1.05 / (1 - HIGHEST)
    scale = alt.Scale(domain=[-top, top], nice=False)
    y = alt.Y("after:Q", title="value", scale=scale)
    tip = ["i:O", alt.Tooltip("x:Q", title="before"), alt.Tooltip("after:Q", format=".3f")]
    bars = base.mark_bar(color=BLUE, opacity=0.75).encode(x=place, y=y, tooltip=tip)
    before = base.mark_tick(color=GREY, thickness=3).encode(x=place, y=alt.Y("x:Q", scale=scale), tooltip=tip)
    gone = base.transform_filter("datum.dropped").transform_calculate(zero="0")
    crosses = gone.mark_point(shape="cross", angle=45, size=90, color=ORANGE, filled=True).encode(
        x=place, y=alt.Y("zero:Q", scale=scale), tooltip=tip
    )
    return titled(
        alt.layer(bars, before, crosses, _dropped_note(base, x.size)),
        slider("p", p, 0, HIGHEST, 0.05, label="rate p"),
        slider("draw", 1, 1, draws, label="draw"),
        mode,
        height=230,
        title=alt.expr(
            "mode == 'evaluation' ? ['Evaluation: nothing is dropped,', 'and no entry changes'] : p == 0 ? "
            "['At rate 0 nothing is dropped,', 'and no entry changes'] : "
            "['Dropped entries are 0 (crosses);', 'the others grow (grey ticks: before)']"
        ),
        description=f"Bars: {x.size} entries of a vector after dropout. Grey ticks are the values before, orange "
        "crosses the dropped ones. Controls set the rate, choose another draw, and switch to evaluation, where "
        "nothing changes.",
    )


def _dropped_note(base: alt.Chart, size: int) -> alt.Chart:
    """How many entries are dropped, and the mean before and after, in words."""
    factor = "mode == 'training' ? format(1 / (1 - p), '.2f') : '1'"
    total = base.transform_calculate(lost="datum.dropped ? 1 : 0").transform_aggregate(
        was="mean(x)", now="mean(after)", lost="sum(lost)"
    )
    note = total.transform_calculate(
        text=f"datum.lost + ' of {size} dropped, the others times ' + ({factor})"
        " + ';\\nmean ' + format(datum.was, '.2f') + ' before, ' + format(datum.now, '.2f') + ' after'"
    )
    note = note.mark_text(align="left", baseline="top", fontSize=12, lineBreak="\n")
    return note.encode(x=alt.value(4), y=alt.value(4), text="text:N").properties(name="halo_note")


_SETTINGS = {"P_drop": "dropout", "eps_ls": "label smoothing"}


def _without(table: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What each score is at the smallest value of a setting, against the next one, in words."""
    said: dict[str, dict[str, str]] = {}
    for setting, rows in table.sort_values("value").groupby("setting"):
        said[str(setting)] = {}
        for score, digits in (("BLEU", 1), ("perplexity", 2)):
            gain = rows[score].iloc[0] - rows[score].iloc[min(1, len(rows) - 1)]
            name, how = _SETTINGS.get(str(setting), setting), "lower" if gain < 0 else "higher"
            said[str(setting)][score] = f"Without {name}, {score} is {abs(gain):.{digits}f} {how}"
    return said


def regularisation_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Table 3's group D: BLEU or perplexity against the rate of dropout or of label smoothing; menus choose both.

    Parameters
    ----------
    rows
        `setting` ('P_drop' or 'eps_ls'), `value`, `BLEU`, `perplexity` and `row`.
    """
    if not rows:
        raise ValueError("there is nothing to draw")
    table = pd.DataFrame(rows)
    settings = table["setting"].unique().tolist()
    chart = (
        alt.Chart(table)
        .transform_filter("datum.setting == setting")
        .transform_calculate(
            shown="datum[score]", text="datum.row + ': ' + format(datum[score], score == 'BLEU' ? '.1f' : '.2f')"
        )
    )
    axis = alt.Axis(values=[0, 0.1, 0.2], format=".1f")
    x = x_axis("value:Q", "rate of dropout, or strength of smoothing", axis=axis, domain=[-0.05, 0.25], nice=False)
    y = y_axis("shown:Q", None, zero=False, padding=26)
    lines = chart.mark_line(color=GREY, strokeDash=[4, 3]).encode(x=x, y=y)
    tip = ["row:N", "value:Q", "shown:Q"]
    points = chart.mark_point(filled=True, size=110, color=BLUE).encode(x=x, y=y, tooltip=tip)
    # The lowest point has its label below: above it, lines to its neighbours would cross it.
    ranked = chart.transform_joinaggregate(least="min(shown)")
    words = [
        ranked.transform_filter(f"datum.shown {which} datum.least")
        .mark_text(dy=dy, fontWeight="bold")
        .encode(x=x, y=y, text="text:N")
        for which, dy in ((">", -14), ("==", 16))
    ]
    said = json.dumps(_without(table))
    title = alt.Title(
        alt.expr(
            f"[{said}[setting][score], score == 'BLEU' ? '(development set, higher is better)'"
            " : '(development set, lower is better)']"
        )
    )
    return titled(
        alt.layer(lines, points, *words),
        menu("setting", settings, label="vary"),
        alt.param(name="score", value="BLEU", bind=alt.binding_radio(options=["BLEU", "perplexity"], name="show ")),
        height=200,
        title=title,
        description="Three points of Table 3 at rates 0, 0.1 and 0.2, for dropout or label smoothing, as BLEU or "
        "perplexity; two controls choose. Without dropout BLEU is lower by more than one point.",
    )
