"""Charts of what training brings: letters right against updates, and at which position of the sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import line_layers, rule_at, titled
from annotated_book.viz.parameters import steps
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

COLOURS = {"without attention": BLUE, "with attention": ORANGE, "Transformer": GREEN}
"""One colour for each model, in all charts of the page; another width has the colour of its model."""


def learning_chart(points: Sequence[Mapping[str, Any]], chance: float) -> alt.LayerChart:
    """Share of letters right against the updates of the training, a line per model through the means of its seeds.

    Parameters
    ----------
    points
        Each with `model`, `updates`, `seed` and `letters`, a share.
    chance
        The accuracy of guessing.
    """
    table = pd.DataFrame(points)[["model", "updates", "seed", "letters"]]
    models = list(dict.fromkeys(table["model"]))
    means = table.groupby(["model", "updates"], sort=False)["letters"].mean().reset_index()
    colours = [COLOURS.get(model.split(",")[0], GREY) for model in models]
    across = [int(table["updates"].min()) / 1.2, 1.2 * int(table["updates"].max())]
    ticks = alt.Axis(values=[200, 400, 1000, 3000, 10_000], format=",d")
    x = x_axis("updates:Q", "updates in training", type="log", nice=False, domain=across, axis=ticks)
    y = y_axis("letters:Q", "letters right", format="%", domain=[0, 1])
    colour = colour_by("model:N", models, colours)
    shape = shape_by("model:N", models, ["circle", "square", "triangle-up", "diamond"])
    mean = alt.Chart(means).encode(x=x, y=y, color=colour)
    tip = ["model:N", "updates:Q", "seed:N", alt.Tooltip("letters:Q", format=".1%")]

    def side(right: Any, left: Any) -> Any:
        """A name is to the right of its end, but where a lower line goes on it is to the left."""
        on = f"datum.updates < {int(table['updates'].max())} && datum.name_value < 0.9"
        return alt.ExprRef(f"{on} ? {json.dumps(left)} : {json.dumps(right)}")

    chosen = alt.Chart(pd.DataFrame({"y": [chance], "t": ["guessing"]}))
    return titled(
        alt.layer(
            chosen.mark_rule(strokeDash=[2, 3], color=GREY).encode(y="y:Q"),
            chosen.mark_text(align="left", dy=-7).encode(x=alt.value(4), y="y:Q", text="t:N"),
            mean.mark_line(strokeWidth=2),
            alt.Chart(table)
            .mark_point(filled=True, size=60, opacity=0.85)
            .encode(x=x, y=y, color=colour, shape=shape, tooltip=tip),
            name_lines(mean, "model", words=in_lines(models, 12), align=side("left", "right"), dx=side(8, -10)),
        ),
        height=280,
        title="With attention 1,000 updates are enough; without it, 10,000 are not",
        description=(
            "Share of 20 letters copied right against the number of updates, on a logarithmic axis: "
            + "; ".join(f"{m.model} {m.letters:.0%} after {m.updates:,} updates" for m in means.itertuples())
            + "."
        ),
    )


def place_chart(curves: Mapping[str, Mapping[int, Sequence[float]]], chance: float) -> alt.LayerChart:
    """Share right at each position of the source, a line per measure, for the updates that a slider chooses.

    Parameters
    ----------
    curves
        For each measure, for each number of updates, one share per position.
    chance
        The accuracy of guessing.
    """
    measures, updates = list(curves), list(next(iter(curves.values())))
    table = pd.DataFrame(
        [
            {"measure": measure, "step": step, "position": position, "right": right}
            for measure, by_updates in curves.items()
            for step, shares in enumerate(by_updates.values())
            for position, right in enumerate(shares, 1)
        ]
    )
    chart = alt.Chart(table).transform_filter("datum.step == at")
    colour = colour_by("measure:N", measures, [ORANGE if m.startswith("with attention") else BLUE for m in measures])
    dash = dash_by("measure:N", measures, [[1, 0], [5, 4], [1, 0]])
    x = x_axis("position:Q", "position of the letter in the source", format="d", tickMinStep=1, nice=False)
    y = y_axis("right:Q", "letters right", format="%", domain=[0, 1])
    tip = ["measure:N", "position:Q", alt.Tooltip("right:Q", format=".0%")]
    base = chart.encode(x, y, colour)
    guess = rule_at(alt.Y("y:Q"), chance, strokeDash=[2, 3], color=GREY)
    titles = [f"Right by position, after {n:,} updates" for n in updates]
    return titled(
        alt.layer(
            guess,
            *line_layers(base, dash=dash, tooltip=tip, opacity=None),
            name_lines(base, "measure", words=in_lines(measures, 13)),
        ),
        steps("at", updates, updates[0], "updates in training"),
        height=260,
        title=alt.expr(f"{titles}[at]"),
        description=(
            "Share of the letters right at each position of the source: "
            + "; ".join(f"{measure}, first letter {list(by.values())[0][0]:.0%}" for measure, by in curves.items())
            + ". A slider chooses the number of updates."
        ),
    )
