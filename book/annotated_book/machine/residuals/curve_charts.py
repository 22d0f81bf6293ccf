"""Training curves to choose among: placements of the normalisation, and variants of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.machine.residuals.charts import PLACEMENT_COLOURS, placement_colour
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREEN, ORANGE

_WARM = ["with warm-up", "without"]


def placement_curves_chart(
    runs: Sequence[Mapping[str, Any]], *, block: int, top: float = 8.5, low: float = 2.5
) -> alt.LayerChart:
    """Training curves of the placements, first of one seed; menus choose placement, warm-up and seed.

    Parameters
    ----------
    runs
        Of the record `residuals`: placement, warmup, seed and loss.
    block
        Updates that one number of a loss stands for.
    top, low
        Ends of the vertical axis, in nats; a line that lies beyond runs along the edge.
    """
    table = pd.DataFrame(list(runs), columns=["placement", "warmup", "seed", "loss"])
    table = table.assign(warm=np.where(table.pop("warmup") > 0, *_WARM), seed=table["seed"].astype(str))
    names = [name for name in PLACEMENT_COLOURS if name in set(table["placement"])]
    seeds = sorted(table["seed"].unique())
    chart = (
        alt.Chart(table)
        .transform_filter("shown == 'all' || datum.placement == shown")
        .transform_filter("warming == 'all' || datum.warm == warming")
        .transform_filter("chosen == 'all' || datum.seed == chosen")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["placement", "warm", "seed"])
        .transform_calculate(update=f"datum.step * {block}")
    )
    encoding = {
        "x": alt.X("update:Q", title="updates"),
        "y": y_axis("loss:Q", "training loss (nats per token)", domain=[low, top], clamp=True),
        "detail": "seed:N",
        **placement_colour(names),
    }
    dash = dash_by("warm:N", _WARM, [[1, 0], [5, 4]], legend=alt.Legend(orient="top", columns=1))
    lines = chart.mark_line(strokeWidth=1.8).encode(
        **encoding, strokeDash=dash, tooltip=["placement:N", "warm:N", "seed:N", "update:Q", "loss:Q"]
    )
    return titled(
        alt.layer(lines),
        menu("shown", ["all", *names], label="placement"),
        menu("warming", ["all", *_WARM], label="warm-up"),
        menu("chosen", ["all", *seeds], seeds[0], label="seed"),
        height=320,
        title="Pre-norm learns fastest; without residuals hardly anything is learned",
        description=f"Training curves, {len(runs)} in all: {', '.join(names)}, solid with warm-up and dashed "
        "without, one for each seed, with menus for placement, warm-up and seed. A line along the upper edge lies "
        "above it.",
    )


def variant_curves_chart(
    runs: Sequence[Mapping[str, Any]], names: Mapping[str, str], *, block: int, window: int = 3
) -> alt.LayerChart:
    """Learning curves of some variants of a layer, as differences from the first: mean of the seeds, and their band.

    Parameters
    ----------
    runs
        Of the record `feed_forward_as_attention`: variant, seed and loss.
    names
        What the reader calls each variant; the others are compared with the first, seed by seed.
    block
        Updates that one number of a loss stands for.
    window
        Neighbouring numbers of a loss that are averaged.
    """
    table = _variant_table(runs, names, window)
    first_name = next(iter(names.values()))
    known = [names[key] for key in names if names[key] in set(table["variant"])]
    last = block * len(runs[0]["loss"])
    step = 10 * block
    first = slider("start", step * (last // 2 // step), 0, step * (last * 4 // 5 // step), step, label="from update")
    chart = (
        alt.Chart(table)
        .transform_filter("variant == 'all' || datum.variant == variant")
        .transform_flatten(["mean", "low", "high"])
        .transform_window(step="row_number()", groupby=["variant"])
        .transform_calculate(update=f"(datum.step + {window - 1}) * {block}")
        .transform_filter("datum.update > start")
    )
    x = x_axis("update:Q", "updates", zero=False)
    legend = alt.Legend(orient="top", columns=1, labelLimit=300, symbolOpacity=1)
    colour = colour_by("variant:N", known, [BLUE, ORANGE, GREEN], legend=legend)
    title = "difference of the training loss (nats)"
    lines = chart.mark_line(strokeWidth=2.2).encode(
        x=x,
        y=y_axis("mean:Q", title, zero=False),
        color=colour,
        tooltip=["variant:N", "update:Q", "mean:Q", "low:Q", "high:Q"],
    )
    bands = chart.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q", color=colour)
    zero = rule_at(alt.Y("mean:Q"), 0, color="currentColor", opacity=0.7)
    return titled(
        alt.layer(bands, zero, lines),
        menu("variant", ["all", *known], label="layer"),
        first,
        height=280,
        title=f"From update 300 on both layers are a little behind the {first_name}, the line at zero",
        description=f"Learning curves of {', '.join(known)}, as differences from the {first_name}: the mean of the "
        "seeds, and a band from the lowest to the highest; a menu chooses the layer, a slider the first update shown.",
    )


def _variant_table(runs: Sequence[Mapping[str, Any]], names: Mapping[str, str], window: int) -> pd.DataFrame:
    """A row for each variant but the first: mean, lowest and highest difference from it, smoothed over `window`."""
    even = np.ones(window) / window
    base, *others = names
    zero = {run["seed"]: np.asarray(run["loss"]) for run in runs if run["variant"] == base}
    rows = []
    for key in others:
        name = names[key]
        losses = [
            np.convolve(np.asarray(run["loss"]) - zero[run["seed"]], even, mode="valid")
            for run in runs
            if run["variant"] == key
        ]
        if losses:
            drawn = {"mean": np.mean(losses, axis=0), "low": np.min(losses, axis=0), "high": np.max(losses, axis=0)}
            rows.append({"variant": name, **{column: line.round(3).tolist() for column, line in drawn.items()}})
    return pd.DataFrame(rows)
