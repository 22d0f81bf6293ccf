"""Training curves to choose among: placements of the normalisation, with and without warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.machine.residuals.charts import PLACEMENT_COLOURS, placement_colour
from annotated_book.viz.channels import dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu

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
        "x": x_axis("update:Q", "updates", nice=False),
        "y": y_axis("loss:Q", "training loss (nats per token)", domain=[low, top], clamp=True),
        **placement_colour(names),
    }
    dash = dash_by("warm:N", _WARM, [[1, 0], [5, 4]], legend=alt.Legend(orient="top", columns=1))
    drawn = chart.encode(**encoding)
    lines = drawn.mark_line(strokeWidth=1.8).encode(
        detail="seed:N", strokeDash=dash, tooltip=["placement:N", "warm:N", "seed:N", "update:Q", "loss:Q"]
    )
    return titled(
        alt.layer(lines, name_lines(drawn, "placement")),
        menu("shown", ["all", *names], label="placement"),
        menu("warming", ["all", *_WARM], label="warm-up"),
        menu("chosen", ["all", *seeds], seeds[0], label="seed"),
        height=320,
        title="Pre-norm learns fastest; without residuals hardly anything is learned",
        description=f"Training curves, {len(runs)} in all: {', '.join(names)}, solid with warm-up and dashed "
        "without, one for each seed, with menus for placement, warm-up and seed. A line along the upper edge lies "
        "above it.",
    )
