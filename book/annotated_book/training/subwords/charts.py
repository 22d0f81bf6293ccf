"""Charts of byte-pair encoding: pairs counted merge by merge, what a size buys, and words that never end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.config import ModelConfig
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

BODY = 44_101_632
"""Parameters of the base model without its embedding, which chapter 15 counts."""
MEASURES = {
    "tokens in a sentence": ("tokens", ".1f"),
    "tokens that are whole words": ("tokens_whole", ".0%"),
    "words that are one token": ("words_whole", ".0%"),
    "entries that are whole words": ("entries_whole", ".0%"),
    "entries seen under 100 times": ("entries_rare", ".0%"),
}
"""What `vocabulary_chart` can show: the name, the field of a row of the record, and how it is written."""
TEXTS = ("real text", "classroom")


def pair_chart(history: Sequence[Sequence[tuple[str, str, int]]], merge: int = 1) -> alt.Chart:
    """The most frequent pairs before each of the first merges; a slider goes from merge to merge.

    Parameters
    ----------
    history
        For each merge the pairs (left, right, count), most frequent first: the first of them is merged.
    merge
        Where the slider starts, from 1.

    Raises
    ------
    ValueError
        If a list is empty, or not sorted by count.
    """
    for number, pairs in enumerate(history, start=1):
        counts = [count for _, _, count in pairs]
        if not counts or counts != sorted(counts, reverse=True):
            raise ValueError(f"merge {number} needs its pairs, the most frequent first")
    found = [(m, *pair) for m, pairs in enumerate(history, start=1) for pair in pairs]
    table = pd.DataFrame(found, columns=["m", "left", "right", "count"])
    left, right = table.pop("left"), table.pop("right")
    table = table.assign(place=table.groupby("m").cumcount() + 1, pair=left + " + " + right, new=left + right)
    base = alt.Chart(table).transform_filter("datum.m == merge")
    y = alt.Y("place:O", title=None, axis=None)
    span = alt.Scale(domain=[0, max(table["count"])], nice=False)
    x = x_axis("count:Q", "occurrences of the pair in the text", scale=span, tickCount=4, format=",d")
    bars = base.mark_bar(opacity=0.45).encode(
        x=x, y=y, color=alt.condition("datum.place == 1", alt.value(ORANGE), alt.value(GREY)),
        tooltip=["pair:N", alt.Tooltip("count:Q", format=",")],
    )  # fmt: skip
    words = base.mark_text(align="left", dx=5, fontSize=12).encode(x=alt.value(0), y=y, text="pair:N")
    chosen = base.transform_filter("datum.place == 1").mark_text(align="right", fontSize=13, fontWeight="bold")
    news = chosen.transform_calculate(words="'merge ' + datum.m + ' makes “' + datum.new + '”'")
    news = news.encode(x=alt.value("width"), y=alt.value(-9), text="words:N")
    shown = len(history[0])
    return titled(
        alt.layer(bars, words, news),
        slider("merge", merge, 1, len(history), label="merge number:"),
        height=24 * shown,
        title=alt.Title(["The most frequent pair is merged next;", "the counts fall quickly"], offset=22),
        description=f"The {shown} most frequent pairs of neighbouring pieces before each of the first {len(history)} "
        f"merges. The first bar is the pair that is merged; before merge {merge} it is {history[merge - 1][0][0]} "
        f"and {history[merge - 1][0][1]}. A slider goes from merge to merge, and the counts fall.",
    )


def vocabulary_chart(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], d_model: int = ModelConfig.d_model
) -> alt.LayerChart:
    """What the size of a vocabulary buys: a menu of measures, and a slider for the size.

    Parameters
    ----------
    rows
        For 'real text' and 'classroom' the rows of the record `subwords`.
    d_model
        D: the width of the embedding, for its number of parameters.

    Raises
    ------
    ValueError
        If the texts are others.
    """
    if set(rows) != set(TEXTS):
        raise ValueError(f"rows are wanted for {' and '.join(TEXTS)}, not {list(rows)}")
    sizes = [row["vocab_size"] for row in rows["real text"]]
    title = (
        "[format(size, ',') + ' entries: an embedding of',"
        " format(weights / 1e6, '.1f') + ' million"
        f" (' + format(weights / (weights + {BODY}), '.0%') + ' of a base model)']"
    )
    table = _measured(rows)
    sentence = table[table["text"].eq("real text") & table["measure"].eq("tokens in a sentence")]
    first, last = sentence["value"].iloc[[0, -1]]
    return titled(
        _sized_layers(table),
        menu("measure", list(MEASURES), "tokens in a sentence", "show"),
        steps("place", sizes, sizes[-1], label="entries"),
        alt.param(name="size", expr=f"{sizes}[place]"),
        alt.param(name="weights", expr=f"size * {d_model}"),
        height=240,
        title=alt.expr(title),
        description=f"What the size of a byte-pair vocabulary buys, from {sizes[0]} to {sizes[-1]:,} entries, for "
        f"real text and the classroom's. A sentence of real text falls from {first:.0f} tokens to {last:.0f}. A menu "
        "chooses the measure, a slider the size; the title gives the parameters of the embedding.",
    )


def _measured(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> pd.DataFrame:
    """The measures in long form: text, size, measure, value, and the value as it is written."""
    wide = pd.concat([pd.DataFrame(rows[text]).assign(text=text) for text in TEXTS], ignore_index=True)
    wide["tokens"] = (wide["english"] + wide["german"]) / 2
    names = {"vocab_size": "size"} | {field: name for name, (field, _) in MEASURES.items()}
    table = wide.rename(columns=names).melt(["text", "size"], list(MEASURES), "measure", "value")
    written = [format(value, MEASURES[name][1]) for name, value in zip(table["measure"], table["value"], strict=True)]
    return table.assign(label=written)


def _sized_layers(table: pd.DataFrame) -> alt.LayerChart:
    """A line for each text, and a rule with its readings at the size that the slider chooses."""
    base = alt.Chart(table).transform_filter("datum.measure == measure")
    sized = alt.Scale(type="log", domain=[280, 42_000], nice=False)
    x = alt.X("size:Q", title="entries of the vocabulary", scale=sized,
              axis=alt.Axis(values=[300, 1000, 4000, 16_000, 37_000], format="~s", labelOverlap="greedy"))  # fmt: skip
    ticks = f"measure == '{next(iter(MEASURES))}' ? datum.label : format(datum.value, '.0%')"
    y = y_axis("value:Q", None, zero=True, tickCount=5, minExtent=34, labelExpr=ticks)
    named = base.encode(x=x, y=y, color=colour_by("text:N", TEXTS, [BLUE, GREEN]))
    lines = named.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40)).encode(
        strokeDash=dash_by("text:N", TEXTS, [[1, 0], [5, 3]]),
        tooltip=["text:N", alt.Tooltip("size:Q", format=","), "label:N"],
    )
    here = alt.Chart(ONE_ROW)
    rule = rule_at(x, "size", color=ORANGE, strokeWidth=2)
    at = base.transform_filter("datum.size == size")
    words = at.mark_text(dy=-11, dx=-4, align="right", fontSize=13, fontWeight="bold").encode(x=x, y=y, text="label:N")
    what = here.transform_calculate(words="measure").mark_text(align="left", baseline="top", fontSize=12)
    unit = what.encode(x=alt.value(8), y=alt.value(-13), text="words:N")
    return alt.layer(rule, lines, words, unit, name_lines(named, "text"))


def growth_chart(growth: Mapping[str, Any]) -> alt.LayerChart:
    """Different words against running words of a text, for English and German, with Heaps' law and a line at 37,000.

    Parameters
    ----------
    growth
        As the record `subwords` has it: for each language 'running' and 'different'.
    """
    names = ["German", "English"]
    measured = [pd.DataFrame(growth[name.lower()]).assign(language=name) for name in names]
    table = pd.concat(measured)[["language", "running", "different"]]
    x = x_axis("running:Q", "words read", type="log", nice=False, values=[10.0**i for i in range(3, 8)], format="~s")
    y = alt.Y("different:Q", title="different words among them", scale=alt.Scale(type="log", nice=False),
              axis=alt.Axis(values=[10.0**i for i in range(3, 7)], format="~s"))  # fmt: skip
    lines = (
        alt.Chart(table)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40))
        .encode(
            x=x,
            y=y,
            color=colour_by("language:N", names, [ORANGE, BLUE]),
            strokeDash=dash_by("language:N", names, [[1, 0], [5, 3]]),
            tooltip=["language:N", alt.Tooltip("running:Q", format=","), alt.Tooltip("different:Q", format=",")],
        )
    )
    fitted = pd.concat([_heaps(part) for _, part in table.groupby("language")])
    law = alt.Chart(fitted).mark_line(color=GREY, strokeWidth=1, opacity=0.9).encode(x=x, y=y, detail="language:N")
    slopes = fitted.groupby("language").tail(1)
    slopes = slopes.assign(slope=slopes["language"] + ", " + slopes["slope"])
    slope = (
        alt.Chart(slopes)
        .mark_text(align="right", dx=-10, dy=-8, fontSize=12, fontWeight="bold")
        .encode(x=x, y=y, text="slope:N", color=colour_by("language:N", names, [ORANGE, BLUE]))
    )
    limit = alt.Chart(pd.DataFrame({"different": [37_000], "words": ["37,000 entries"]}))
    rule = limit.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y=y)
    name = limit.mark_text(align="left", baseline="bottom", dx=4, dy=-2, fontSize=12).encode(
        x=alt.value(0), y=y, text="words:N"
    )
    most = growth["german"]["different"][-1], growth["english"]["different"][-1]
    return titled(
        alt.layer(rule, name, law, lines, slope),
        height=260,
        title="New words never stop: both lines stay close to a straight one",
        description="Different words against words read, both on logarithmic axes, for German and English, each with "
        f"a straight line fitted to it. Neither becomes flat: after all the text German has {most[0]:,} different "
        f"words and English {most[1]:,}, both far above a line at 37,000.",
    )


def _heaps(part: pd.DataFrame) -> pd.DataFrame:
    """Two points of the straight line through the logarithms of one language: Heaps' law."""
    logs = np.log(part[["running", "different"]].astype(float))
    slope, height = np.polyfit(logs["running"], logs["different"], 1)
    ends = logs["running"].iloc[[0, -1]].to_numpy()
    lines = {"running": np.exp(ends), "different": np.exp(height + slope * ends)}
    return pd.DataFrame(lines).assign(language=part["language"].iloc[0], slope=f"slope {slope:.2f}")
