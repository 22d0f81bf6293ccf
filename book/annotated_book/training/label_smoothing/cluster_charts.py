"""Chart of decoder outputs in the plane of three tokens, with and without label smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, shape_by, x_axis, y_axis
from annotated_book.viz.forms import titled


def clusters_chart(runs: Sequence[Mapping[str, Any]], tokens: Sequence[str]) -> alt.ConcatChart:
    """A picture for each strength, of the first seed: a dot for each output, coloured by the token that was right.

    Parameters
    ----------
    runs
        Of the record `label_smoothing/clusters`.
    tokens
        The names of the tokens, in the order of the dots.
    """
    first = [run for run in runs if run["seed"] == 0]
    reach = max(abs(x) for run in first for dots in run["dots"] for dot in dots for x in dot) * 1.05
    panels = [_panel(run, tokens, reach) for run in first]
    spreads = "; ".join(f"smoothing {run['smoothing']:g}, {run['spread']:.2f}" for run in first)
    return titled(
        alt.concat(
            *panels, columns=1, usermeta={"columns": 2}, title="With smoothing the outputs for one token lie closer together"
        ),
        description="Dots of decoder outputs in a plane, coloured by the right token, without and with label smoothing. "
        f"Distance within a token's outputs divided by the distance between tokens: {spreads}.",
    )


def _panel(run: Mapping[str, Any], tokens: Sequence[str], reach: float) -> alt.Chart:
    table = pd.DataFrame(
        [(token, x, y) for token, dots in zip(tokens, run["dots"], strict=True) for x, y in dots], columns=["token", "x", "y"]
    )
    scale: dict[str, Any] = {"domain": [-reach, reach], "nice": False, "tickCount": 5}
    legend = alt.Legend(title=None, orient="top")
    return (
        alt.Chart(table)
        .mark_point(filled=True, size=45, opacity=0.7)
        .encode(
            x=x_axis("x:Q", "first direction", **scale),
            y=y_axis("y:Q", "second direction", **scale),
            color=colour_by("token:N", list(tokens), legend=legend),
            shape=shape_by("token:N", list(tokens), ["circle", "triangle-up", "square"], legend=legend),
            tooltip=["token:N"],
        )
        .properties(width=270, height=270, title=f"smoothing {run['smoothing']:g}")
    )
