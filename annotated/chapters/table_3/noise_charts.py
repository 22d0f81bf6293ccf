"""Charts of the paper's own differences: which are significant, given the noise of one training run."""

from __future__ import annotations

import json
from dataclasses import dataclass

import altair as alt
import pandas as pd

from annotated.chapters.table_3.noise import (
    BLEU_DEVIATIONS,
    COUNTINGS,
    PAPER_DIFFERENCES,
    Measure,
    largest_noise,
    significant_rows,
)
from annotated.chapters.table_3.words import label
from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE, GREY, INK, ORANGE
from annotated.viz.titles import title_lines


@dataclass(frozen=True)
class _Scale:
    """How a measure is drawn."""

    unit: str
    domain: tuple[float, float]
    most: float
    """Where the slider ends."""
    step: float
    digits: str


_SCALES: dict[Measure, _Scale] = {
    "BLEU": _Scale("BLEU", (-3.2, 1.7), 0.5, 0.01, "+.1f"),
    "loss": _Scale("nats", (-0.31, 0.44), 0.06, 0.001, "+.3f"),
}
MOST = _SCALES["BLEU"].most
"""BLEU: where the slider ends."""


def _table(measure: Measure) -> pd.DataFrame:
    found = PAPER_DIFFERENCES[measure]
    together, alone = (largest_noise(found, counting) for counting in COUNTINGS)
    table = pd.DataFrame({"difference": found, "together": together, "alone": alone}).rename_axis("row").reset_index()
    return table.assign(name=[label(row) for row in table["row"]]).sort_values("difference")


def noise_chart(deviation: float = 0.16, measure: Measure = "BLEU") -> alt.LayerChart:
    """The 19 differences of Table 3; those that a run's deviation could have made are grey.

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
    table = _table(measure)
    limit = f"(counting == {json.dumps(COUNTINGS[0])} ? datum.together : datum.alone)"
    base = alt.Chart(table).transform_calculate(told=f"abs(datum.difference) > 0 && {limit} > deviation")
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=150))
    x = alt.X("difference:Q", title=f"{drawn.unit}, difference from base", axis=alt.Axis(tickCount=6),
              scale=alt.Scale(domain=list(drawn.domain), nice=False))  # fmt: skip
    bars = base.mark_bar(height=13).encode(
        x, y, color=alt.condition("datum.told", alt.value(BLUE), alt.value(GREY)),
        opacity=alt.condition("datum.told", alt.value(1), alt.value(0.45)),
        tooltip=["name:N", alt.Tooltip("difference:Q", format=drawn.digits)],
    )  # fmt: skip
    values = [
        base.transform_filter(f"datum.difference {sign} 0")
        .mark_text(align=side, dx=dx, color=INK)
        .encode(x, y, text=alt.Text("difference:Q", format=drawn.digits))
        for sign, side, dx in (("<", "right", -4), (">=", "left", 4))
    ]
    counted = base.transform_aggregate(told="sum(told)")
    counted = counted.transform_calculate(text="datum.told + ' of 19 are significant'")
    text = counted.mark_text(align="left", fontWeight=600, color=INK).encode(
        x=alt.value(0), y=alt.value(20 * len(table) + 52), text="text:N"
    )
    said = len(significant_rows(deviation, measure=measure))
    what = f"standard deviation of one run, {drawn.unit}"
    return (
        alt.layer(bars, *values, text)
        .add_params(
            slider("deviation", deviation, 0, drawn.most, drawn.step, label=what),
            menu("counting", COUNTINGS, label="differences tested"),
        )
        .properties(
            width="container",
            height=20 * len(table),
            title=title_lines("The more two runs of one row differ, the fewer rows differ from base"),
            description=f"Bars of the 19 differences of Table 3 from base in {drawn.unit}, with a slider for the "
            "standard deviation of one training run and a menu for how differences are tested. Those that are not "
            f"significant are grey. At first the deviation is {deviation:g} and {said} differences are significant.",
        )
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
    x = alt.X("deviation:Q", title="standard deviation of one run, BLEU", scale=alt.Scale(nice=False))
    y = alt.Y("rows:Q", title="significant differences", scale=alt.Scale(domain=[0, 19], nice=False))
    lines = (
        alt.Chart(pd.DataFrame(steps))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x, y, color=alt.Color("tested:N", scale=alt.Scale(domain=list(COUNTINGS), range=[BLUE, ORANGE])))
    )
    marks = pd.DataFrame(
        [
            {"deviation": e.deviation, "name": f"{e.name}, {e.deviation:.2f}", "y": n}
            for n, e in enumerate(BLEU_DEVIATIONS)
        ]
    )
    rules = alt.Chart(marks).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=x)
    names = [
        alt.Chart(part).mark_text(align="left", dx=5, color=INK).encode(x=x, y=alt.value(12 + 18 * n), text="name:N")
        for n, part in marks.groupby("y")
    ]
    said = ", ".join(f"{e.deviation:.2f} of {e.name}" for e in BLEU_DEVIATIONS)
    return alt.layer(lines, rules, *names).properties(
        width="container",
        height=220,
        title=title_lines("With the noise of comparable models, three to eight of 19 differences are significant"),
        description="Number of Table 3's differences in BLEU that are significant, falling in steps as the standard "
        f"deviation of one run grows from 0 to {MOST:g} BLEU; one line for all 19 tested together and one for each by "
        f"itself. Dashed lines mark published deviations: {said}.",
    )
