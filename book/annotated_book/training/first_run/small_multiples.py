"""Four training runs, each in a picture of its own on one scale: its losses, and on demand what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.log_chart import Records, log_data
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import GREY, PALETTE

KINDS = ["training", "validation"]
TOP = 8.8
"""Of the axis of losses: above the curves there is room for two lines of text."""


def runs_beside_chart(runs: Mapping[str, Records], *, sentence: int = 0, title: str) -> alt.ConcatChart:
    """Each run's losses in its own colour, before the others' in grey, with a slider for their values.

    What each run writes, and its losses as numbers, tell the runs apart at once: they are hidden at
    first.

    Parameters
    ----------
    runs
        The records of each run, by name; as many as the palette has colours, with the same updates and sentences.
    sentence
        Which of the samples to show, from 0.
    title
        What to see.
    """
    data = {name: log_data(records, 120) for name, records in runs.items()}
    losses, said = (pd.concat([pd.DataFrame(one[part]).assign(run=name) for name, one in data.items()])
                    for part in ("log", "said"))  # fmt: skip
    losses, said = losses[losses["kind"].isin(KINDS)], said[said["i"] == sentence]
    start = next(r for r in next(iter(runs.values())) if r["kind"] == "start")["configuration"]["training"]
    panels = [
        _panel(name, losses, said, colour, start["updates"], first=not n)
        for n, (name, colour) in enumerate(zip(runs, PALETTE, strict=False))
    ]
    ends = losses.groupby(["run", "kind"], sort=False)["v"].last()
    description = (
        "Losses of four runs, training solid and validation dashed, with a slider, and a box to tick for what each run "
        "writes. At the end: "
        + "; ".join(
            f"run {name}, training {ends[name, 'training']:.2f}, validation {ends[name, 'validation']:.2f}"
            for name in runs
        )
    )
    moment = slider("moment", start["updates"], 0, start["updates"], start["log_every"], label="update")
    return titled(
        alt.concat(*panels, columns=1, spacing=14, usermeta={"columns": 2}, title=title),
        alt.param(name="writes", value=False, bind=alt.binding_checkbox(name="show numbers and what each run writes ")),
        moment,
        description=f"{description}.",
    )


def _panel(
    name: str, losses: pd.DataFrame, said: pd.DataFrame, colour: str, updates: int, first: bool
) -> alt.LayerChart:
    """One run before the others; the lines of the first are named."""
    x = x_axis("u:Q", "update", domain=[0, updates], nice=False, tickCount=5)
    y = y_axis("v:Q", "loss (nats per token)", domain=[0, TOP], nice=False, values=[0, 2, 4, 6])
    dash = dash_by("kind:N", KINDS, [[1, 0], [5, 3]])
    others = alt.Chart(losses[losses["run"] != name]).mark_line(color=GREY, strokeWidth=1, opacity=0.35).encode(
        x=x, y=y, strokeDash=dash, detail="run:N"
    )  # fmt: skip
    base = alt.Chart(losses[losses["run"] == name]).encode(x=x, y=y, color=alt.value(colour))
    own = base.mark_line(strokeWidth=2.4).encode(
        strokeDash=dash, tooltip=["kind:N", "u:Q", alt.Tooltip("v:Q", format=".3f")]
    )
    rule = rule_at(alt.X("u:Q"), "moment", color="currentColor", opacity=0.6)
    latest = _latest(losses[losses["run"] == name], "kind").transform_filter("writes")
    place = alt.X(value=6)
    latest_words = _latest(said[said["run"] == name], "run").transform_filter("writes")
    words = latest_words.transform_calculate(says=f"'{name} writes: ' + datum.text")
    text = words.mark_text(align="left", fontSize=13, fontWeight="bold", limit=285).encode(
        x=place, y=alt.YDatum(TOP - 0.55), text="says:N"
    )  # fmt: skip
    numbers = [
        latest.transform_filter(f"datum.kind == '{kind}'")
        .transform_calculate(says=f"'{kind} ' + format(datum.v, '.2f')")
        .mark_text(align="left", fontSize=12)
        .encode(x=alt.X(value=6 + 110 * n), y=alt.YDatum(TOP - 1.45), text="says:N")
        for n, kind in enumerate(KINDS)
    ]
    named = [name_lines(base, "kind", scale=None, align="right", dx=-4, dy=-10)] if first else []
    return alt.layer(others, own, rule, text, *numbers, *named).properties(width=290, height=190, title=f"Run {name}")


def _latest(rows: pd.DataFrame, by: str) -> Any:
    """The last row of each kind that is not later than the slider."""
    return (
        alt.Chart(rows)
        .transform_filter("datum.u <= moment")
        .transform_joinaggregate(last="max(u)", groupby=[by])
        .transform_filter("datum.u == datum.last")
    )
