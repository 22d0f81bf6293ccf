"""Chart of the engines of the serving page: speed, memory and start, one quantity at a time."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import x_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREY, INK
from annotated_book.viz.titles import title_of

QUANTITIES = {
    "rate": ("sentences, all in one call", "per CPU second", "translates the most sentences", "as many as"),
    "single": ("sentences, one per call", "per CPU second", "translates the most sentences", "as many as"),
    "peak": ("memory", "MB at the peak", "needs the least memory", "as much as"),
    "ready": ("start", "CPU seconds", "starts with the least CPU time", "as much as"),
}
"""What is measured, by the column that holds it: its name in the menu, its unit, and what a title says of the best."""
_ROW = 46  # pixels for each engine


def engines_chart(measured: pd.DataFrame) -> Any:
    """Bars of the engines, for a quantity that the reader chooses; the first engine is the one compared with.

    Parameters
    ----------
    measured
        A row for each engine, whose name is the index, with the columns of `QUANTITIES`.

    Raises
    ------
    ValueError
        If there are fewer than two engines, or a column is missing.
    """
    missing = [name for name in QUANTITIES if name not in measured]
    if len(measured) < 2 or missing:
        raise ValueError(f"two engines or more are needed, and the columns {missing}")
    first = measured.index[0]
    names = [name for name, *_ in QUANTITIES.values()]
    table = pd.DataFrame(
        {"engine": engine, "quantity": name, "value": float(row[key]), "unit": unit, "first": engine == first}
        for engine, row in measured.iterrows()
        for key, (name, unit, *_) in QUANTITIES.items()
    )  # fmt: skip
    base = alt.Chart(table).transform_filter("datum.quantity === quantity")
    engine = alt.Y("engine:N", sort=list(measured.index), axis=None)
    value = x_axis("value:Q", None, tickCount=4, nice=True, zero=True)
    bars = base.mark_bar(height=18, yOffset=9).encode(
        x=value,
        y=engine,
        color=alt.condition("datum.first", alt.value(GREY), alt.value(BLUE)),
        tooltip=["engine", alt.Tooltip("quantity", title="measured"), alt.Tooltip("value", format=",.2f")],
    )
    text = "datum.engine + ': ' + format(datum.value, datum.value < 10 ? '.2f' : ',.0f') + ' ' + datum.unit"
    label = (
        base.transform_calculate(label=text)
        .mark_text(align="left", dy=-11, fontSize=12, color=INK)
        .encode(x=alt.datum(0), y=engine, text="label:N")
    )
    return titled(
        alt.layer(bars, label),
        menu("quantity", names, label="show"),
        height=_ROW * len(measured),
        title=title_of("quantity", {name: headline(measured, key) for key, (name, *_) in QUANTITIES.items()}),
        description=_description(measured),
    )


def headline(measured: pd.DataFrame, quantity: str) -> str:
    """Which engine is best, and how it compares with the first: a title."""
    _, _, best_at, compared = QUANTITIES[quantity]
    values, most = measured[quantity].astype(float), best_at.endswith("most sentences")
    best, first = values.idxmax() if most else values.idxmin(), measured.index[0]
    if best == first:
        return f"{first} {best_at}"
    return f"{best} {best_at}, {values[best] / values[first]:.2g} times {compared} {first}"


def _description(measured: pd.DataFrame) -> str:
    parts = (f"{name}, {unit}: " + ", ".join(f"{engine} {value:.3g}" for engine, value in measured[key].items())
             for key, (name, unit, *_) in QUANTITIES.items())  # fmt: skip
    return "Bars for each engine. " + "; ".join(parts) + "."
