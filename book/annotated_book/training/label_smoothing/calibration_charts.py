"""Charts of models trained with label smoothing: calibration, and what each strength costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREY, ORANGE
from annotated_book.viz.titles import title_of


def reliability_chart(
    runs: Sequence[Mapping[str, Any]], *, data: str, smoothing: float, beside: float
) -> alt.LayerChart:
    """How often the most probable token is right, against how probable the model calls it; menus choose two strengths.

    Parameters
    ----------
    runs
        Of the record `label_smoothing`: data, smoothing, seed, bins, ece.
    data, smoothing, beside
        What the menus start with: the training pairs, a strength, and another one to compare it with.

    Raises
    ------
    ValueError
        If there is no such run.
    """
    table = _measures(runs)
    strengths, sizes = sorted(table["e"].unique().tolist()), table["data"].unique().tolist()
    for strength in (smoothing, beside):
        if strength not in strengths or data not in sizes:
            raise ValueError(f"there is no run with smoothing {strength} on {data} pairs")
    mean = table.groupby(["data", "e"])["calibration error"].mean()
    errors = "; ".join(f"{size} pairs, epsilon {e:g}: {mean[size, e]:.3f}" for size in sizes for e in strengths)
    return titled(
        _reliability(runs, strengths),
        menu("epsilon", strengths, smoothing, "epsilon"),
        menu("beside", strengths, beside, "compared with"),
        menu("size", sizes, data, "training pairs"),
        height=300,
        title="Below the diagonal the model is too certain, above it too modest",
        description="The share of right tokens against the probability that the model gave them, for two values of "
        "epsilon, a dashed diagonal where share and probability agree, and menus for both values and for the "
        "training pairs. Below the diagonal the model is too certain, above it too modest. Mean calibration errors: "
        f"{errors}.",
    )


def _reliability(runs: Sequence[Mapping[str, Any]], strengths: Sequence[float]) -> alt.LayerChart:
    """The layers: a colour for each strength, a line and a form of marks for each seed."""
    table = pd.DataFrame(runs)[["data", "smoothing", "seed", "ece", "bins"]].explode("bins", ignore_index=True)
    tenths = pd.DataFrame(table.pop("bins").tolist(), columns=["said", "was", "tokens"])
    table = table.rename(columns={"smoothing": "e"}).assign(seed="seed " + table["seed"].astype(str)).join(tenths)
    both = "datum.data == size && (datum.e == epsilon || datum.e == beside)"
    chosen = alt.Chart(table).transform_filter(both)
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    x = x_axis("said:Q", "probability that the model gives its first choice", domain=[0, 1], axis=axis)
    y = y_axis("was:Q", "share of first choices that are right", domain=[0, 1], axis=axis)
    even = alt.Chart(pd.DataFrame({"said": [0, 1], "was": [0, 1]}))
    diagonal = even.mark_line(color=GREY, strokeDash=[5, 4]).encode(x=x, y=y)
    seeds = sorted(table["seed"].unique().tolist())
    colour = colour_by("e:N", strengths)
    lines = chosen.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, detail="seed:N")
    points = chosen.mark_point(filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        color=colour,
        shape=shape_by("seed:N", seeds),
        size=alt.Size(
            "tokens:Q",
            scale=alt.Scale(range=[20, 320]),
            legend=alt.Legend(orient="bottom", title="tokens in a tenth", values=[100, 1000], symbolFillColor=GREY),
        ),
        tooltip=["e:N", "seed:N", alt.Tooltip("said:Q", format=".1%"), alt.Tooltip("was:Q", format=".1%"), "tokens:Q"],
    )
    told = (
        chosen.transform_aggregate(low="min(ece)", high="max(ece)", groupby=["e"])
        .transform_window(line="row_number()", sort=[alt.SortField("e")])
        .transform_calculate(
            text="'epsilon ' + datum.e + ': ECE ' + format(datum.low, '.3f') + ' to ' + format(datum.high, '.3f')",
            y="1.01 - 0.07 * datum.line",
        )
        .mark_text(align="left", baseline="middle", fontSize=12, fontWeight="bold")
        .encode(x=alt.value(8), y=y_axis("y:Q", domain=[0, 1]), text="text:N", color=colour)
    )
    return alt.layer(diagonal, lines, points, told)


_SEEN = {
    "loss": "With few pairs, a little smoothing lowers the unsmoothed loss",
    "smoothed_loss": "The smoothed loss rises, because its floor does",
    "accuracy": "With few pairs, 0.1 and 0.2 raise the share of right tokens a little",
    "ece": "With many pairs smoothing worsens calibration, with few 0.1 improves it",
    "gap": "More smoothing makes the gap of the logits smaller",
    "beam_1": "Two seeds of one strength differ by up to 3.0 points",
    "beam_4": "Two seeds of one strength differ by up to 3.2 points",
}
"""What to see in each measure of the shipped runs, by its key."""
MEASURES = {
    "loss, not smoothed (nats)": "loss",
    "loss, smoothed (nats)": "smoothed_loss",
    "share of tokens right": "accuracy",
    "calibration error": "ece",
    "logit gap (median)": "gap",
    "BLEU, greedy": "beam_1",
    "BLEU, beam 4": "beam_4",
}


def strength_chart(runs: Sequence[Mapping[str, Any]], *, first: str = "loss, not smoothed (nats)") -> alt.LayerChart:
    """One measure of the models against the strength of smoothing, a line for each amount of data; a menu chooses.

    Parameters
    ----------
    runs
        Of the record `label_smoothing`.
    first
        The measure to begin with, a key of `MEASURES`.
    """
    if first not in MEASURES:
        raise ValueError(f"no measure {first!r}; there are {', '.join(MEASURES)}")
    table = _measures(runs)
    sizes, strengths = table["data"].unique().tolist(), sorted(table["e"].unique().tolist())
    data = table.melt(["data", "e", "seed"], list(MEASURES), "measure", "v")
    chosen = alt.Chart(data).transform_filter("datum.measure == measure")
    x = x_axis("e:Q", "strength of smoothing, epsilon", values=strengths, nice=False)
    scale = alt.Scale(zero=False)
    colour = colour_by("data:N", sizes, [BLUE, ORANGE])
    base = chosen.encode(x=x, y=alt.Y("mean(v):Q", title=None, scale=scale), color=colour)
    means = base.mark_line(strokeWidth=2).encode(strokeDash=dash_by("data:N", sizes))
    seeds = chosen.mark_point(filled=True, size=60, opacity=0.8).encode(
        x=x,
        y=alt.Y("v:Q", title=None, scale=scale),
        color=colour,
        shape=shape_by("data:N", sizes),
        tooltip=["data:N", "e:Q", "seed:Q", "v:Q"],
    )
    unit = (
        alt.Chart(ONE_ROW)
        .transform_calculate(text="measure")
        .mark_text(align="left", baseline="bottom", fontSize=12)
        .encode(x=alt.value(0), y=alt.value(-6), text="text:N")
    )
    mean = table.groupby(["data", "e"])[first].mean()
    said = "; ".join(f"{size} pairs: " + ", ".join(f"{mean[size, e]:.2f}" for e in strengths) for size in sizes)
    return titled(
        alt.layer(means, seeds, unit, name_lines(base, "data")),
        menu("measure", list(MEASURES), first, "show"),
        height=240,
        title=title_of("measure", {name: _SEEN[key] for name, key in MEASURES.items()}),
        description="A measure of the models against epsilon, a line through the means of the seeds for each amount "
        f"of training data, and a menu for the measure. {first}, from the smallest epsilon: {said}.",
    )


def _measures(runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each run: data, e and seed, and a column for each measure, under its title."""
    table = pd.DataFrame(runs).rename(columns={"smoothing": "e"})
    beams = {name: table[name].str["bleu"] for name in ("beam_1", "beam_4")}
    titles = {key: title for title, key in MEASURES.items()}
    return table.assign(**beams).rename(columns=titles)[["data", "e", "seed", *MEASURES]]
