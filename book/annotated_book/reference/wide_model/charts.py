"""Chart of the page: each model on test text of its own, and on the sentences of strangers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import x_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.theme import BLUE, GREY, INK

OWN, STRANGERS = "own test text", "a stranger's sentences"
_ROW = 72  # pixels for each model


def two_tests_chart(models: Mapping[str, Mapping[str, Any]], half: str = "held_out") -> Any:
    """chrF of each model on two tests, joined by a line.

    Parameters
    ----------
    models
        As the record of the page has them.
    half
        Of the strangers' sentences.
    """
    rows = [
        {"model": f"{name} model", "test": test, "chrF": found["chrf"], "sentences": found["sentences"]}
        for name, about in models.items()
        for test, found in ((OWN, about["own"]), (STRANGERS, about[half]))
    ]
    table = pd.DataFrame(rows)
    base = alt.Chart(table)
    order = [f"{name} model" for name in models]
    y = alt.Y("model:N", sort=order, axis=None)
    x = x_axis("chrF:Q", "chrF", scale=alt.Scale(domain=[0, 100]))
    line = base.mark_line(color=GREY, strokeWidth=2).encode(x=x, y=y, detail="model:N")
    color = alt.condition(f"datum.test == '{OWN}'", alt.value(GREY), alt.value(BLUE))
    points = base.mark_point(filled=True, size=110, opacity=1).encode(
        x=x, y=y, color=color, tooltip=["model", "test", "chrF", "sentences"]
    )
    number = base.mark_text(dy=16, color=INK).encode(x=x, y=y, text=alt.Text("chrF:Q", format=".0f"))
    name = base.transform_filter(f"datum.test == '{OWN}'").mark_text(align="left", baseline="bottom", dy=-21, color=INK)
    names = name.encode(x=alt.value(4), y=y, text="model:N")
    first = base.transform_filter(f"datum.model == '{order[0]}'").mark_text(
        baseline="bottom", dy=-9, fontWeight=600, align=alt.expr(f"datum.test == '{OWN}' ? 'right' : 'center'")
    )
    tests = first.encode(x=x, y=y, text="test:N", color=color)
    return titled(
        alt.layer(line, points, number, names, tests),
        title="How well a model does depends on whose sentences it is asked",
        description="For each of three models its chrF on test text of its own, and on sentences of strangers.",
        height=_ROW * len(order),
    )
