"""Audit of Table 3 as a chart: which vocabularies give the printed numbers of parameters."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from annotated.analysis.parameters import AuditRow
from annotated.config import ModelConfig
from annotated.paper import TABLE_3 as PRINTED
from annotated_book.viz.channels import colour_by, x_axis
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

BIASES = "biases"
"""The parameter that a box sets: count with biases in the attention."""

DESCRIPTION = (
    "Lines mark 37,000 and 40,960 entries, and a strip what ten rows share. "
    "For each row of Table 3 a bar over the sizes of the vocabulary that make the parameter count round to the "
    "printed millions, with a slider for the size. Ten bars share a narrow strip near 41,000; the bar of the big "
    "model ends below 37,000. Beside each row stand the computed and the printed count."
)
"""For readers who do not see the chart."""

STEP = 4
"""Of the slider: it meets every end of the intervals that the ten rows share."""
STEPS_OF_AXIS = 500
"""The axis, and the slider with it, begins and ends at a multiple of this."""


def audit_chart(
    rows: Sequence[AuditRow], *, biased: Sequence[AuditRow] = (), vocab_size: int = ModelConfig.vocab_size
) -> alt.LayerChart:
    """For each row of Table 3, the vocabularies that give its printed count; a slider moves one through them.

    Parameters
    ----------
    rows
        As `annotated.analysis.parameters.audit_table_3` returns them.
    biased
        The same rows with biases in the attention; a box then chooses between the two.
    vocab_size
        Where the slider starts.
    """
    if not rows:
        raise ValueError("there is no row to draw")
    table = _both(pd.DataFrame(rows), pd.DataFrame(biased), "body", "low", "high")
    table["change"] = [PRINTED[row.row].change or "base" for row in rows]
    order = [row.row for row in rows]
    low = STEPS_OF_AXIS * (min(r.low for r in (*rows, *biased)) // STEPS_OF_AXIS)
    high = STEPS_OF_AXIS * (max(r.high for r in (*rows, *biased)) // STEPS_OF_AXIS + 1)
    count = "(datum.body + vocabulary * datum.d_model) / 1e6"
    base = (
        alt.Chart(table)
        .transform_calculate(**_chosen("body", "low", "high", biased=bool(biased)))
        .transform_calculate(fits="vocabulary >= datum.low && vocabulary <= datum.high", count=count)
        .transform_calculate(
            label=f"format({count}, '.1f') + (datum.fits ? ' = ' : ' ≠ ') + datum.printed",
            verdict="datum.fits ? 'fits' : 'does not fit'",
        )
    )
    y = alt.Y("row:N", sort=order, title="row of Table 3")
    span = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = x_axis("low:Q", "entries of the vocabulary", scale=span, format="~s", tickCount=5)
    tooltip = ["row:N", "change:N", "printed:Q", "low:Q", "high:Q", alt.Tooltip("count:Q", format=".2f")]
    verdicts = ["fits", "does not fit"]
    colour = colour_by("verdict:N", verdicts, [BLUE, ORANGE])
    bars = base.mark_bar(height=12, cornerRadius=2).encode(x=x, x2="high:Q", y=y, color=colour, tooltip=tooltip)
    labels = base.mark_text(align="left", fontSize=12, dx=6).encode(
        x=alt.value("width"), y=y, text="label:N", color=colour
    )
    here = rule_at(alt.X("v:Q", scale=span), "vocabulary", color=GREY, strokeWidth=2, strokeDash=[5, 3])
    return titled(
        alt.layer(*_found(rows, biased, span), bars, here, labels),
        slider("vocabulary", vocab_size, low, high, STEP, label="entries of the vocabulary"),
        *_box(bool(biased)),
        height=27 * len(rows),
        title=_rows_that_fit(rows, biased),
        description=DESCRIPTION,
    )


def _both(plain: pd.DataFrame, biased: pd.DataFrame, *names: str) -> pd.DataFrame:
    """A table with each of the columns without and with biases, `low_0` and `low_1`; without a second, as it is."""
    if not len(biased):
        return plain
    numbers = {f"{name}_{i}": table[name] for i, table in enumerate((plain, biased)) for name in names}
    return plain.drop(columns=[*names]).assign(**numbers)


def _chosen(*names: str, biased: bool) -> dict[str, str]:
    """The columns by their plain names, as the box says."""
    return {name: f"{BIASES} ? datum.{name}_1 : datum.{name}_0" if biased else f"datum.{name}" for name in names}


def _box(biased: bool) -> list[alt.Parameter]:
    bind = alt.binding_checkbox(name="biases in the attention ")
    return [alt.param(name=BIASES, value=False, bind=bind)] if biased else []


def _shared(rows: Sequence[AuditRow]) -> pd.DataFrame:
    """The vocabularies that all rows but the big one share."""
    ten = [row for row in rows if row.row != "big"]
    return pd.DataFrame({"low": [max(row.low for row in ten)], "high": [min(row.high for row in ten)]})


def _found(rows: Sequence[AuditRow], biased: Sequence[AuditRow], span: alt.Scale) -> list[alt.Chart]:
    """The vocabulary of the text, that of the released code, and the strip that all rows but the big one share."""
    strip = _both(_shared(rows), _shared(biased) if biased else pd.DataFrame(), "low", "high")
    named = pd.DataFrame({"low": [37_000, 40_960], "text": ["37,000", "40,960"]})
    x = alt.X("low:Q", scale=span)
    shared = alt.Chart(strip).transform_calculate(**_chosen("low", "high", biased=bool(biased)))
    common = "format(datum.low, ',') + ' to ' + format(datum.high, ',')"
    return [
        shared.mark_rect(color=GREEN, opacity=0.45).encode(x=x, x2="high:Q"),
        alt.Chart(named).mark_rule(color="currentColor", strokeWidth=1).encode(x=x),
        *(
            alt.Chart(named.iloc[[i]])
            .mark_text(align=align, baseline="bottom", dy=-3, fontSize=12)
            .encode(x=x, y=alt.value(0), text="text:N")
            for i, align in enumerate(("center", "right"))
        ),
        shared.transform_calculate(text=common)
        .mark_text(align="left", baseline="bottom", dx=3, dy=-3, fontSize=12, color=GREEN)
        .encode(x=alt.X("high:Q", scale=span), y=alt.value(0), text="text:N"),
    ]


def _rows_that_fit(rows: Sequence[AuditRow], biased: Sequence[AuditRow]) -> alt.Title:
    """A title that counts the rows whose printed number fits the slider's vocabulary."""
    fits, with_biases = (
        " + ".join(f"(vocabulary >= {r.low} && vocabulary <= {r.high} ? 1 : 0)" for r in some)
        for some in (rows, biased)
    )
    number = f"({BIASES} ? {with_biases} : {fits})" if biased else f"({fits})"
    return alt.Title(alt.expr(f"format(vocabulary, ',') + ' entries: ' + {number} + ' of {len(rows)} rows fit'"))
