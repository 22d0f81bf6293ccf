"""Chart of the divisors in training: a panel for each width, a line for each divisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from annotated_book.viz.caption import captioned
from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREY, ORANGE

_COLOURS = (GREY, ORANGE, BLUE)
_DASHES = ([1, 0], [1, 0], [5, 3])


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
        names = [name.replace("d_k", "dₖ") for name in by_divisor]
        seeds = {name: dict(enumerate(runs)) for name, runs in zip(names, by_divisor.values(), strict=True)}
        table = curves_table(seeds, "divided by", "seed", "step", "loss")
        table = table.assign(update=(table.pop("step") + 1) * every)
        count = len(names)
        colours, dashes = (alt.Scale(domain=names, range=list(each[:count])) for each in (_COLOURS, _DASHES))
        chart = (
            alt.Chart(table)
            .mark_line(strokeWidth=1.6)
            .encode(
                x=x_axis("update:Q", "updates", values=[0, 100, 200, 300]),
                y=y_axis("loss:Q", "nats per token", domain=[0, 3], tickCount=4),
                color=alt.Color("divided by:N", sort=names, scale=colours),
                strokeDash=alt.StrokeDash("divided by:N", sort=names, scale=dashes),
                detail="seed:N",
                tooltip=["divided by:N", "seed:N", "update:Q", alt.Tooltip("loss:Q", format=".2f")],
            )
        )
        panels.append(chart.properties(width=300, height=120, title=f"dₖ = {d_k}"))
    joined = titled(
        alt.vconcat(*panels, usermeta={"fit": True}),
        title=alt.Title("Without the division, wide keys hardly learn", anchor="start"),
        description=f"Loss against updates in {len(panels)} panels, for the widths {', '.join(curves)}, with a line "
        "for each divisor and seed. Divided by the root of d_k, the loss falls alike at every width. Undivided, it "
        "falls later the larger d_k is.",
    )
    return captioned(joined, "One head learns to name the token two places back. A line is one of three seeds.")
