"""Charts of recurrent models: accuracy over length, what is attended to, and dates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.forms import interval_rules, line_layers, titled
from annotated_book.viz.parameters import menu, steps
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

_YEARS = alt.Scale(domain=["2012-10-01", "2017-08-15"], nice=False)
_SHAPED = alt.Legend(title=None, symbolStrokeWidth=0, symbolSize=90, columns=2)
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
_KIND_COLOURS = {"recurrent": BLUE, "attention": ORANGE, "Transformer": GREEN, "convolution": PALETTE[3]}
"""Of the timeline: as the models of the page's other charts."""


def length_chart(
    lengths: Sequence[int],
    curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]],
    longest: int,
    chance: Mapping[str, Sequence[float]],
    titles: Mapping[str, str],
) -> alt.LayerChart:
    """Accuracy against length for several models, with its spread over seeds, and a menu for the measure.

    Parameters
    ----------
    lengths
        Of the sequences that were written.
    curves
        For each measure, for each model, one list of accuracies for each seed.
    longest
        The longest sequence of the training.
    chance
        The accuracy of guessing, for each measure, one for each length.
    titles
        What to see, for each measure.

    Raises
    ------
    ValueError
        If a curve has not one point for each length.
    """
    models = list(next(iter(curves.values())))
    chart = alt.Chart(_spread(lengths, curves)).transform_filter("datum.measure == measure")
    pick = alt.selection_point(name="model", fields=["model"], bind="legend")
    y = y_axis("y:Q", "share right", domain=[0, 1], format="%")
    base = chart.encode(
        x=x_axis("n:Q", "letters to copy", domain=[0, max(lengths)], nice=False),
        color=colour_by("model:N", models, legend=_SHAPED),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.15)),
    )
    dash = dash_by("model:N", models, _DASHES, legend=_SHAPED)
    shape = shape_by("model:N", models, _SHAPES, legend=_SHAPED)
    tip = ["model:N", alt.Tooltip("n:Q", title="length"), alt.Tooltip("y:Q", title="share right", format=".1%")]
    edge = alt.Chart(pd.DataFrame({"n": [longest], "text": ["trained to here"]}))
    return titled(
        alt.layer(
            edge.mark_rule(color=GREY).encode(x="n:Q"),
            edge.mark_text(align="left", dx=4).encode(x="n:Q", y=alt.value(156), text="text:N"),
            _guess(lengths, chance),
            interval_rules(base, alt.Y("low:Q"), strokeWidth=1.5),
            *line_layers(base.encode(y=y), dash=dash, shape=shape, tooltip=tip, size=55, opacity=None),
        ),
        menu("measure", list(curves)),
        pick,
        height=280,
        title=alt.expr(f"{json.dumps(dict(titles))}[measure]"),
        description=f"Share of symbols copied right against the length of the sequence, for {', '.join(models)}. A "
        f"menu changes the measure, and a click in the legend picks a model. A vertical line at {longest} marks the "
        "longest sequence of the training.",
    )


