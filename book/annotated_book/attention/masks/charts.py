"""Charts of what masks let through: what a decoder's outputs depend on, and the loss on noise."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.tables import array_table, curves_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, PALETTE

RED = PALETTE[4]


def reach_chart(matrices: dict[str, ArrayLike], tokens: Sequence[str]) -> alt.LayerChart:
    """Which input each output of a decoder depends on, with a menu to compare decoders.

    Parameters
    ----------
    matrices
        `[T, T]` norms of d out_i / d in_j for each decoder, as `decoder_reach` returns them; shown
        as shares of their row. An exact zero is drawn as a dot.
    tokens
        The T tokens that the decoder reads.

    Raises
    ------
    ValueError
        If a matrix does not fit the tokens, or holds a negative number.
    """
    tables = {name: _shares(name, matrix, len(tokens)) for name, matrix in matrices.items()}
    names = list(matrices)
    axis = {"labelExpr": f"{json.dumps(list(tokens))}[datum.value]", "labelOverlap": False}
    cells = (
        alt.Chart(pd.concat(tables, names=["which"]).reset_index("which"))
        .transform_filter("datum.which == which")
        .encode(
            x=alt.X("j:O", title="input position j", axis=alt.Axis(**axis, labelAngle=-60)),
            y=alt.Y("i:O", title="output position i", axis=alt.Axis(**axis)),
            tooltip=[
                alt.Tooltip("i:O", title="output"),
                alt.Tooltip("j:O", title="input"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.08, 1]), legend=None)
    color = alt.condition("datum.j > datum.i", alt.value(RED), alt.value(BLUE))
    return titled(
        alt.layer(
            cells.transform_filter("!datum.zero")
            .mark_rect(stroke=GREY, strokeWidth=0.3)
            .encode(opacity=shade, color=color),
            cells.transform_filter("datum.zero").mark_circle(size=9, color=GREY, opacity=1, aria=False),
        ),
        menu("which", names, label="decoder"),
        height=24 * len(tokens),
        title=["Influence of each input on each output of the decoder"],
        description="A square table of how strongly each output position of a decoder depends on each input "
        f"position, with a menu of {len(names)} decoders: {', '.join(names)}. Dots are exact zeros. With the causal "
        "mask everything above the diagonal is a dot; without it every cell is filled.",
        caption="Norm of the derivatives of output i by input j, as a share of its row. Dots are exact zeros.",
    )


def _shares(name: str, matrix: ArrayLike, length: int) -> pd.DataFrame:
    """Each norm as a share of its row, and whether it is exactly zero."""
    array = np.asarray(matrix, dtype=np.float64)
    if array.shape != (length, length) or array.min() < 0:
        raise ValueError(f"'{name}' must hold [{length}, {length}] norms, not {list(array.shape)}")
    table = array_table(array / array.sum(axis=1, keepdims=True), "share", i=range(length), j=range(length))
    return table.round(4).assign(zero=array.ravel() == 0)


def noise_chart(losses: dict[str, Sequence[float]], floor: float) -> alt.LayerChart:
    """The loss on noise at each position, a line for each way to mask, over the floor of what noise allows.

    Parameters
    ----------
    losses
        For each mask, the loss in nats at positions 1 to T.
    floor
        ln V: the loss of an honest model of V equally likely tokens.
    """
    names = list(losses)
    table = curves_table(losses, "mask", "position", "loss", start=1).round({"loss": 4})
    base = alt.Chart(table).encode(
        x=x_axis("position:O", "position in the target", labelAngle=0),
        y=y_axis("loss:Q", "loss (nats per token)", domain=[0, 3.2]),
        color=colour_by("mask:N", names, [GREEN, RED, PALETTE[3], BLUE]),
        tooltip=["mask:N", "position:O", alt.Tooltip("loss:Q", format=".3f")],
    )
    text = f"ln {round(math.exp(floor))}: best possible without a leak"
    line = alt.Chart(pd.DataFrame({"y": [floor], "text": [text]})).encode(y="y:Q")
    return titled(
        alt.layer(
            line.mark_rule(strokeDash=[2, 3], color=GREY, strokeWidth=1.5),
            line.mark_text(align="left", dy=-14, x=6, fontSize=12).encode(text="text:N"),
            *line_layers(base, dash=dash_by("mask:N", names), shape=shape_by("mask:N", names), size=55),
            name_lines(base, "mask", at=1, dx=-6, dy=alt.ExprRef("datum.name_value > 2 ? 13 : -11")),
        ),
        height=230,
        title="A leaking decoder guesses only at the last position",
        description=f"Loss at each position for {len(names)} ways to mask: {', '.join(names)}. Honest masks stay at "
        f"the dashed floor of {floor:.2f} nats everywhere; masks that leak fall far below it, except at the last "
        "position, where there is no later token to copy from.",
        caption="Loss on noise at each of ten positions, means over three seeds.",
    )
