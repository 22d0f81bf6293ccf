"""Charts of greedy search: two ways through a sentence, how often greedy loses, and what a cache saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines, name_points
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import named_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, INK, ORANGE

SEARCHES = ("greedy search", "most probable")
STATES = ("computed now", "kept", "not needed any more", "not there yet")


def two_ways_chart(walks: Sequence[Mapping[str, Any]], tokens: Callable[[list[int]], list[str]]) -> alt.LayerChart:
    """Running sums of log-probability: greedy's way and the way of the most probable translation, with a menu.

    Parameters
    ----------
    walks
        As `annotated_book.decoding.greedy.experiment.walk` makes them, each with a `text` for the menu.
    tokens
        Names the ids: a tokenizer's `tokens`.

    Raises
    ------
    ValueError
        If there is no sentence, or two have the same text.
    """
    names = [walk["text"] for walk in walks]
    if not names or len(set(names)) < len(names):
        raise ValueError("give at least one sentence, and each text once")
    table = pd.concat([_two_ways(walk, tokens) for walk in walks])
    ticks = alt.Axis(tickCount=4, labelExpr="datum.value > 0 ? '' : datum.label")
    base = (
        alt.Chart(table)
        .transform_filter("datum.text == shown")
        .encode(
            x=x_axis("sum:Q", "log-probability so far (nats)", axis=ticks, padding=72, nice=False),
            y=y_axis("t:Q", "tokens written", tickMinStep=1, padding=26, nice=False, reverse=True),
            order="t:Q",
            color=colour_by("search:N", SEARCHES, [BLUE, GREEN]),
            tooltip=["search:N", "token:N", alt.Tooltip("sum:Q", format=".2f", title="sum")],
        )
    )
    dash = dash_by("search:N", SEARCHES, [[1, 0], [5, 3]])
    return titled(
        alt.layer(
            *line_layers(base, dash=dash, shape=shape_by("search:N", SEARCHES, ["circle", "diamond"]), size=46),
            base.transform_filter("!datum.above")
            .mark_text(align="right", dx=-8, baseline="middle")
            .encode(text="label:N")
            .properties(name="halo_left"),
            base.transform_filter("datum.above")
            .mark_text(align="left", dx=8, baseline="middle")
            .encode(text="label:N")
            .properties(name="halo_right"),
            name_points(base, "search", below=True),
        ),
        menu("shown", names, label="sentence"),
        height=380,
        title="Greedy search leads at the fork, not at the end",
        description=f"Two lines for a sentence chosen from {len(names)}, read downwards: the sum of "
        "log-probabilities after each token of the greedy search, and of the most probable translation. They are one "
        "line up to the token at which they part. There greedy search has the higher sum; at the end it has the "
        "lower one.",
    )


def _two_ways(walk: Mapping[str, Any], tokens: Callable[[list[int]], list[str]]) -> pd.DataFrame:
    """The points of both searches: running sum, token, its label, and whether it is the higher of the two."""
    apart = len(walk["steps"]) if walk["leaves"] is None else walk["leaves"]
    found = []
    for search, way in zip(SEARCHES, ("greedy", "best"), strict=True):
        token = pd.Series(["<s>", *tokens(list(walk[way]["tokens"]))])
        total = np.cumsum([0.0, *walk[way]["log_probability"]])
        found.append(pd.DataFrame({"search": search, "t": token.index, "token": token, "sum": total}))
    greedy, best = found
    for way, other in ((greedy, best), (best, greedy)):
        beside = other["sum"].reindex(way.index, method="ffill")  # a line that has ended stays where it is
        way["above"] = (way["t"] > apart) & (way["sum"] > beside)
        way["label"] = way["token"].str.replace("▁", "")
    best.loc[best["t"] <= apart, "label"] = ""  # written once, where both say the same
    return pd.concat(found).round({"sum": 3}).assign(text=walk["text"])


def lost_chart(stages: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """In what share of sentences greedy search and a beam of four miss the most probable translation, by training.

    Parameters
    ----------
    stages
        Each with `updates`, `proven`, `greedy_lost` and `beam_lost`, as in the record `greedy`.
    """
    names = ["greedy search", "beam of four"]
    table = pd.DataFrame(stages).set_index("updates")
    lost = table[["greedy_lost", "beam_lost"]].div(table["proven"], axis="index").set_axis(names, axis="columns")
    shares = lost.melt(var_name="search", value_name="share", ignore_index=False).reset_index()
    updates = table.index.tolist()
    base = alt.Chart(shares).encode(
        x=x_axis("updates:Q", "updates (logarithmic)", type="log", padding=24, nice=False, values=updates, format="d"),
        y=y_axis("share:Q", "sentences missed (%)", format="%", domain=[0, 1]),
        color=colour_by("search:N", names, [BLUE, ORANGE]),
        tooltip=["search:N", "updates:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    return titled(
        _two_lines(base, "search", names),
        height=220,
        title="Both searches miss fewer sentences as training goes on",
        description=f"Two lines over {len(stages)} stages of training: the share of sentences in which greedy "
        "search, and in which a beam of four, does not return the most probable translation. Greedy misses more at "
        "every stage, and both miss fewer as training goes on.",
    )


def cache_chart(length: int = 8, source_length: int = 6, *, step: int = 5) -> alt.LayerChart:
    """What one decoder layer computes at a step, with and without a cache, tile by tile; a slider sets the step.

    Parameters
    ----------
    length
        T: steps.
    source_length
        S: keys and values of the source.
    step
        The first step shown, from 1.

    Raises
    ------
    ValueError
        If there is no such step.
    """
    if not 1 <= step <= length or source_length < 1:
        raise ValueError(f"step must lie between 1 and {length}, and the source needs a token")
    tiles = _cache_tiles(length, source_length)
    lines = tiles["line"].unique().tolist()
    again = "cached == 'without' ? 'computed now' : "
    state = (
        f"datum.first > step ? '{STATES[3]}' : datum.first == step ? '{STATES[0]}' : "
        f"{again}datum.kind == 'score' ? '{STATES[2]}' : '{STATES[1]}'"
    )
    switch = alt.binding_radio(options=["with", "without"], name="a cache: ")
    legend = alt.Legend(columns=2, values=list(STATES[:3]))
    base = alt.Chart(tiles).transform_calculate(state=state)
    drawn = base.mark_rect(stroke=INK, strokeOpacity=0.45, strokeWidth=0.8, cornerRadius=2).encode(
        x=x_axis("x:O", "position", labelAngle=0),
        y=alt.Y("line:N", sort=lines, title=None),
        color=colour_by("state:N", STATES, [ORANGE, GREEN, GREY, "transparent"], legend=legend),
        fillOpacity=alt.condition(f"datum.state == '{STATES[2]}'", alt.value(0.25), alt.value(0.9)),
        tooltip=["line:N", "x:O", "state:N"],
    )
    told = (
        base.transform_calculate(now=f"datum.state == '{STATES[0]}' ? 1 : 0")
        .transform_aggregate(now="sum(now)")
        .transform_calculate(text="'step ' + step + ': ' + datum.now + ' tiles\\ncomputed now'")
        .mark_text(align="right", baseline="bottom", fontSize=13, lineBreak="\n")
        .encode(x=alt.value("width"), y=alt.value(20 * 4 + 54), text="text:N")
    )
    return titled(
        alt.layer(drawn, told),
        slider("step", step, 1, length),
        alt.param(name="cached", value="with", bind=switch),
        height=20 * len(lines),
        title="With a cache a step computes one row, without it the whole triangle",
        description=f"Tiles of one decoder layer over {length} steps: keys and values of the source, keys and values "
        "of the target, and a triangle of scores, a row for each query. A slider sets the step, a switch the cache. "
        "With a cache each step computes one key, one value and one row of scores, and keeps the rest; without, it "
        "computes everything up to here again.",
    )


def _cache_tiles(length: int, source_length: int) -> pd.DataFrame:
    """A row for each tile: its line, its position x, and the first step that needs it; keys and values come first."""
    source, own = (pd.DataFrame({"x": range(1, size + 1)}) for size in (source_length, length))
    parts = [source.assign(line=f"source {what}", first=1, kind="source") for what in ("keys", "values")]
    parts += [own.assign(line=f"own {what}", first=own["x"], kind="own") for what in ("keys", "values")]
    scores = own.rename(columns={"x": "first"}).merge(own, how="cross").query("x <= first")
    return pd.concat([*parts, scores.assign(line="query " + scores["first"].astype(str), kind="score")])


def cache_cost_chart(costs: Mapping[str, Mapping[int, float]], title: str) -> alt.LayerChart:
    """What it costs to write a sentence, over its length, on two logarithmic axes.

    Parameters
    ----------
    costs
        For each way, what each length costs: positive numbers.
    title
        Of the vertical axis, with the unit.
    """
    names = list(costs)
    table = named_table(costs, "way", "length", "cost")
    if not table[["length", "cost"]].gt(0).all(axis=None):
        raise ValueError("lengths and costs must be positive")
    lengths, tens = sorted(table["length"].unique().tolist()), [10.0**n for n in range(-3, 13)]
    base = alt.Chart(table).encode(
        x=x_axis("length:Q", "tokens written", type="log", base=2, padding=14, nice=False, values=lengths, format="d"),
        y=y_axis("cost:Q", title, type="log", nice=False, padding=8, values=tens, format="~s"),
        color=colour_by("way:N", names, [BLUE, ORANGE]),
        tooltip=["way:N", "length:Q", alt.Tooltip("cost:Q", format=".3s")],
    )
    return titled(
        _two_lines(base, "way", names),
        height=240,
        title="Without a cache the cost grows faster",
        description=f"Two rising lines, {names[0]} and {names[-1]}: the cost of writing a sentence of {lengths[0]} "
        f"to {lengths[-1]} tokens. They begin together and the lower one rises more slowly.",
    )


def _two_lines(base: alt.Chart, field: str, names: Sequence[str]) -> alt.LayerChart:
    """Two lines with points and their names, told apart by dash and shape as well as by colour."""
    dash = dash_by(field, names, [[1, 0], [5, 3]])
    shape = shape_by(field, names, ["circle", "square"])
    return alt.layer(*line_layers(base, dash=dash, shape=shape), name_lines(base, field))
