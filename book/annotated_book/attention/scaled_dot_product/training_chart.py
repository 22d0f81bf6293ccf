"""Chart of the divisors in training: a panel for each width, a line for each divisor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import altair as alt

from annotated_book.viz.caption import captioned
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREY, ORANGE

_COLOURS = (GREY, ORANGE, BLUE)
_DASHES = ([1, 0], [1, 0], [5, 3])
_NAMED = ((200, "center", 0, 13), (80, "right", -8, 0), (100, "left", 10, 0))
"""For each divisor: the update at which its name is, on which side of it, and how many pixels from it."""


def training_chart(curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]], *, every: int) -> alt.VConcatChart:
    """Loss against updates, a thin line for each seed.

    Parameters
    ----------
    curves
        For each width d_k and each divisor, by name, the losses of several seeds.
    every
        How many updates a point stands for.
    """
    panels = []
    for d_k, by_divisor in curves.items():
        divisors = [name.replace("d_k", "dₖ") for name in by_divisor]
        seeds = {name: dict(enumerate(runs)) for name, runs in zip(divisors, by_divisor.values(), strict=True)}
        table = curves_table(seeds, "divisor", "seed", "step", "loss")
        table = table.assign(update=(table.pop("step") + 1) * every)
        base = alt.Chart(table).encode(
            x=x_axis("update:Q", "updates", values=[0, 100, 200, 300]),
            y=y_axis("loss:Q", "nats per token", domain=[0, 3], tickCount=4),
            color=colour_by("divisor:N", divisors, _COLOURS),
            tooltip=["divisor:N", "seed:N", "update:Q", alt.Tooltip("loss:Q", format=".2f")],
        )
        chart = base.mark_line(strokeWidth=1.6)
        chart = chart.encode(strokeDash=dash_by("divisor:N", divisors, _DASHES), detail="seed:N")
        chart = alt.layer(chart, _names(base, divisors)) if d_k == list(curves)[-1] else chart  # where they are apart
        panels.append(chart.properties(width=300, height=120, title=f"dₖ = {d_k}"))
    joined = titled(
        alt.vconcat(*panels, usermeta={"fit": True}),
        title=alt.Title("Without the division, wide keys hardly learn", anchor="start"),
        description=f"Loss against updates in {len(panels)} panels, for the widths {', '.join(curves)}, with a line "
        "for each divisor and seed. Divided by the root of d_k, the loss falls alike at every width. Undivided, it "
        "falls later the larger d_k is.",
    )
    return captioned(joined, "One head learns to name the token two places back. A line is one of three seeds.")


def _names(base: alt.Chart, divisors: Sequence[str]) -> alt.Chart:
    """The names: below the line that stays up, left of the first one that falls, and right of the second."""

    def look(column: int) -> str:
        return f"{json.dumps({name: row[column] for name, row in zip(divisors, _NAMED, strict=False)})}[datum.divisor]"

    at, align, dx, dy = (look(column) for column in range(4))
    return name_lines(
        base,
        "divisor",
        words="(datum.divisor == '1' ? 'divided by ' : 'by ') + datum.divisor",
        at=at,
        scale=None,
        align=alt.ExprRef(align),
        dx=alt.ExprRef(dx),
        dy=alt.ExprRef(dy),
    )