def _spread(lengths: Sequence[int], curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> pd.DataFrame:
    """The mean over seeds, and the lowest and the highest seed, by measure, model and length."""
    for model, seeds in ((model, seeds) for by_model in curves.values() for model, seeds in by_model.items()):
        if any(len(one) != len(lengths) for one in seeds):
            raise ValueError(f"{model} needs {len(lengths)} values, one for each length")
    numbered = {m: {model: dict(enumerate(seeds)) for model, seeds in named.items()} for m, named in curves.items()}
    table = curves_table(numbered, "measure", "model", "seed", "at", "share")
    groups = table.assign(n=np.asarray(lengths)[table["at"]]).groupby(["measure", "model", "n"], sort=False)["share"]
    return groups.agg(y="mean", low="min", high="max").round({"y": 4}).reset_index()


def _guess(lengths: Sequence[int], chance: Mapping[str, Sequence[float]]) -> alt.Chart:
    """A line at the accuracy of guessing, for the measure that is chosen."""
    rows = [
        {"measure": m, "n": n, "y": y}
        for m, by_length in chance.items()
        for n, y in zip(lengths, by_length, strict=True)
    ]
    line = alt.Chart(pd.DataFrame(rows)).transform_filter("datum.measure == measure")
    return line.mark_line(strokeDash=[2, 3], strokeWidth=1.2, color=GREY).encode(x="n:Q", y="y:Q")


def alignment_chart(examples: Sequence[Mapping[str, Any]], *, start: int = 2) -> alt.LayerChart:
    """What each written symbol attended to in the source, for one of several sequences, chosen with a slider.

    Parameters
    ----------
    examples
        Each with `source` and `written`, lists of symbols, and `weights`, thousandths, one row a written symbol.
    start
        The example to begin with.

    Raises
    ------
    ValueError
        If weights do not fit symbols.
    """
    for i, example in enumerate(examples):
        if len(example["weights"]) != len(example["source"]) * len(example["written"]):
            raise ValueError(f"example {i}: {len(example['weights'])} weights do not fit its symbols")
    table = pd.DataFrame(
        {"i": i, "s": len(example["source"]), "w": list(example["weights"])} for i, example in enumerate(examples)
    )
    sources, written = (json.dumps([list(e[key]) for e in examples]) for key in ("source", "written"))
    lengths = [len(e["written"]) for e in examples]
    cells = (
        alt.Chart(table)
        .transform_filter("datum.i == example")
        .transform_flatten(["w"])
        .transform_window(at="row_number()")
        .transform_calculate(k="(datum.at - 1) % datum.s", q="floor((datum.at - 1) / datum.s)", weight="datum.w / 1000")
        .transform_calculate(source=f"{sources}[example][datum.k]", symbol=f"{written}[example][datum.q]")
    )
    labels = {"labelOverlap": False, "labelAngle": 0, "ticks": False}
    above = alt.Axis(orient="top", labelExpr=f"{sources}[example][datum.value]", **labels)
    x = alt.X("k:O", title="source", axis=above)
    y = alt.Y("q:O", title="written", axis=alt.Axis(labelExpr=f"{written}[example][datum.value]", **labels))
    shade = alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    tip = ["symbol:N", "source:N", alt.Tooltip("weight:Q", format=".2f")]
    return titled(
        alt.layer(
            cells.mark_rect(fill=ORANGE, stroke=GREY, strokeWidth=0.2).encode(x=x, y=y, opacity=shade, tooltip=tip)
        ),
        steps("example", lengths, lengths[start], "letters"),
        height=400,  # so that 28 letters stand one below the other
        title=alt.expr(f"'Attention while copying ' + {lengths}[example] + ' letters'"),
        description="Attention weights of a trained recurrent decoder: one row for each symbol it wrote, one column "
        "for each source symbol, darker for more weight. A slider goes from shorter to longer sequences. While the "
        "length is one of those trained on, the weight lies on the diagonal and on the line to its left.",
        usermeta={"renderer": "canvas"},
    )


def timeline_chart(works: Sequence[Any]) -> alt.LayerChart:
    """Works by the month of their first public version, in one row for each kind; a menu picks a kind.

    Parameters
    ----------
    works
        As `annotated_book.why.before_2017.timeline.TIMELINE`.
    """
    kinds = list(dict.fromkeys(work.kind for work in works))
    table = pd.DataFrame(works).assign(order=range(len(works)), label=[[work.who, work.what] for work in works])
    on = "kind == 'all' || datum.kind == kind"
    chart = alt.Chart(table).transform_calculate(shown=f"{on} ? 1 : 0.12", date="toDate(datum.month + '-15')")
    x = x_axis("date:T", "month of the first public version", scale=_YEARS, format="%Y", tickCount="year")
    y = alt.Y("order:O", axis=None)
    late = "datum.date > toDate('2015-01-01')"
    opacity = alt.Opacity("shown:Q", scale=None, legend=None)
    points = chart.mark_point(filled=True, size=70).encode(
        x=x,
        y=y,
        opacity=opacity,
        color=colour_by("kind:N", kinds, [_KIND_COLOURS[kind] for kind in kinds], legend=alt.Legend(columns=2)),
        shape=shape_by("kind:N", kinds, list(_SHAPES[:4]), legend=alt.Legend(columns=2)),
        tooltip=[alt.Tooltip("month:N"), alt.Tooltip("who:N"), alt.Tooltip("what:N"), alt.Tooltip("arxiv:N")],
    )
    texts = [
        chart.transform_filter(f"{'' if right else '!'}({late})")
        .mark_text(align="right" if right else "left", dx=-8 if right else 8, dy=-6)
        .encode(x=x, y=y, text="label:N", opacity=opacity)
        for right in (True, False)
    ]
    return titled(
        alt.layer(points, *texts),
        menu("kind", ["all", *kinds], label="show"),
        height=26 * len(works),
        title=["From recurrent networks", "to attention alone, 2012 to 2017"],
        description=(
            "Works before the Transformer by the month of their first public version: "
            + "; ".join(f"{work.month} {work.who}, {work.what}" for work in works)
            + ". A menu picks one kind."
        ),
    )
