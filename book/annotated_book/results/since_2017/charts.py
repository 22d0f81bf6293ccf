"""Charts of chapter 34: every part beside the base with all its seeds, and losses over the tokens read."""

from __future__ import annotations

import altair as alt
import pandas as pd

from annotated_book.results.since_2017.parts import PARTS
from annotated_book.results.since_2017.results import (
    MEASURES,
    Runs,
    curve_table,
    differences,
    rate_table,
    seed_table,
)
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import interval_rules, line_layers, rule_at, titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE
from annotated_book.viz.titles import title_of

COLOURS = {"better": BLUE, "worse": ORANGE, "not told apart": GREY}
YEARS = {
    "base": ("base (pre-norm)", GREY),
    "2026-model": ("2026's model", GREEN),
    "2026-training": ("2026's training", "#b45fc4"),
    "2026": ("2026", BLUE),
}
"""Parts of the chart of years, their names there, and colours; before them comes 2017 at its best rate."""
ROW_HEIGHT = 24
TICKS = [-1, -0.3, -0.1, 0, 0.1, 0.3, 1]
_FITTED = alt.Scale(zero=False, nice=False)


def parts_chart(runs: Runs) -> alt.LayerChart:
    """Every run less the base with its seed as a dot, with the mean and its interval; a menu chooses the measure."""
    seeds = seed_table(runs)
    tables = [differences(runs, key).reset_index().assign(measure=name) for key, name in MEASURES.items()]
    means = pd.concat(tables, ignore_index=True)
    order = [part.title for name, part in PARTS.items() if name in set(seeds["part"])]
    chosen = "datum.measure == measure"
    y = alt.Y("title:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, grid=True, labelLimit=150))
    colour = colour_by("verdict:N", COLOURS, legend=alt.Legend(columns=2))
    scale = alt.Scale(type="symlog", constant=0.03)  # post-norm is far off, and the others are close together
    axis = alt.Axis(values=TICKS, format="~g", labelOverlap="greedy", labelSeparation=3)
    x = alt.X("difference:Q", title="difference from the base", scale=scale, axis=axis)
    those = alt.Chart(means).transform_filter(chosen)
    rules = interval_rules(those.encode(y, color=colour), x, strokeWidth=3, yOffset=4)
    centres = those.mark_tick(thickness=3, size=11, yOffset=4).encode(x, y, color=colour)
    dots = (
        alt.Chart(seeds)
        .transform_filter(chosen)
        .mark_point(filled=True, size=26, color=INK, opacity=0.75, yOffset=-4)
        .encode(x, y, tooltip=["title:N", "seed:N", alt.Tooltip("difference:Q", format="+.3f")])
    )
    said = "; ".join(f"{one.title} {one.difference:+.3f}" for one in tables[0].itertuples())
    titles = {name: extremes(table, name) for name, table in zip(MEASURES.values(), tables, strict=True)}
    return titled(
        alt.layer(rule_at(x, 0.0, color=GREY, strokeDash=[4, 3]), rules, centres, dots),
        menu("measure", list(MEASURES.values()), label="measure"),
        height=ROW_HEIGHT * len(order),
        title=title_of("measure", titles),
        description="Differences from the base, a dot for each seed and a line for the interval of 95 %. In "
        f"validation loss, nats per token: {said}.",
    )


def extremes(table: pd.DataFrame, measure: str) -> str:
    """A title that names the single parts with the least and the greatest difference from the base in a measure."""
    single = table[~table["part"].str.startswith("2026")].set_index("title")["difference"]
    low, high = single.idxmin(), single.idxmax()
    least, most = (f"{single[end]:+.2f}".replace("-", "−") for end in (low, high))
    name, *unit = measure.split(", ")
    what = f"the {name}" if unit else name  # "validation loss, nats", but "BLEU"
    return f"Single parts change {what} by {' '.join([least, *unit])} ({low}) to {most} ({high})"


def part_curves_chart(runs: Runs, part: str) -> alt.LayerChart:
    """Through the training: the loss of a part, which a menu chooses, less that of the base with the same seed."""
    table = _visible(curve_table(runs))
    table = table[(table["part"] != "base") & table["apart"].notna()]
    x = x_axis("tokens:Q", "target tokens read, millions", scale=_FITTED, tickCount=6)
    y = y_axis("apart:Q", "nats per token, part less base", padding=12)
    chosen = alt.Chart(table).transform_filter("datum.title == part")
    tip, look = ["seed:N", alt.Tooltip("apart:Q", format="+.3f")], {"color": BLUE, "opacity": 0.75}
    seeds = line_layers(chosen.encode(x, y), detail="seed:N", tooltip=tip, line=look, color=BLUE, size=26, opacity=None)
    words = [
        alt.Chart(pd.DataFrame([{"text": f"{word} than base"}]))
        .mark_text(align="right", dx=-6, color=INK, opacity=0.75)
        .encode(x=alt.value("width"), y=alt.value(place), text="text:N")
        for word, place in (("worse", 14), ("better", 238))
    ]
    titles = list(dict.fromkeys(table["title"]))
    return titled(
        alt.layer(rule_at(y, 0.0, color=GREY), *seeds, *words),
        menu("part", titles, PARTS[part].title, "part"),
        height=250,
        title="How far a part is from the base through the training",
        description="Validation loss of a part less that of the base with the same seed, over millions of target "
        f"tokens; a line for each seed, and a menu of parts. At first: {PARTS[part].title}.",
    )


def years_chart(runs: Runs) -> alt.LayerChart:
    """2017's model, at the best rate that was tried, and 2026's, over the tokens read; a line for each seed.

    Parameters
    ----------
    runs
        Of the parts, and of the model of 2017 at every rate.
    """
    table, rates = _visible(curve_table(runs)), rate_table(runs)
    oldest = {} if rates.empty else {rates["loss"].idxmin(): ("2017", ORANGE)}
    years = {**oldest, **YEARS}
    names = {part: name for part, (name, _) in years.items() if part in set(table["part"])}
    table = table[table["part"].isin(names)].assign(name=lambda t: t["part"].map(names))
    base = alt.Chart(table).encode(
        x_axis("tokens:Q", "target tokens read, millions", scale=_FITTED, tickCount=6),
        y_axis("loss:Q", "validation loss, nats per token", zero=False),
        colour_by("name:N", list(names.values()), [years[part][1] for part in names]),
    )
    lines = base.mark_line(strokeWidth=1.8, clip=True).encode(detail="seed:N")
    final = table[table["tokens"] == table["tokens"].max()].groupby("name")["loss"].mean()
    said = "; ".join(f"{name} {loss:.2f}" for name, loss in final.items())
    first, *_, last = names.values()
    apart = final[last] - final[first]
    side = "below" if apart < 0 else "above"
    one = next(iter(runs.values()))
    size = f"{one['training']['updates']:,} updates, {one['model']['d_model']} wide"
    return titled(
        alt.layer(lines, name_lines(base, "name", words=in_lines(names.values(), 10))),
        height=300,
        title=f"{size}: {last} ends {abs(apart):.1f} nats {side} {first}",
        description=f"Validation loss over millions of target tokens, a line for each seed. At the end: {said}.",
    )


def _visible(table: pd.DataFrame) -> pd.DataFrame:
    """Without the first tenth of the training, in which all losses fall by more than they differ later."""
    return table[table["tokens"] >= 0.1 * table["tokens"].max()]
