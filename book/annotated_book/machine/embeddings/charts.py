"""Charts of embeddings: the balance of word and place, and the unused direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import GREY
from annotated_book.viz.titles import title_expression

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def balance_chart(widths: Sequence[int] = (64, 128, 512, 1024), *, exponent: float = 0.5) -> alt.LayerChart:
    """The word's share of the squared length of word + place, by the factor d_model ** exponent; a slider moves it.

    A row of the table has length 1 at initialisation, a sinusoid's encoding sqrt(d_model / 2); the two are nearly at
    right angles, so that squared lengths add.

    Parameters
    ----------
    widths
        Up to four values of d_model.
    exponent
        Where the slider starts.
    """
    if not 1 <= len(widths) <= len(_DASHES):
        raise ValueError(f"between one and {len(_DASHES)} widths, not {len(widths)}")
    names = [f"d_model {widths[0]}", *(str(width) for width in widths[1:])]
    table = pd.DataFrame({"d": widths, "width": names})
    grid = [np.linspace(0, 1, 41).round(3).tolist()] * len(table)
    share = "pow(datum.d, 2 * datum.power) / (pow(datum.d, 2 * datum.power) + datum.d / 2)"
    lines = alt.Chart(table.assign(power=grid)).transform_flatten(["power"]).transform_calculate(share=share)
    label = "p: the factor is d_model to the power p"
    x = x_axis("power:Q", label, tickCount=5, domain=[0, 1])
    y = y_axis("share:Q", "share of the word in the sum", format="%", domain=[0, 1])
    colour = colour_by("width:N", names)
    dash = dash_by("width:N", names, _DASHES)
    chosen = (
        alt.Chart(table)
        .transform_calculate(power="exponent")
        .transform_calculate(share=share)
        .encode(x=x, y=y, color=colour, tooltip=["width:N", alt.Tooltip("share:Q", format=".1%")])
    )
    return titled(
        alt.layer(
            lines.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour, strokeDash=dash),
            rule_at(alt.X("power:Q"), "exponent", color=GREY, strokeDash=[4, 3]),
            chosen.mark_circle(size=90, opacity=1),
            name_lines(lines.encode(x=x, y=y, color=colour), "width", at=0.25, align="right"),
        ),
        slider("exponent", exponent, 0, 1, 0.05, label="power p"),
        height=240,
        title=_word_shares(widths[0], widths[-1]),
        description="The word's share of the sum of embedding and position, against the exponent of the factor, for "
        f"d_model {', '.join(map(str, widths))}, with a slider for the exponent. Every line passes through two "
        "thirds at exponent one half; below, the word's share falls with the width, above, it rises.",
    )


def _word_shares(first: int, last: int) -> alt.Title:
    """A title whose second line is the word's share at the slider's exponent, for two widths."""

    def share(d: int) -> str:
        return f"format(pow({d}, 2 * exponent) / (pow({d}, 2 * exponent) + {d} / 2), '.1%')"

    said = f"'word: ' + {share(first)} + ' at width {first}, ' + {share(last)} + ' at {last}'"
    return alt.Title(alt.expr(title_expression("'At p = 0.5 all widths have the same share'", said)))


def direction_chart(cosines: Mapping[str, ArrayLike], axis: str, *, step: float = 0.05) -> alt.LayerChart:
    """A strip of bins for each group of rows, the fuller the more rows, by how far they point in one direction.

    Parameters
    ----------
    cosines
        For each group, the cosine of each of its rows with the direction.
    axis
        What the direction is, for the title of the axis.
    step
        Width of a bin.
    """
    bins, means = {}, {}
    for group, values in cosines.items():
        array = np.asarray(values, dtype=np.float64)
        if array.size == 0 or np.abs(array).max() > 1 + 1e-6:
            raise ValueError(f"group {group!r} must hold cosines, between -1 and 1")
        means[group] = float(array.mean())
        bins[group] = pd.Series(np.floor(array / step)).value_counts(normalize=True).sort_index()
    table = pd.concat(bins, names=["group", "bin"]).reset_index(name="share")
    table = table.assign(**{"from": table["bin"] * step, "to": (table["bin"] + 1) * step}).drop(columns="bin").round(4)
    groups = list(cosines)
    x = x_axis("from:Q", f"cosine with {axis}", domain=[-0.4, 1], clamp=True, tickCount=7)
    y = alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labels=False, ticks=False, domain=False))
    colour = colour_by("group:N", groups)
    full = alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.08, 1]), legend=None)
    tooltip = ["group:N", "from:Q", "to:Q", alt.Tooltip("share:Q", title="share of rows", format=".1%")]
    strips = (
        alt.Chart(table).mark_rect(height=26).encode(x=x, x2="to:Q", y=y, color=colour, opacity=full, tooltip=tooltip)
    )
    named = pd.DataFrame({"group": groups, "mean": [means[group] for group in groups]})
    named["text"] = [f"{group}: mean {mean:.2f}" for group, mean in means.items()]
    rows = alt.Chart(named).encode(y=y)
    marks = rows.mark_tick(thickness=3, height=34, color="currentColor").encode(
        x=alt.X("mean:Q", title=f"cosine with {axis}")
    )
    words = rows.mark_text(align="left", baseline="bottom", dy=-19, fontSize=13).encode(x=alt.value(4), text="text:N")
    said = "; ".join(f"{group} {mean:.2f}" for group, mean in means.items())
    return titled(
        alt.layer(strips, marks, words),
        height=64 * len(groups),
        title="Rows of unused tokens point one way",
        description=f"Strips of the cosine of the rows with {axis}, a tick at each mean. Means: {said}.",
    )
