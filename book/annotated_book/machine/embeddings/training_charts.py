"""Chart of the trained ways in: with and without the factor, shared and separate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from annotated_book.machine.embeddings.experiment import EVERY, WAYS
from annotated_book.viz.channels import colour_by, x_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import BLUE, ORANGE

NAMES = {
    "tied, with": "one matrix, with the factor (the paper)",
    "tied, without": "one matrix, without",
    "tied, without, positions divided": "one matrix, without, positions divided by √d",
    "separate, with": "three matrices, with the factor",
    "separate, without, longer rows": "three, without, rows √d times as long",
    "separate, without, longer rows, higher rate": "the same, learning rate of these rows × √d",
}
"""The ways of the record in words, in the order of the chart."""


def ways_chart(ways: Mapping[str, Mapping[str, Sequence[Sequence[float]]]], updates: int) -> alt.LayerChart:
    """A row for each way in, a dot for each seed's validation loss at the slider's update, a tick at their mean.

    Parameters
    ----------
    ways
        As recorded: for each way and seed, [update, validation loss] pairs.
    updates
        The last update, where the slider starts.
    """
    rows = [
        {
            "way": NAMES[name],
            "matrices": "one" if WAYS[name].tied else "three",
            "seed": seed,
            "update": update,
            "loss": loss,
        }
        for name in NAMES
        for seed, curve in ways[name].items()
        for update, loss in curve
    ]
    table, order = pd.DataFrame(rows), list(NAMES.values())
    final = table[table["update"] == updates].groupby("way")["loss"].mean()
    base = alt.Chart(table).transform_filter("datum.update == moment")
    y = alt.Y("way:N", sort=order, title=None, axis=alt.Axis(labels=False, ticks=False, domain=False))
    x = x_axis(
        "loss:Q", "validation loss (nats per token)", domain=[0, 7], nice=False, values=list(range(8)), format="d"
    )
    colour = colour_by("matrices:N", ["one", "three"], [ORANGE, BLUE])
    dots = base.mark_circle(size=80, opacity=0.85).encode(
        x=x, y=y, color=colour, tooltip=["way:N", "seed:N", alt.Tooltip("loss:Q", format=".3f")]
    )
    means = base.mark_tick(thickness=2, height=20, color="currentColor").encode(x=alt.X("mean(loss):Q"), y=y)
    words = base.transform_aggregate(mean="mean(loss)", groupby=["way"]).transform_calculate(
        text="datum.way + ': ' + format(datum.mean, '.2f')"
    )
    names = words.mark_text(align="left", baseline="bottom", dy=-10, fontSize=12).encode(
        x=alt.value(4), y=y, text="text:N"
    )
    return titled(
        alt.layer(dots, means, names),
        slider("moment", updates, EVERY, updates, EVERY, label="update"),
        height=54 * len(order),
        title="With one matrix, no factor and full positions the loss stays high",
        description="Rows of dots, one for each seed, of the validation loss of a small model with six ways in, with a "
        "slider for the update. Means at the end: " + "; ".join(f"{way}, {final[way]:.2f}" for way in order) + ".",
    )
