"""Charts of training and validation curves under dropout: rates and places compared, and three kinds switched on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE
from annotated_book.viz.titles import title_of

_RATES, _PLACES = "rates, as written", "0.3 at several places"
_LIST = 0.33
"""Nats between two lines of the list of readings."""
SWITCHES = {"residual": "residual", "attention": "attention weights", "symbol": "symbols"}
"""The kinds of `dropout.switched`, and what their switches are called."""


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
    return titled(
        alt.layer(*_curve_layers(_curves(runs), block, last)),
        menu("group", [_RATES, _PLACES], label="compare"),
        menu("measure", ["both", "training", "validation"], label="loss"),
        slider("at", last, block, last, block, label="read at update"),
        height=330,
        title=title_of(
            "measure",
            {
                "both": "Without dropout the validation loss (solid) turns and rises",
                "training": "Without dropout the training loss falls lowest",
                "validation": "Without dropout the validation loss turns and rises",
            },
        ),
        description=f"Curves of {len(runs)} runs, a line for each seed: training loss dashed, validation loss solid. "
        "Menus choose whether rates or places are compared and which loss is shown; a slider reads the losses at one "
        "update, listed from the highest to the lowest. Without dropout the training loss falls almost to zero while "
        "the validation loss turns and rises.",
    )


def _curve_layers(table: pd.DataFrame, block: int, last: int) -> list[alt.Chart]:
    """A rule at the slider, the curves, and their readings there, listed by size."""
    colour = _curve_colour(table)
    chart = (
        alt.Chart(table)
        .transform_filter("datum.group == group && (measure == 'both' || datum.measure == measure)")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["group", "name", "measure", "seed"])
        .transform_calculate(update=f"datum.step * {block}")
    )
    top = float(table["loss"].explode().astype(float).max())
    x = x_axis("update:Q", "updates", values=[*range(0, last + 1, 200)], domain=[0, last * 1.5], nice=False)
    y = y_axis("loss:Q", "loss (nats per token)", tickCount=6, domain=[0, top + 0.2])
    dash = dash_by("measure:N", ["training", "validation"], [[4, 3], [1, 0]])
    lines = chart.mark_line(strokeWidth=1.8).encode(
        x=x, y=y, color=colour, strokeDash=dash, detail="seed:N",
        tooltip=["name:N", "measure:N", "seed:N", "update:Q", "loss:Q"],
    )  # fmt: skip
    here = chart.transform_filter("datum.update == at").transform_aggregate(
        loss="mean(loss)", groupby=["name", "measure", "update"]
    )
    points = here.mark_point(filled=True, size=60).encode(x=x, y=y, color=colour)
    listed = (
        here.transform_filter("datum.measure == 'validation' || measure == 'training'")
        .transform_window(place="row_number()", sort=[alt.SortField("loss", order="descending")])
        .transform_calculate(
            text="datum.name + ': ' + format(datum.loss, '.2f')",
            update=str(last * 1.03),
            loss=f"{top} - {_LIST} * datum.place",
        )
    )
    words = listed.mark_text(align="left", fontSize=12, fontWeight="bold").encode(x=x, y=y, text="text:N", color=colour)
    return [rule_at(x, "at", color=GREY, strokeDash=[3, 3]), lines, points, words]


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
    return colour_by("name:N", colours)


def switches_chart(runs: Sequence[Mapping[str, Any]], *, block: int, on: Sequence[str] = ()) -> alt.LayerChart:
    """Curves of a training with the kinds of dropout that the reader switches on; all others stand behind it in grey.

    Parameters
    ----------
    runs
        Of the record `dropout/switched`: on, seed, train and valid.
    block
        Updates between two numbers of a curve.
    on
        The kinds that are on at first.

    Raises
    ------
    ValueError
        If a combination is missing, or a kind is unknown.
    """
    kinds = list(SWITCHES)
    if unknown := set(on) - set(kinds):
        raise ValueError(f"kinds are {', '.join(kinds)}, not {', '.join(sorted(unknown))}")
    table = pd.DataFrame(runs).assign(code=[sum(2 ** kinds.index(kind) for kind in run["on"]) for run in runs])
    if set(table["code"]) != set(range(2 ** len(kinds))):
        raise ValueError("a combination of the kinds is missing")
    last = block * len(runs[0]["train"])
    best = {int(code): min(min(line) for line in group) for code, group in table.groupby("code")["valid"]}
    code = " + ".join(f"({kind}_on ? {2**i} : 0)" for i, kind in enumerate(kinds))
    boxes = [
        alt.param(name=f"{kind}_on", value=kind in on, bind=alt.binding_checkbox(name=label + " "))
        for kind, label in SWITCHES.items()
    ]
    below = f"format(100 * (1 - lowest / {best[0]}), '.0f') + ' % below {best[0]:.2f} without dropout'"
    title = f"['Lowest validation loss: ' + format(lowest, '.2f'), code == 0 ? '(without dropout)' : {below}]"
    lowest = pd.DataFrame({"code": list(best), "lowest": list(best.values())}).set_index("code")["lowest"].sort_index()
    fewest = min(best, key=lambda key: best[key])
    names = " and ".join(SWITCHES[kind] for i, kind in enumerate(kinds) if fewest >> i & 1)
    return titled(
        alt.layer(*_switched_layers(table, block, last)),
        *boxes,
        alt.param(name="code", expr=code),
        alt.param(name="lowest", expr=f"{lowest.round(3).tolist()}[code]"),
        height=300,
        title=alt.expr(title),
        description=f"Training loss and validation loss over {last} updates, and a switch for each kind of dropout. "
        f"All combinations are grey, the chosen one is coloured. The lowest validation loss is {best[0]:.2f} without "
        f"dropout and {best[fewest]:.2f} with {names}.",
    )


def _switched_layers(table: pd.DataFrame, block: int, last: int) -> list[alt.Chart]:
    """All validation curves in grey, and both curves of the chosen combination."""
    long = table.rename(columns={"train": "training", "valid": "validation"}).melt(
        ["code", "seed"], ["training", "validation"], "measure", "loss"
    )
    top = float(long["loss"].explode().astype(float).max())
    chart = (
        alt.Chart(long)
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["code", "measure", "seed"])
        .transform_calculate(update=f"datum.step * {block}")
    )
    x = x_axis("update:Q", "updates", domain=[0, last], nice=False, values=[*range(0, last + 1, 200)])
    y = y_axis("loss:Q", "loss (nats per token)", domain=[0, top + 0.2])
    others = (
        chart.transform_filter("datum.measure == 'validation'")
        .mark_line(color=GREY, strokeWidth=0.8, opacity=0.5)
        .encode(x=x, y=y, detail=["code:N", "seed:N"])
    )
    names = ["training", "validation"]
    chosen = chart.transform_filter("datum.code == code").encode(
        x=x, y=y, color=colour_by("measure:N", names, [ORANGE, BLUE])
    )
    lines = chosen.mark_line(strokeWidth=2.6).encode(
        detail="seed:N",
        strokeDash=dash_by("measure:N", names, [[5, 3], [1, 0]]),
        tooltip=["measure:N", "seed:N", "update:Q", "loss:Q"],
    )
    lowest = (
        chart.transform_filter("datum.code == code && datum.measure == 'validation'")
        .transform_window(rank="row_number()", sort=[alt.SortField("loss")])
        .transform_filter("datum.rank == 1")
        .mark_point(filled=True, size=90, opacity=1, color=GREEN)
        .encode(x=x, y=y)
    )
    return [others, lines, lowest, name_lines(chosen, "measure")]
