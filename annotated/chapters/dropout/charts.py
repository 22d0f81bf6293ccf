"""Charts of dropout: what it does to numbers, to training curves, and to Table 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.parameters import menu, slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREY, ORANGE, PALETTE

_RATES, _PLACES = "rates, as written", "0.3 at several places"


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
        If there is no vector, or p is not in [0, 0.9].
    """
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or not x.size:
        raise ValueError("values must be one vector")
    if not 0 <= p <= 0.9:
        raise ValueError(f"p must lie in [0, 0.9], not {p}")
    chance = np.random.default_rng(seed).random((draws, x.size)).round(3)
    table = pd.DataFrame({"i": range(1, x.size + 1), "x": x.round(3), "u": chance.T.tolist()})
    mode = alt.param(
        name="mode",
        value="training",
        bind=alt.binding_radio(options=["training", "evaluation"], name="mode "),
    )
    params = [slider("p", p, 0, 0.9, 0.05, label="rate p"), slider("draw", 1, 1, draws, label="draw"), mode]
    base = (
        alt.Chart(table)
        .transform_calculate(dropped="mode == 'training' && datum.u[draw - 1] < p")
        .transform_calculate(after="datum.dropped ? 0 : mode == 'training' ? datum.x / (1 - p) : datum.x")
    )
    ticks = alt.Axis(labelAngle=0, values=[1, *range(4, x.size + 1, 4)])
    place = alt.X("i:O", title="entry of the vector", axis=ticks)
    top = float(np.abs(x).max()) * 2.2
    scale = alt.Scale(domain=[-top, top], clamp=True, nice=False)
    y = alt.Y("after:Q", title="value", scale=scale)
    tip = ["i:O", alt.Tooltip("x:Q", title="before"), alt.Tooltip("after:Q", format=".3f")]
    bars = base.mark_bar(color=BLUE, opacity=0.75).encode(x=place, y=y, tooltip=tip)
    before = base.mark_tick(color=GREY, thickness=3).encode(x=place, y=alt.Y("x:Q", scale=scale), tooltip=tip)
    gone = base.transform_filter("datum.dropped").transform_calculate(zero="0")
    crosses = gone.mark_point(shape="cross", angle=45, size=90, color=ORANGE, filled=True).encode(
        x=place, y=alt.Y("zero:Q", scale=scale), tooltip=tip
    )
    description = (
        f"Bars: {x.size} entries of a vector after dropout. Grey ticks are the values before, orange crosses the "
        "dropped ones. Controls set the rate, choose another draw, and switch to evaluation, where nothing changes."
    )
    return (
        alt.layer(bars, before, crosses, _dropped_note(base, x.size))
        .add_params(*params)
        .properties(width="container", height=230, description=description)
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
    return note.mark_text(align="left", baseline="top", fontSize=12, lineBreak="\n").encode(
        x=alt.value(4), y=alt.value(4), text="text:N"
    )


def dropout_curves_chart(runs: Sequence[Mapping[str, Any]], *, block: int) -> alt.LayerChart:
    """Training and validation loss under several rates of dropout, or at several places; menus choose, a slider reads.

    Parameters
    ----------
    runs
        Of the record `dropout`: site, p, seed, train and valid.
    block
        Updates between two numbers of a curve.

    Raises
    ------
    ValueError
        If there are no runs.
    """
    if not runs:
        raise ValueError("there are no runs to draw")
    last = block * len(runs[0]["train"])
    group = menu("group", [_RATES, _PLACES], label="compare")
    measure = menu("measure", ["both", "training", "validation"], label="loss")
    at = slider("at", last, block, last, block, label="read at update")
    description = (
        f"Curves of {len(runs)} runs, a line for each seed: training loss dashed, validation loss solid. Menus choose "
        "whether rates or places are compared and which loss is shown; a slider reads the validation losses off at one "
        "update. Without dropout the training loss goes to zero while the validation loss turns and rises."
    )
    return (
        alt.layer(*_curve_layers(_curves(runs), block, last))
        .add_params(group, measure, at)
        .properties(width="container", height=330, description=description)
    )


def _curve_layers(table: pd.DataFrame, block: int, last: int) -> list[alt.Chart]:
    """A rule at the slider, the curves, and each one's reading there."""
    colour = _curve_colour(table)
    chart = (
        alt.Chart(table)
        .transform_filter("datum.group == group && (measure == 'both' || datum.measure == measure)")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["group", "name", "measure", "seed"])
        .transform_calculate(update=f"datum.step * {block}")
    )
    x = alt.X(
        "update:Q",
        title="updates",
        axis=alt.Axis(values=[*range(0, last + 1, 200)]),
        scale=alt.Scale(domain=[0, last * 1.45], nice=False),
    )
    y = alt.Y("loss:Q", title="loss without dropout (nats a token)", scale=alt.Scale(domain=[0, 6], clamp=True))
    dash = alt.StrokeDash(
        "measure:N",
        scale=alt.Scale(domain=["training", "validation"], range=[[4, 3], [1, 0]]),
        legend=alt.Legend(orient="top", title=None),
    )
    lines = chart.mark_line(strokeWidth=1.8).encode(
        x=x, y=y, color=colour, strokeDash=dash, detail="seed:N",
        tooltip=["name:N", "measure:N", "seed:N", "update:Q", "loss:Q"],
    )  # fmt: skip
    here = chart.transform_filter("datum.update == at").transform_aggregate(
        loss="mean(loss)", groupby=["name", "measure", "update"]
    )
    points = here.mark_point(filled=True, size=60).encode(x=x, y=y, color=colour)
    labels = here.transform_filter("datum.measure == 'validation' || measure == 'training'").transform_calculate(
        text="datum.name + ': ' + format(datum.loss, '.2f')"
    )
    words = labels.mark_text(align="left", dx=8, fontSize=11, fontWeight="bold").encode(
        x=x, y=y, text="text:N", color=colour
    )
    rule = alt.Chart(ONE_ROW).transform_calculate(update="at").mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x)
    return [rule, lines, points, words]


