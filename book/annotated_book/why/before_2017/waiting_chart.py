"""Chart of who waits for whom: when each letter of the output can be computed, in products that follow one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from annotated_book.viz.channels import x_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE


def waiting_chart(ready: Mapping[str, Sequence[int]], *, start: int = 30) -> alt.LayerChart:
    """Which letters of the output are done after so many products in a row; a slider adds products.

    Parameters
    ----------
    ready
        For each model, the length of the chain of products that each letter of the output waits for.
    start
        Where the slider starts.

    Raises
    ------
    ValueError
        If the models differ in the number of letters.
    """
    if len({len(one) for one in ready.values()}) != 1:
        raise ValueError("all models must have one number of letters")
    models, longest = list(ready), max(max(one) for one in ready.values())
    table = curves_table(ready, "model", "letter", "chain", start=1)
    table = table.assign(last=table.groupby("model")["chain"].transform("max"))
    x = x_axis("letter:O", "letter of the output", labelAngle=0, ticks=False, labelOverlap="greedy", labelSeparation=5)
    y = alt.Y("model:N", sort=models, title=None, axis=None)
    chart = alt.Chart(table)
    shade = alt.condition("datum.chain <= done", alt.value(0.9), alt.value(0.08))
    tip = ["model:N", "letter:O", alt.Tooltip("chain:Q", title="done after products")]
    cells = chart.mark_rect(stroke=GREY, strokeWidth=0.4, height=16)
    # The colours of the models in all charts of the page.
    scale = alt.Scale(domain=models, range=[BLUE, ORANGE, GREEN][: len(models)])
    fill = alt.Fill("model:N", sort=models, scale=scale, legend=None)
    names = alt.Chart(table[table["letter"] == 1]).transform_calculate(
        text="datum.model + ': ' + "
        "(datum.last > done ? 'still computing' : 'all done after ' + datum.last + ' products')"
    )
    return titled(
        alt.layer(
            cells.encode(x=x, y=y, fill=fill, opacity=shade, tooltip=tip),
            names.mark_text(align="left", dy=-20).encode(x=alt.value(2), y=y, text="text:N"),
        ),
        slider("done", start, 0, longest, label="products"),
        height=52 * len(models),
        title=alt.expr("'After ' + done + ' matrix products in sequence'"),
        description="A row of output letters for each model, shaded once the letter can be computed after the number "
        "of matrix products that a slider sets. All letters are done after "
        + "; ".join(f"{max(one)} products by {model}" for model, one in ready.items())
        + ".",
    ).configure_view(strokeOpacity=0)
