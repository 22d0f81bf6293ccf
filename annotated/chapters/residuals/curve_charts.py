"""Training curves to choose among: placements of the normalisation, and variants of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.chapters.residuals.charts import PLACEMENT_COLOURS, placement_colour
from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE, GREY, ORANGE

_WARM = ["with warm-up", "without"]


def placement_curves_chart(
    runs: Sequence[Mapping[str, Any]], *, block: int, top: float = 8.5, low: float = 2.5
) -> alt.LayerChart:
    """Training curves of the placements; menus choose placement, warm-up and seed.

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
    params = [
        menu("shown", ["all", *names], label="placement"),
        menu("warming", ["all", *_WARM], label="warm-up"),
        menu("chosen", ["all", *sorted(table["seed"].unique())], label="seed"),
    ]
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
        "y": alt.Y("loss:Q", title="training loss (nats a token)", scale=alt.Scale(domain=[low, top], clamp=True)),
        "detail": "seed:N",
        **placement_colour(names),
    }
    dash = alt.StrokeDash(
        "warm:N",
        sort=_WARM,
        scale=alt.Scale(domain=_WARM, range=[[1, 0], [5, 4]]),
        legend=alt.Legend(orient="top", columns=1),
    )
    lines = chart.mark_line(strokeWidth=1.8).encode(
        **encoding, strokeDash=dash, tooltip=["placement:N", "warm:N", "seed:N", "update:Q", "loss:Q"]
    )
    description = (
        f"Training curves, {len(runs)} in all: {', '.join(names)}, solid with warm-up and dashed without, one for each "
        "seed, with menus for placement, warm-up and seed. A line along the upper edge lies above it."
    )
    return alt.layer(lines).add_params(*params).properties(width="container", height=300, description=description)


def variant_curves_chart(runs: Sequence[Mapping[str, Any]], *, block: int, window: int = 3) -> alt.LayerChart:
    """Learning curves of some variants of a layer, a line for each seed; a slider chooses the last update shown.

    Parameters
    ----------
    runs
        Of the record `feed_forward_as_attention`: variant, seed and loss.
    block
        Updates that one number of a loss stands for.
    """
    table = pd.DataFrame(list(runs), columns=["variant", "seed", "loss"]).astype({"seed": str})
    even = np.ones(window) / window
    table["loss"] = [np.convolve(loss, even, mode="valid").round(3).tolist() for loss in table["loss"]]
    names = table["variant"].unique().tolist()
    last = block * len(runs[0]["loss"])
    first = slider("start", block * round(last / block / 2), 0, int(last * 0.8), block * 10, label="from update")
    chart = (
        alt.Chart(table)
        .transform_filter("variant == 'all' || datum.variant == variant")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["variant", "seed"])
        .transform_calculate(update=f"(datum.step + {window - 1}) * {block}")
        .transform_filter("datum.update > start")
    )
    lines = chart.mark_line(strokeWidth=1.6).encode(
        x=alt.X("update:Q", title="updates", scale=alt.Scale(zero=False)),
        y=alt.Y("loss:Q", title="training loss (nats a token)", scale=alt.Scale(zero=False)),
        color=alt.Color(
            "variant:N", sort=names, scale=alt.Scale(domain=names, range=[GREY, BLUE, ORANGE][: len(names)])
        ),
        strokeDash=alt.StrokeDash(
            "variant:N", sort=names, scale=alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]][: len(names)])
        ),
        detail="seed:N",
        tooltip=["variant:N", "seed:N", "update:Q", "loss:Q"],
    )
    description = (
        f"Learning curves of {', '.join(names)}, {len(runs)} lines, one for each seed, with a menu for the layer and a "
        "slider for the first update shown. The lines lie close together."
    )
    drawn = alt.layer(lines).add_params(menu("variant", ["all", *names], label="layer"), first)
    return drawn.properties(width="container", height=260, description=description)
