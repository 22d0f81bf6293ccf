"""Charts of what trained models do with places: which encodings work, how far, and which heads use offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, steps
from annotated_book.viz.tables import ONE_ROW, curves_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE


def comparison_chart(scores: Mapping[str, Mapping[str, Sequence[float]]], *, task: str | None = None) -> alt.LayerChart:
    """Accuracy with each kind of positions on a task that a menu chooses: a bar for the mean, a point for each seed.

    Parameters
    ----------
    scores
        Task to kind to one accuracy for each seed.
    task
        Which to show first; None for the first.
    """
    tasks = list(scores)
    start = tasks[0] if task is None else task
    kinds = list(scores[start])
    table = curves_table(scores, "task", "kind", "seed", "accuracy").drop(columns="seed")
    table["mean"] = table.groupby(["task", "kind"])["accuracy"].transform("mean").round(4)
    base = alt.Chart(table).transform_filter("datum.task == task")
    y = y_axis("kind:N", None, sort=kinds, labelLimit=150)
    x = x_axis("accuracy:Q", "accuracy on fresh rows", domain=[0, 1], format="%")
    bars = base.mark_bar(height=14, color=BLUE, opacity=0.35).encode(x=x_axis("mean(accuracy):Q", domain=[0, 1]), y=y)
    points = base.mark_point(shape="diamond", filled=True, size=55, color=ORANGE, opacity=1).encode(
        x=x, y=y, tooltip=["kind:N", alt.Tooltip("accuracy:Q", format=".1%")]
    )
    said = "; ".join(f"{kind} {np.mean(list(scores[start][kind])):.0%}" for kind in kinds)
    return titled(
        alt.layer(bars, points),
        menu("task", tasks, start),
        height=27 * len(kinds),
        title=alt.expr("'Which positions suffice to ' + task + '?'"),
        description=f"Accuracy by kind of positions, with a menu for the task. On the task {start}: {said}.",
    )


def extrapolation_chart(curves: Mapping[str, ArrayLike], trained: int, chance: float) -> alt.LayerChart:
    """Accuracy at each position for a few models, with the end of the training length marked; a menu picks a seed.

    Parameters
    ----------
    curves
        For each kind, `[seeds, positions]`.
    trained
        Longest row in training.
    chance
        Accuracy of a guess.
    """
    arrays = {kind: np.asarray(values, dtype=np.float64) for kind, values in curves.items()}
    seeds = {array.shape[0] for array in arrays.values()}
    if len(seeds) != 1:
        raise ValueError(f"every kind needs the same number of seeds, not {sorted(seeds)}")
    (count,) = seeds
    options = ["mean of all", *(f"seed {s}" for s in range(count))]
    kinds = list(arrays)
    runs = {kind: np.vstack([array.mean(axis=0), array]).round(3).tolist() for kind, array in arrays.items()}
    table = pd.DataFrame(runs).assign(run=options).melt("run", var_name="kind", value_name="share")
    lines = (
        alt.Chart(table)
        .transform_filter("datum.run == run")
        .transform_flatten(["share"])
        .transform_window(position="row_number()", groupby=["kind"])
        .transform_calculate(position="datum.position - 1")
        .encode(
            x=x_axis("position:Q", "position in the row, in symbols", nice=False),
            y=y_axis("share:Q", "accuracy", format="%", domain=[0, 1]),
            color=colour_by("kind:N", kinds, [GREEN, BLUE, ORANGE, *PALETTE[3:]]),
            tooltip=["kind:N", "position:Q", alt.Tooltip("share:Q", format=".0%")],
        )
    )
    dash = dash_by("kind:N", kinds, [[1, 0], [6, 3], [2, 2]])
    edge = alt.Chart(pd.DataFrame({"position": [trained - 0.5], "share": [0.5], "t": ["longest row in training"]}))
    rule = edge.mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=2).encode(x="position:Q")
    name = edge.mark_text(align="left", dx=6, fontSize=12).encode(x="position:Q", y="share:Q", text="t:N")
    guess = alt.Chart(pd.DataFrame({"share": [chance], "t": [f"a guess: {chance:.0%}"]})).encode(y="share:Q")
    level = guess.mark_rule(color=GREY, strokeWidth=1)
    level_name = guess.mark_text(align="left", dy=9, fontSize=12).encode(x=alt.value(4), text="t:N")
    said = "; ".join(
        f"{k}: {a[:, :trained].mean():.0%} before, {a[:, trained:].mean():.0%} after" for k, a in arrays.items()
    )
    return titled(
        alt.layer(
            lines.mark_line(strokeWidth=2).encode(strokeDash=dash),
            rule,
            name,
            level,
            level_name,
            name_lines(lines, "kind", words=in_lines(kinds, 8)),
        ),
        menu("run", options),
        height=230,
        title="Without random starts accuracy is near a guess at most positions past the training length",
        description=f"Accuracy by position for {len(kinds)} kinds of positions, with a menu for the seed; a line "
        f"marks the longest row in training, {trained}, another the accuracy of a guess. Means: {said}.",
    )


def start_chart(
    starts: Sequence[int], losses: Sequence[float], *, without: float, seen: int, start: int | None = None
) -> alt.LayerChart:
    """The loss of a model whose sentences are moved to later positions; a slider picks one start.

    Parameters
    ----------
    starts, losses
        The first word's position, and the loss there.
    without
        The loss with no positions at all, for comparison.
    seen
        The last position that training has seen.
    start
        Which to show first; None for the last.
    """
    table = pd.DataFrame({"step": range(len(starts)), "start": starts, "loss": losses}).round({"loss": 4})
    x = x_axis("start:O", "position of the first token", labelAngle=-45)
    y = y_axis("loss:Q", "loss, nats per token", zero=True)
    base = alt.Chart(table).encode(x=x, y=y, tooltip=["start:O", alt.Tooltip("loss:Q", format=".2f")])
    level = alt.Chart(pd.DataFrame({"loss": [without], "t": ["no positions at all"]}))
    first = starts[-1] if start is None else start
    if first not in starts:
        raise ValueError(f"no loss was given for the start {first}")
    one = base.transform_filter("datum.step == step")
    return titled(
        alt.layer(
            base.mark_circle(color=BLUE, size=70, opacity=1),
            level.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y="loss:Q"),
            level.mark_text(align="left", dy=-7, fontSize=12).encode(x=alt.value(4), y="loss:Q", text="t:N"),
            one.mark_point(shape="diamond", filled=True, size=150, color=ORANGE, opacity=1),
            one.transform_calculate(t="format(datum.loss, '.2f')").mark_text(dy=-14, fontSize=13).encode(text="t:N"),
        ),
        steps("step", starts, first, "first token at position"),
        height=230,
        title="From position 5 on the loss is more than ten times as high",
        description=f"Loss against the position at which a sentence starts. From {losses[0]:.2f} at {starts[0]} it "
        f"changes to {losses[-1]:.2f} at {starts[-1]}; without any positions it is {without:.2f}. Training has seen "
        f"positions up to {seen}.",
    )


def position_scores_chart(scores: ArrayLike, *, seen: int, names: Sequence[str] | None = None, head: int = 0) -> Any:
    """What each head's scores would be if words had only places: queries on rows, keys on columns; a menu of heads.

    Parameters
    ----------
    scores
        `[H, n, n]`, the mean of each row taken off.
    seen
        Positions from this one on were never seen in training; a frame marks those that were.
    names
        Of the H heads.
    head
        Which to show first.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != array.shape[2]:
        raise ValueError(f"scores must be [H, n, n], not {list(array.shape)}")
    heads, n = array.shape[:2]
    labels = list(names) if names is not None else [f"head {h + 1}" for h in range(heads)]
    shares = array / np.abs(array).max(axis=(1, 2), keepdims=True) * 100
    table = pd.DataFrame({"head": labels, "v": shares.round().astype(int).reshape(heads, -1).tolist()})
    frame = (
        alt.Chart(ONE_ROW)
        .mark_rect(filled=False, stroke="currentColor", strokeWidth=1.6, strokeDash=[4, 3])
        .encode(
            x=alt.value(0),
            y=alt.value(0),
            x2=alt.value(alt.expr(f"width * {seen / n}")),
            y2=alt.value(alt.expr(f"height * {seen / n}")),
        )
    )
    best = [int(np.median(one[:seen, :seen].argmax(1) - np.arange(seen))) for one in array]
    said = "; ".join(f"{label} {offset:+d}" for label, offset in zip(labels, best, strict=True))
    return titled(
        alt.layer(_score_cells(table, n), frame),
        menu("head", labels, labels[head]),
        width=300,
        height=300,
        title=alt.expr("'Scores from positions alone, ' + head"),
        description=f"Scores from positions alone for {heads} heads, chosen by a menu, as a table of {n} queries by "
        f"{n} keys, blue for above the row's mean and orange for below; a frame marks the {seen} positions seen in "
        f"training. The usual offset of the highest score inside it: {said}.",
        usermeta={"renderer": "canvas"},
    )


def _score_cells(table: pd.DataFrame, n: int) -> alt.Chart:
    """The scores of the chosen head, in per cent of its largest."""
    every = alt.Axis(labelExpr="datum.value % 10 == 0 ? datum.label : ''", labelAngle=0, ticks=False)
    return (
        alt.Chart(table)
        .transform_filter("datum.head == head")
        .transform_flatten(["v"])
        .transform_window(i="row_number()")
        .transform_calculate(
            q=f"floor((datum.i - 1) / {n})",
            k=f"(datum.i - 1) % {n}",
            size="abs(datum.v) / 100",
            offset="datum.k - datum.q",
        )
        .mark_rect()
        .encode(
            x=alt.X("k:O", title="position of the key", axis=every),
            y=alt.Y("q:O", title="position of the query", axis=every),
            color=alt.condition("datum.v > 0", alt.value(BLUE), alt.value(ORANGE)),
            opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            tooltip=["q:O", "k:O", "offset:Q", "v:Q"],
        )
    )
