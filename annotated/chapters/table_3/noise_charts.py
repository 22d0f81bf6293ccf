"""Charts of the paper's own differences: which are significant, given the noise of one training run."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from annotated.chapters.table_3.noise import COUNTINGS, ESTIMATES, bleu_difference, largest_noise, significant_rows
from annotated.chapters.table_3.words import ROWS, label
from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE, GREY, INK, ORANGE
from annotated.viz.titles import title_lines

MOST = 0.5
"""BLEU: where the slider ends."""


def _table() -> pd.DataFrame:
    found = {row: bleu_difference(row) for row in ROWS}
    together, alone = (largest_noise(found, counting) for counting in COUNTINGS)
    table = pd.DataFrame({"difference": found, "together": together, "alone": alone}).rename_axis("row").reset_index()
    return table.assign(name=[label(row) for row in table["row"]]).sort_values("difference")


def noise_chart(deviation: float = 0.16) -> alt.LayerChart:
    """The 19 differences of Table 3 in BLEU; those that a run's deviation could have made are grey.

    Parameters
    ----------
    deviation
        Standard deviation of one run in BLEU, 0 to `MOST` in hundredths, where the slider starts.

    Raises
    ------
    ValueError
        If the slider cannot start there.
    """
    if not 0 <= deviation <= MOST:
        raise ValueError(f"the slider goes from 0 to {MOST} BLEU, not to {deviation}")
    table = _table()
    limit = f"(counting == {json.dumps(COUNTINGS[0])} ? datum.together : datum.alone)"
    told = f"abs(datum.difference) > 0 && {limit} > deviation"
    base = alt.Chart(table).transform_calculate(told=told)
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=150))
    x = alt.X("difference:Q", title="BLEU, difference from base", scale=alt.Scale(domain=[-2.4, 1.1], nice=False))
    bars = base.mark_bar(height=13).encode(
        x, y, color=alt.condition("datum.told", alt.value(BLUE), alt.value(GREY)),
        opacity=alt.condition("datum.told", alt.value(1), alt.value(0.45)),
        tooltip=["name:N", alt.Tooltip("difference:Q", format="+.1f")],
    )  # fmt: skip
    values = [
        base.transform_filter(f"datum.difference {sign} 0")
        .mark_text(align=side, dx=dx, color=INK)
        .encode(x, y, text=alt.Text("difference:Q", format="+.1f"))
        for sign, side, dx in (("<", "right", -4), (">=", "left", 4))
    ]
    counted = base.transform_aggregate(told="sum(told)")
    counted = counted.transform_calculate(text="datum.told + ' of 19 are significant'")
    text = counted.mark_text(align="right", fontWeight=600, color=INK).encode(
        x=alt.value("width"), y=alt.value(12), text="text:N"
    )
    said = len(significant_rows(deviation))
    return (
        alt.layer(bars, *values, text)
        .add_params(
            slider("deviation", deviation, 0, MOST, 0.01, label="standard deviation of one run, BLEU"),
            menu("counting", COUNTINGS, label="differences tested"),
        )
        .properties(
            width="container",
            height=20 * len(table),
            title=title_lines("The more two runs of one row differ, the fewer rows differ from base"),
            description="Bars of the 19 differences of Table 3 from base in BLEU, with a slider for the standard "
            "deviation of one training run and a menu for how differences are tested. Those that are not significant "
            f"are grey. At first the deviation is {deviation:g} and {said} differences are significant.",
        )
    )


def significance_chart() -> alt.LayerChart:
    """How many of the 19 differences are significant, by the deviation of one run, with published deviations."""
    grid = [n / 100 for n in range(int(100 * MOST) + 1)]
    table = pd.DataFrame(
        [{"deviation": d, "tested": c, "rows": len(significant_rows(d, c))} for d in grid for c in COUNTINGS]
    )
    x = alt.X("deviation:Q", title="standard deviation of one run, BLEU", scale=alt.Scale(nice=False))
    y = alt.Y("rows:Q", title="significant differences", scale=alt.Scale(domain=[0, 19], nice=False))
    lines = (
        alt.Chart(table)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x, y, color=alt.Color("tested:N", scale=alt.Scale(domain=list(COUNTINGS), range=[BLUE, ORANGE])))
    )
    marks = pd.DataFrame([{"deviation": e.deviation, "name": f"{e.name}, {e.deviation:.2f}"} for e in ESTIMATES])
    rules = alt.Chart(marks).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=x)
    names = alt.Chart(marks).mark_text(align="left", dx=5, color=INK).encode(x=x, y=alt.value(12), text="name:N")
    said = ", ".join(f"{e.deviation:.2f} of {e.name}" for e in ESTIMATES)
    return alt.layer(lines, rules, names).properties(
        width="container",
        height=220,
        title=title_lines("With the noise of comparable models, three to eight of 19 differences are significant"),
        description="Number of Table 3's differences that are significant, falling in steps as the standard "
        f"deviation of one run grows from 0 to {MOST:g} BLEU; one line for all 19 tested together and one for each by "
        f"itself. Dashed lines mark published deviations: {said}.",
    )