def _curves(runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each curve, whose losses are a list; a run may belong to both comparisons."""
    table = pd.DataFrame(runs).assign(name=[_curve_names(run) for run in runs]).explode("name", ignore_index=True)
    table[["group", "name"]] = table["name"].tolist()
    long = table.rename(columns={"train": "training", "valid": "validation"}).melt(
        ["group", "name", "seed"], ["training", "validation"], "measure", "loss"
    )
    return long.astype({"seed": str}).assign(loss=[[round(loss, 3) for loss in line] for line in long["loss"]])


def _curve_names(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The comparisons that a run is part of, and what it is called there."""
    written = run["site"] == "as written"
    names = [(_RATES, f"p = {run['p']:g}")] if written else []
    if run["p"] == 0.3 or (written and run["p"] == 0):
        names.append((_PLACES, "no dropout" if run["p"] == 0 else run["site"]))
    return names


def _curve_colour(table: pd.DataFrame) -> alt.Color:
    """The first of a comparison is grey, the others have the palette's colours."""
    colours: dict[str, str] = {}
    for group in (_RATES, _PLACES):
        names = table.loc[table["group"] == group, "name"].unique()
        colours |= dict(zip(names, (GREY, *PALETTE), strict=False))
    return alt.Color("name:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=None)


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
    params = [
        menu("setting", settings, label="vary"),
        alt.param(name="score", value="BLEU", bind=alt.binding_radio(options=["BLEU", "perplexity"], name="show ")),
    ]
    chart = (
        alt.Chart(table)
        .transform_filter("datum.setting == setting")
        .transform_calculate(
            shown="datum[score]", text="datum.row + ': ' + format(datum[score], score == 'BLEU' ? '.1f' : '.2f')"
        )
    )
    axis = alt.Axis(values=[0, 0.1, 0.2], format=".1f")
    x = alt.X("value:Q", title="rate", axis=axis, scale=alt.Scale(domain=[-0.05, 0.25], nice=False))
    y = alt.Y("shown:Q", title=None, scale=alt.Scale(zero=False, padding=26))
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
    title = alt.Title(alt.expr("score + (score == 'BLEU' ? ' (higher is better)' : ' (lower is better)')"))
    description = (
        "Three points of Table 3 at rates 0, 0.1 and 0.2, for dropout or label smoothing, as BLEU or perplexity; "
        "two controls choose. Without dropout BLEU is lower by more than one point."
    )
    return (
        alt.layer(lines, points, *words)
        .add_params(*params)
        .properties(width="container", height=200, title=title, description=description)
    )
