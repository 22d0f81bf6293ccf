"""Training curves to choose among: placements of the normalisation, and variants of a layer.

Paper: sections 3.1, 5.3, early appendix
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from annotated.chapters.residuals.charts import PLACEMENT_COLOURS, placement_colour
from annotated.viz.theme import BLUE, GREY, ORANGE, slider


def placement_curves_chart(
    runs: Sequence[Mapping[str, Any]], *, block: int, top: float = 8.5, low: float = 2.5
) -> alt.LayerChart:
    """Training curves of the placements; menus choose placement, warm-up and seed.

    Parameters
    ----------
    runs
        Of the record `norm_placement`: placement, warmup, seed and loss.
    block
        Updates that one number of a loss stands for.
    top, low
        Ends of the vertical axis, in nats; a line that lies beyond runs along the edge.

    Paper: sections 3.1, 5.3
    """
    labels = {True: "with warm-up", False: "without"}
    rows = [
        {
            "placement": run["placement"],
            "warm": labels[run["warmup"] > 0],
            "seed": str(run["seed"]),
            "loss": run["loss"],
        }
        for run in runs
    ]
    names = [name for name in PLACEMENT_COLOURS if any(row["placement"] == name for row in rows)]
    seeds = sorted({row["seed"] for row in rows})

    def menu(name: str, options: list[str], label: str, value: str = "all") -> Any:
        return alt.param(name=name, value=value, bind=alt.binding_select(options=["all", *options], name=label + " "))

    params = [
        menu("shown", names, "placement"),
        menu("warming", list(labels.values()), "warm-up"),
        menu("chosen", seeds, "seed"),
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
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
        sort=list(labels.values()),
        scale=alt.Scale(domain=list(labels.values()), range=[[1, 0], [5, 4]]),
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
        Of the record `parameter_attention`: variant, seed and loss.
    block
        Updates that one number of a loss stands for.

    Paper: early appendix
    """
    rows = []
    for run in runs:
        smooth = np.convolve(run["loss"], np.ones(window) / window, mode="valid").round(3)
        rows.append({"variant": run["variant"], "seed": str(run["seed"]), "loss": smooth.tolist()})
    names = list(dict.fromkeys(row["variant"] for row in rows))
    last = block * len(runs[0]["loss"])
    pick = alt.param(name="variant", value="all", bind=alt.binding_select(options=["all", *names], name="layer "))
    first = slider("start", block * round(last / block / 2), 0, int(last * 0.8), block * 10, label="from update")
    chart = (
        alt.Chart(alt.Data(values=rows))
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
    return alt.layer(lines).add_params(pick, first).properties(width="container", height=260, description=description)
