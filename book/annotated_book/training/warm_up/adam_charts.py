"""Charts of Adam: how its memory fills, and what its first updates are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from annotated_book.training.warm_up.adam import gradients_behind
from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import steps
from annotated_book.viz.tables import named_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

MOVED = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995)
"""Decay rates that the slider of `memory_chart` goes through."""
_DECAYS = [GREY, BLUE, GREEN, ORANGE]


def memory_chart(betas: Sequence[float] = (0.9, 0.98, 0.997, 0.999), *, last: int = 4000) -> alt.LayerChart:
    """How many gradients a moving average rests on after k updates, for some decay rates and one that a slider moves.

    The count is the effective sample size (sum w)^2 / sum w^2 of the weights w that the average gives its gradients:
    1 after the first update whatever beta is, and (1 + beta) / (1 - beta) in the end.

    Parameters
    ----------
    betas
        Decay rates to draw.
    last
        Updates to draw.
    """
    if not betas or not all(0 < beta < 1 for beta in betas):
        raise ValueError(f"decay rates lie between 0 and 1, not {list(betas)}")
    updates = sorted({round(last ** (i / 79)) for i in range(80)})
    lines = {f"β = {beta:g}": {k: gradients_behind(beta, k) for k in updates} for beta in betas}
    ticks = alt.Axis(format="~s", values=[1, 10, 100, 1000])
    x = x_axis("update:Q", "updates made", type="log", nice=False, axis=ticks)
    y = y_axis("gradients:Q", "gradients that the average is worth", type="log", axis=ticks)
    moved = (
        alt.Chart(pd.DataFrame({"update": updates}))
        .transform_calculate(
            gradients="(1 + beta) / (1 - beta) * (1 - pow(beta, datum.update)) / (1 + pow(beta, datum.update))"
        )
        .mark_line(strokeWidth=4, opacity=0.45, color=PALETTE[3])
        .encode(x=x, y=y)
    )
    title = (
        "['β = ' + beta + ': in the end worth ' + format((1 + beta) / (1 - beta), '.0f') + ' gradients',"
        " '(its weights add up to ' + format(1 / (1 - beta), '.0f') + ')']"
    )
    ends = ", ".join(f"{(1 + beta) / (1 - beta):.0f} for {beta:g}" for beta in betas)
    table = named_table(lines, "beta", "update", "gradients").round(3)
    base = alt.Chart(table).encode(x=x, y=y, color=colour_by("beta:N", list(lines), _DECAYS))
    dash = dash_by("beta:N", list(lines), [[2, 2], [1, 0], [8, 3], [5, 3]])
    drawn = base.mark_line(strokeWidth=2).encode(strokeDash=dash, tooltip=["beta:N", "update:Q", "gradients:Q"])
    return titled(
        alt.layer(moved, drawn, name_lines(base, "beta")),
        steps("place", [f"{beta:g}" for beta in MOVED], "0.98", label="β"),
        alt.param(name="beta", expr=f"{list(MOVED)}[place]"),
        height=240,
        title=alt.expr(title),
        description="How many gradients a moving average rests on against the updates made, on logarithmic axes. All "
        f"lines start at 1 and grow with the updates until they level off: at {ends}. A slider moves one more.",
    )


def first_updates_chart(measured: Mapping[str, Sequence[float]], updates: Sequence[int]) -> alt.LayerChart:
    """Something measured of Adam's step after each of its first updates, a line for each name.

    Parameters
    ----------
    measured
        By name, a share between 0 and 1 for each of `updates`.
    updates
        Numbers of the updates, from 1.
    """
    if any(len(line) != len(updates) for line in measured.values()):
        raise ValueError(f"each line needs {len(updates)} numbers, one for each update")
    table = pd.DataFrame(measured).assign(update=updates).melt("update", var_name="what").round(4)
    names, ticks = list(measured), [1, 2, 5, 10, 20, updates[-1]]
    encoding = {
        "x": x_axis("update:Q", "gradients that Adam has seen", type="log", nice=False, format="~s", values=ticks),
        "y": y_axis("value:Q", "size, or cosine", domain=[0, 1.2], nice=False, values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        "color": colour_by("what:N", names, [ORANGE, BLUE, GREEN]),
        "tooltip": ["what:N", "update:Q", alt.Tooltip("value:Q", format=".3f")],
    }
    shape = shape_by("what:N", names)
    base = alt.Chart(table).encode(**encoding)
    said = "; ".join(f"{name}: from {line[0]:.2f} to {line[-1]:.2f}" for name, line in measured.items())
    return titled(
        alt.layer(*line_layers(base, shape=shape, size=45), name_lines(base, "what", words=in_lines(names, 13))),
        height=220,
        title="The first step is the largest, and agrees least with other batches",
        description=f"Lines over the gradients that Adam has seen, 1 to {updates[-1]}. {said}.",
    )
