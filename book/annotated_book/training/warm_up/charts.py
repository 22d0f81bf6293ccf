"""A chart of the grid of learning rates and warm-ups: a heat map of where runs end, and the curves of two cells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREY, ORANGE

_ENDS = ("At the highest rate every warm-up helps", "loss on unseen sentences; darker is higher; click a cell")
_PAIR = ("Two warm-ups at the chosen rate", "coloured dashes: the other warm-up")


def warm_up_chart(
    runs: Sequence[Mapping[str, Any]],
    *,
    block: int,
    floor: float,
    placement: str,
    rate: float,
    warmup: int,
    beside: int | None = None,
) -> alt.VConcatChart:
    """Where a small Transformer ends for each rate and warm-up, and how it gets there; menus choose two runs.

    Parameters
    ----------
    runs
        Of the record `warm_up`: placement, rate, warmup, seed, loss and valid.
    block
        Updates that one number of a loss stands for.
    floor
        Loss of a guess that knows only frequencies, drawn as a line.
    placement, rate, warmup
        The cell to start at.
    beside
        Another warm-up, whose run with the same rate is drawn dashed; the longest unless told.

    Raises
    ------
    ValueError
        If there is no such run.
    """
    table = pd.DataFrame(runs).rename(columns={"placement": "p", "rate": "r", "warmup": "w"}).astype({"seed": str})
    cells = table.groupby(["p", "r", "w"], sort=False)["valid"].agg(v=_mean, n="size")
    if (placement, rate, warmup) not in cells.index:
        raise ValueError(f"there is no {placement} run with rate {rate} and a warm-up of {warmup}")
    placements, rates, warmups = (table[key].unique().tolist() for key in ("p", "r", "w"))
    rates, warmups = sorted(rates), sorted(warmups)
    other = menu("beside", warmups, warmups[-1] if beside is None else beside, "compared with a warm-up of")
    cell = alt.selection_point(
        name="cell",
        fields=["r", "w"],
        bind={
            "r": alt.binding_select(options=rates, name="learning rate "),
            "w": alt.binding_select(options=warmups, name="warm-up "),
        },
        on="click",
        clear=False,
        toggle=False,
        value=[{"r": rate, "w": warmup}],
    )
    ends = cells["v"].map("{:.2f}".format).where(cells["v"].notna(), "no number")
    said = ", ".join(
        f"{r:g} without {ends[placement, r, warmups[0]]}, with {warmups[-1]} updates {ends[placement, r, warmups[-1]]}"
        for r in rates
    )
    return titled(
        alt.vconcat(
            _map(cells, rates, warmups, cell).properties(width=300, height=alt.Step(34), title=_part(*_ENDS)),
            _curves(table, block, floor, cell).properties(width=300, height=220, title=_part(*_PAIR)),
            usermeta={"fit": True},
        ).resolve_scale(color="independent"),
        menu("placed", placements, placement, "placement"),
        other,
        description="Above, a table of the loss on unseen sentences at the end, warm-up on rows and learning rate on "
        "columns, lighter for lower; below, the training curves of the chosen cell, dashed those of another warm-up "
        "at the same rate, and all others of that placement in grey. A click or two menus choose the cell, a third "
        f"menu the other warm-up. {placement}: {said}.",
    )


def _part(title: str, below: str = "") -> alt.Title:
    """What to see in one of the two views, and how to read it."""
    return alt.Title(title, anchor="start", **({"subtitle": below} if below else {}))


def _mean(losses: pd.Series) -> float:
    """NaN if a run ended in something that is no number."""
    return round(float(losses.astype(float).sum(skipna=False)) / len(losses), 3)


def _map(cells: pd.DataFrame, rates: Sequence[float], warmups: Sequence[int], cell: alt.Parameter) -> alt.LayerChart:
    """The table of ends; a click chooses the cell. One scale serves both placements, so that colours compare."""
    ends = cells["v"].dropna()
    low, high = float(ends.min()), max(float(ends.max()), float(ends.min()) + 0.1)
    base = alt.Chart(cells.reset_index()).transform_filter("datum.p == placed")
    x = x_axis("r:O", "learning rate", sort=list(rates), labelAngle=0, orient="top")
    y = alt.Y("w:O", sort=list(warmups), title="warm-up (updates)")
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(domain=[low, (low + high) / 2, high], range=["#eef5fc", "#a9cdee", "#123a6b"]),
        legend=None,  # every tile has its figure
    )
    tip = [
        alt.Tooltip("r:O", title="learning rate"),
        alt.Tooltip("w:O", title="warm-up"),
        alt.Tooltip("v:Q", title="loss on unseen sentences"),
        alt.Tooltip("n:Q", title="seeds"),
    ]
    tiles = (
        base.mark_rect(stroke=ORANGE, cursor="pointer")
        .encode(x, y, colour, strokeWidth=alt.condition(cell, alt.value(4), alt.value(0)), tooltip=tip)
        .add_params(cell)
    )
    ink = alt.condition(f"datum.v > {0.25 * low + 0.75 * high}", alt.value("#ffffff"), alt.value("#10223a"))
    figures = base.mark_text(fontSize=12, tooltip=None).encode(x, y, text=alt.Text("v:Q", format=".2f"), fill=ink)
    return alt.layer(tiles, figures)


def _curves(table: pd.DataFrame, block: int, floor: float, cell: alt.Parameter) -> alt.LayerChart:
    """The training curves of the chosen cell, dashed those of the other warm-up, and all others in grey."""
    base = (
        alt.Chart(table[["p", "r", "w", "seed", "loss"]])
        .transform_filter("datum.p == placed")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["r", "w", "seed"])
        .transform_calculate(update=f"(datum.step - 0.5) * {block}")
    )
    losses = table["loss"].explode().astype(float)
    scale = alt.Scale(domain=[round(losses.min() - 0.1, 1), round(losses.max() + 0.1, 1)])
    encoding = {
        "x": alt.X("update:Q", title="updates"),
        "y": y_axis("loss:Q", "training loss (nats per token)", scale=scale, tickCount=5),
    }
    others = base.mark_line(color=GREY, strokeWidth=0.8, opacity=0.45).encode(
        detail=["r:N", "w:N", "seed:N"], **encoding
    )
    chosen = base.transform_filter(cell)
    seeds = sorted(table["seed"].unique().tolist())
    of = {name: sorted(rows.unique().tolist()) for name, rows in table.groupby("p")["seed"]}
    drawn = alt.ExprRef(f"{json.dumps(of)}[placed] || {json.dumps(seeds)}")
    legend = alt.Legend(title="seed; grey: other runs", orient="top", values=drawn)
    encoding_of_seed = encoding | {
        "color": colour_by("seed:N", seeds, [BLUE, ORANGE], legend=legend),
        "tooltip": ["r:N", "w:N", "seed:N", "update:Q", "loss:Q"],
    }
    lines = chosen.mark_line(strokeWidth=2.6).encode(**encoding_of_seed)
    beside = base.transform_filter("datum.w == beside && datum.r == cell.r[0] && datum.w != cell.w[0]")
    dashed = beside.mark_line(strokeWidth=1.8, strokeDash=[3, 3]).encode(**encoding_of_seed)
    blind = alt.Chart(pd.DataFrame({"loss": [floor]}))
    rule = blind.mark_rule(strokeDash=[5, 4], color=GREY)
    word = blind.mark_text(align="left", baseline="bottom", dy=-6, fontSize=12)
    return alt.layer(
        others,
        dashed,
        lines,
        rule.encode(y=encoding["y"]),
        word.encode(x=alt.value(6), y=alt.value("height"), text=alt.value("grey dashes: a guess by frequencies alone")),
    )
