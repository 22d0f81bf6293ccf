"""Audit of Table 3 as a chart: which vocabularies give the printed numbers of parameters."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from annotated.analysis.parameters import AuditRow
from annotated.config import ModelConfig
from annotated.paper import TABLE_3 as PRINTED
from annotated.viz.parameters import slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE


def audit_chart(rows: Sequence[AuditRow], *, vocab_size: int = ModelConfig.vocab_size) -> alt.LayerChart:
    """For each row of Table 3, the vocabularies that give its printed count; a slider moves one through them.

    Parameters
    ----------
    rows
        As `annotated.analysis.parameters.audit_table_3` returns them.
    vocab_size
        Where the slider starts.
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
            verdict="datum.fits ? 'fits' : 'does not fit'",
        )
    )
    y = alt.Y("row:N", sort=order, title="row of Table 3")
    span = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("low:Q", scale=span, title="entries of the vocabulary", axis=alt.Axis(format="~s", tickCount=5))
    tooltip = ["row:N", "change:N", "printed:Q", "low:Q", "high:Q", alt.Tooltip("count:Q", format=".2f")]
    verdicts = ["fits", "does not fit"]
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
        "Lines mark 37,000 and 40,960 entries, and a strip what ten rows share. "
        "For each row of Table 3 a bar over the sizes of the vocabulary that make the parameter count round to the "
        "printed millions, with a slider for the size. Ten bars share a narrow strip near 41,000; the bar of the big "
        "model ends below 37,000. Beside each row stand the computed and the printed count."
    )
    return (
        alt.layer(*_found(rows, span), bars, here, labels)
        .add_params(slider("vocabulary", vocab_size, low, high - 3500, 20, label="entries of the vocabulary"))
        .properties(
            width="container",
            height=27 * len(rows),
            title=_rows_that_fit(rows),
            description=description,
        )
    )


def _found(rows: Sequence[AuditRow], span: alt.Scale) -> list[alt.Chart]:
    """The vocabulary of the text, that of the released code, and the strip that all rows but the big one share."""
    ten = [row for row in rows if row.row != "big"]
    strip = pd.DataFrame({"low": [max(row.low for row in ten)], "high": [min(row.high for row in ten)]})
    named = pd.DataFrame({"low": [37_000, 40_960], "text": ["37,000", "40,960"]})
    x = alt.X("low:Q", scale=span)
    common = f"{strip['low'][0]:,} to {strip['high'][0]:,}"
    return [
        alt.Chart(strip).mark_rect(color=GREEN, opacity=0.45).encode(x=x, x2="high:Q"),
        alt.Chart(named).mark_rule(color="currentColor", strokeWidth=1).encode(x=x),
        *(
            alt.Chart(named.iloc[[i]])
            .mark_text(align=align, baseline="bottom", dy=-3, fontSize=11)
            .encode(x=x, y=alt.value(0), text="text:N")
            for i, align in enumerate(("center", "right"))
        ),
        alt.Chart(strip.assign(text=common))
        .mark_text(align="left", baseline="bottom", dx=3, dy=-3, fontSize=11, color=GREEN)
        .encode(x=alt.X("high:Q", scale=span), y=alt.value(0), text="text:N"),
    ]


def _rows_that_fit(rows: Sequence[AuditRow]) -> alt.Title:
    """A title that counts the rows whose printed number fits the slider's vocabulary."""
    fits = " + ".join(f"(vocabulary >= {r.low} && vocabulary <= {r.high} ? 1 : 0)" for r in rows)
    return alt.Title(alt.expr(f"format(vocabulary, ',') + ' entries: ' + ({fits}) + ' of {len(rows)} rows fit'"))
