"""Audit of parameters: figure 1 with live counts, and Table 3 counted again.

The widget's JavaScript counts by the formula of `annotated.analysis.parameters.parameter_parts`, in a live notebook
and in the static pages of the book.

Paper: section 3, figure 1; Table 3
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import anywidget
import pandas as pd
import traitlets

from annotated.analysis.parameters import AuditRow, parameter_parts
from annotated.config import TABLE_3, ModelConfig, table_3
from annotated.paper import TABLE_3 as PRINTED
from annotated.viz.javascript import esm
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREY, ORANGE, slider

_HERE = Path(__file__).parent
_FIELDS = ("num_encoder_layers", "d_model", "d_ff", "num_heads", "d_k", "d_v", "vocab_size", "tie_embeddings")
_SAME = ("D1", "D2", "D3", "D4", "E1")  # rows whose boxes are the base model's; E1's positions have no box here


class ParameterFigure(anywidget.AnyWidget):
    """The widget; `parameter_figure` makes one.

    `sizes` holds the model that is counted, by the names of `ModelConfig` (`num_encoder_layers` is N, for both
    stacks), and may be set from Python in a live notebook; `total` is what it comes to.

    Paper: section 3, figure 1
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    rows = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)
    total = traitlets.Int(0).tag(sync=True)


def parameter_figure(row: str = "base", vocab_size: int | None = None) -> ParameterFigure:
    """Figure 1 with the number of parameters in each box, and controls for every size in it.

    Parameters
    ----------
    row
        The row of Table 3 to start from.
    vocab_size
        V; None for the default of `ModelConfig`.

    Raises
    ------
    ValueError
        If Table 3 has no such row, or the widget does not offer it because its boxes are another row's.

    Paper: section 3, figure 1; Table 3
    """
    if row in _SAME:
        raise ValueError(f"row {row} of Table 3 has the boxes of the base model: choose 'base'")
    config = table_3(row) if vocab_size is None else table_3(row, vocab_size=vocab_size)
    rows = [
        {
            "row": name,
            "change": PRINTED[name].change or "the base model",
            "printed": PRINTED[name].parameters,
            "sizes": {k: v for k, v in _sizes(table_3(name)).items() if k not in ("vocab_size", "tie_embeddings")},
        }
        for name in TABLE_3
        if name not in _SAME
    ]
    return ParameterFigure(rows=rows, sizes=_sizes(config), total=sum(parameter_parts(config).values()))


def _sizes(config: ModelConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in _FIELDS}


def audit_chart(rows: Sequence[AuditRow], *, vocab_size: int = ModelConfig.vocab_size) -> alt.LayerChart:
    """For each row of Table 3, the vocabularies that give its printed count; a slider moves one through them.

    Parameters
    ----------
    rows
        As `annotated.analysis.parameters.audit_table_3` returns them.
    vocab_size
        Where the slider starts.

    Paper: Table 3, last column; section 5.1
    """
    if not rows:
        raise ValueError("there is no row to draw")
    table = pd.DataFrame(rows).assign(change=[PRINTED[row.row].change or "base" for row in rows])
    order = [row.row for row in rows]
    low = 500 * ((min(r.low for r in rows) - 1000) // 500)
    high = 500 * ((max(r.high for r in rows) + 3900) // 500)
    count = "(datum.body + vocabulary * datum.d_model) / 1e6"
    base = (
        alt.Chart(table)
        .transform_calculate(fits="vocabulary >= datum.low && vocabulary <= datum.high", count=count)
        .transform_calculate(
            label=f"format({count}, '.1f') + (datum.fits ? ' = ' : ' ≠ ') + datum.printed",
            verdict="datum.fits ? 'rounds to the printed number' : 'does not'",
        )
    )
    y = alt.Y("row:N", sort=order, title="row of Table 3")
    span = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("low:Q", scale=span, title="entries of the vocabulary", axis=alt.Axis(format="~s", tickCount=5))
    tooltip = ["row:N", "change:N", "printed:Q", "low:Q", "high:Q", alt.Tooltip("count:Q", format=".2f")]
    verdicts = ["rounds to the printed number", "does not"]
    colour = alt.Color("verdict:N", scale=alt.Scale(domain=verdicts, range=[BLUE, ORANGE]))
    bars = base.mark_bar(height=12, cornerRadius=2).encode(x=x, x2="high:Q", y=y, color=colour, tooltip=tooltip)
    labels = base.mark_text(align="right", fontSize=11, dx=-2).encode(x=alt.value("width"), y=y, text="label:N")
    here = (
        alt.Chart(ONE_ROW)
        .transform_calculate(v="vocabulary")
        .mark_rule(color=GREY, strokeWidth=2, strokeDash=[5, 3])
        .encode(x=alt.X("v:Q", scale=span))
    )
    description = (
        "For each row of Table 3 a bar over the sizes of the vocabulary that make the parameter count round to the "
        "printed millions, with a slider for the size. Ten bars share a narrow strip near 41,000; the bar of the big "
        "model ends below 37,000. Beside each row stand the computed and the printed count."
    )
    return (
        alt.layer(bars, here, labels)
        .add_params(slider("vocabulary", vocab_size, low, high - 3500, 100))
        .properties(width="container", height=26 * len(rows), title=_rows_that_fit(rows), description=description)
    )


def _rows_that_fit(rows: Sequence[AuditRow]) -> alt.Title:
    """A title that counts the rows whose printed number fits the slider's vocabulary."""
    fits = " + ".join(f"(vocabulary >= {r.low} && vocabulary <= {r.high} ? 1 : 0)" for r in rows)
    return alt.Title(alt.expr(f"format(vocabulary, ',') + ' entries: ' + ({fits}) + ' of {len(rows)} rows fit'"))
