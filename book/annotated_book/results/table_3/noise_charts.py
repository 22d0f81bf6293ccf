"""Charts of the paper's own differences: which are significant, given the noise of one training run."""

from __future__ import annotations

import json
from dataclasses import dataclass

import altair as alt
import pandas as pd

from annotated_book.results.table_3.noise import (
    BLEU_DEVIATIONS,
    COUNTINGS,
    PAPER_DIFFERENCES,
    Measure,
    chance_tables,
    largest_noise,
    significant_rows,
)
from annotated_book.results.table_3.words import ROWS, label
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.theme import BLUE, GREY, INK, ORANGE
from annotated_book.viz.titles import title_of

HEIGHT = 20
"""Pixels of a row."""
LABELS = 128
"""Pixels for the longest label, 'E1  learned positions'; a still picture is laid out with another font than drawn."""


@dataclass(frozen=True)
class _Scale:
    """How a measure is drawn."""

    unit: str
    domain: tuple[float, float]
    most: float
    """Where the slider ends."""
    step: float
    digits: str
    fine: str
    printed: float
    """The step in which differences are given."""
    title: str


_SCALES: dict[Measure, _Scale] = {
    "BLEU": _Scale("BLEU", (-3.2, 2.3), 0.5, 0.01, "+.1f", ".2f", 0.1,
                   "The more two runs of one model differ, the fewer rows are significant"),
    "loss": _Scale("nats", (-0.31, 0.44), 0.06, 0.0004, "+.3f", ".4f", 0.001,
                   "The more two runs of one model differ in the loss, the fewer rows are significant"),
}  # fmt: skip
_BY_CHANCE = "All 20 rows are one model here, and every difference is chance"
MOST = _SCALES["BLEU"].most
"""BLEU: where the slider ends."""


def _table(number: int, differences: dict[str, float]) -> pd.DataFrame:
    """A table's differences in their order; each with the deviation that it bears and the reach of its band."""
    table = pd.DataFrame({"difference": differences}).rename_axis("row").reset_index()
    for counting, name in zip(COUNTINGS, ("together", "alone"), strict=True):
        bears = largest_noise(differences, counting)
        # In deviations of one run. A difference of zero has the reach that the smallest other one would have.
        least = largest_noise({row: one or 1e-9 for row, one in differences.items()}, counting)
        table[name] = [bears[row] for row in differences]
        table[f"reach_{name}"] = [abs(one or 1e-9) / least[row] for row, one in differences.items()]
    table = table.sort_values("difference", kind="stable").reset_index(drop=True)
    return table.assign(table=number, rank=range(len(table)), name=[label(row) for row in table["row"]])


def _tables(measure: Measure) -> pd.DataFrame:
    """The paper's table, which is number 0, and those of chance."""
    tables = [PAPER_DIFFERENCES[measure], *chance_tables()]
    table = pd.concat([_table(n, one) for n, one in enumerate(tables)])
    columns = ["difference", "together", "alone", "reach_together", "reach_alone"]
    return table.round(dict.fromkeys(columns, 5))


def _layers(tables: pd.DataFrame, drawn: _Scale) -> list[alt.Chart]:
    """Bands, bars and numbers of the table that is chosen, and the count of its significant rows."""
    together = f"counting == {json.dumps(COUNTINGS[0])}"
    per_unit = round(1 / drawn.printed)
    base = (
        alt.Chart()
        .transform_filter("datum.table == table")
        .transform_calculate(  # a table of chance is in deviations; the paper's is in the measure's unit
            exact="table ? datum.difference * deviation : datum.difference",
            reach=f"({together} ? datum.reach_together : datum.reach_alone) * deviation",
            bears=f"({together} ? datum.together : datum.alone) * (table ? deviation : 1)",
        )
        .transform_calculate(
            shown=f"table ? round(datum.exact * {per_unit}) / {per_unit} : datum.exact",
            told="abs(datum.exact) > 0 && datum.bears > deviation",
            low="-datum.reach",
        )
    )
    names = json.dumps([label(row) for row in ROWS])
    order = [[[label(row) for row in ROWS].index(name) for name in one["name"]] for _, one in tables.groupby("table")]
    ticks = alt.Axis(ticks=False, domain=False, labelLimit=150, minExtent=LABELS, grid=False,
                     labelExpr=f"{names}[{json.dumps(order)}[table][datum.value]]")  # fmt: skip
    y = alt.Y("rank:O", title=None, axis=ticks)
    scale = alt.Scale(domain=list(drawn.domain), nice=False)
    x = x_axis("shown:Q", f"{drawn.unit}, difference from base", tickCount=6, scale=scale)
    bands = base.mark_bar(height=HEIGHT - 1, color=GREY, opacity=0.22, clip=True).encode(
        alt.X("low:Q", scale=scale), y, x2="reach:Q"
    )
    bars = base.mark_bar(height=10).encode(
        x, y, color=alt.condition("datum.told", alt.value(BLUE), alt.value(GREY)),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("shown:Q", title="difference", format=drawn.digits),
                 alt.Tooltip("reach:Q", title="significant above", format=drawn.fine)],
    )  # fmt: skip
    values = [
        base.transform_filter(f"datum.exact {sign} 0")
        .mark_text(align=side, dx=dx, color=INK)
        .encode(x, y, text=alt.Text("shown:Q", format=drawn.digits))
        for sign, side, dx in (("<", "right", -4), (">=", "left", 4))
    ]
    counted = base.transform_aggregate(told="sum(told)").transform_calculate(
        text="datum.told + ' of 19 ' + (datum.told == 1 ? 'is' : 'are') + ' significant'"
    )
    text = counted.mark_text(align="left", fontWeight=600, color=INK).encode(
        x=alt.value(0), y=alt.value(HEIGHT * len(ROWS) + 52), text="text:N"
    )
    return [bands, bars, *values, text]


def noise_chart(deviation: float = 0.16, measure: Measure = "BLEU") -> alt.LayerChart:
    """The 19 differences of Table 3, each over the band that it must leave; and tables that chance alone has made.

    Parameters
    ----------
    deviation
        Standard deviation of one run, where the slider starts: 0 to 0.5 BLEU, or 0 to 0.06 nats.
    measure
        'BLEU', or 'loss', the logarithm of the perplexity.

    Raises
    ------
    ValueError
        If the slider cannot start there.
    """
    drawn = _SCALES[measure]
    if not 0 <= deviation <= drawn.most:
        raise ValueError(f"the slider goes from 0 to {drawn.most} {drawn.unit}, not to {deviation}")
    tables = _tables(measure)
    said = len(significant_rows(deviation, measure=measure))
    what = f"standard deviation of one run, {drawn.unit}"
    shown = ["the paper's", *(f"by chance, {n}" for n in range(1, int(tables["table"].max()) + 1))]
    return titled(
        alt.layer(*_layers(tables, drawn), data=tables.drop(columns="name")),
        slider("deviation", deviation, 0, drawn.most, drawn.step, label=what),
        menu("counting", COUNTINGS, label="differences tested"),
        steps("table", shown, label="table"),
        height=HEIGHT * len(ROWS),
        title=title_of("table ? 1 : 0", {"0": drawn.title, "1": _BY_CHANCE}),
        description=f"Bars of the 19 differences of Table 3 from base in {drawn.unit}, each over the band of "
        "differences that are not significant. A slider sets the standard deviation of one training run, a menu how "
        "differences are tested, and a second slider shows tables of chance alone. At first the deviation is "
        f"{deviation:g} and {said} differences are significant.",
    )


def significance_chart() -> alt.LayerChart:
    """How many of the 19 differences in BLEU are significant, by the deviation of one run, with published ones."""
    steps = []
    for counting in COUNTINGS:
        limits = {limit for limit in largest_noise(PAPER_DIFFERENCES["BLEU"], counting).values() if limit < MOST}
        steps += [
            {"deviation": d, "tested": counting, "rows": len(significant_rows(d, counting))}
            for d in sorted({0.0, *limits, MOST})
        ]
    x = alt.X("deviation:Q", title="standard deviation of one run, BLEU", scale=alt.Scale(nice=False),
              axis=alt.Axis(values=[n / 10 for n in range(6)], format=".1f", grid=False))  # fmt: skip
    y = y_axis("rows:Q", "significant differences", domain=[0, 19], nice=False)
    base = alt.Chart(pd.DataFrame(steps)).encode(x, y, color=colour_by("tested:N", COUNTINGS, [BLUE, ORANGE]))
    lines = base.mark_line(interpolate="step-after", strokeWidth=2)
    marks = pd.DataFrame([{"deviation": e.deviation, "name": f"{e.name}\n{e.deviation:.2f}"} for e in BLEU_DEVIATIONS])
    rules = alt.Chart(marks).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=x)
    names = (  # in two lines, or on a phone the second rule would cross the first name
        alt.Chart(marks)
        .mark_text(align="left", dx=4, color=INK, lineBreak="\n")
        .encode(x=x, y=alt.value(10), text="name:N")
    )
    said = ", ".join(f"{e.deviation:.2f} of {e.name}" for e in BLEU_DEVIATIONS)
    return titled(
        alt.layer(lines, rules, names, name_lines(base, "tested", words=in_lines(COUNTINGS, 9))),
        height=220,
        title="With the noise of comparable models, three to eight of 19 differences are significant",
        description="Number of Table 3's differences in BLEU that are significant, falling in steps as the standard "
        f"deviation of one run grows from 0 to {MOST:g} BLEU; one line for all 19 tested together and one for each "
        f"by itself. Dashed lines mark published deviations: {said}.",
    )
