"""A chart of the grid of learning rates and warm-ups: a heat map of where runs end, and the curves of a chosen cell.

Paper: section 5.3
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from annotated.viz.theme import BLUE, GREY, ORANGE


def warm_up_chart(
    runs: Sequence[Mapping[str, Any]], *, block: int, floor: float, placement: str, rate: float, warmup: int
) -> alt.VConcatChart:
    """Where a small Transformer ends for each rate and warm-up, and how it gets there; menus choose the cell.

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

    Raises
    ------
    ValueError
        If there is no such run.

    Paper: section 5.3
    """
    if not any((r["placement"], r["rate"], r["warmup"]) == (placement, rate, warmup) for r in runs):
        raise ValueError(f"there is no {placement} run with rate {rate} and a warm-up of {warmup}")
    rates, warmups = (sorted({run[key] for run in runs}) for key in ("rate", "warmup"))
    placements = list(dict.fromkeys(run["placement"] for run in runs))
    params = [
        alt.param(name=name, value=value, bind=alt.binding_select(options=options, name=label + " "))
        for name, value, options, label in (
            ("placed", placement, placements, "placement"),
            ("rate", rate, rates, "learning rate"),
            ("warm", warmup, warmups, "warm-up"),
        )
    ]
    cells = defaultdict(list)
    for run in runs:
        cells[run["placement"], run["rate"], run["warmup"]].append(run["valid"])
    said = ", ".join(
        f"{r:g} without {_ends(cells[placement, r, warmups[0]])}, with {warmups[-1]} updates "
        f"{_ends(cells[placement, r, warmups[-1]])}"
        for r in rates
    )
    return (
        alt.vconcat(
            _map(cells, rates, warmups, floor).properties(width=300, height=alt.Step(30)),
            _curves(runs, block, floor).properties(width=300, height=200),
            usermeta={"fit": True},
        )
        .add_params(*params)
        .resolve_scale(color="independent")
        .properties(
            description=(
                "Above, a table of the loss on unseen sentences at the end, warm-up on rows and learning rate on "
                "columns, lighter for lower; below, the training curves of the cell that three menus choose, and "
                f"all others of that placement in grey. {placement}: {said}."
            )
        )
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """None if a run ended in something that is no number."""
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 3) if len(known) == len(values) else None


def _ends(values: Sequence[float | None]) -> str:
    mean = _mean(values)
    return "no number" if mean is None else f"{mean:.2f}"


def _map(
    cells: Mapping[Any, Sequence[float | None]], rates: Sequence[float], warmups: Sequence[int], floor: float
) -> alt.LayerChart:
    rows = [{"p": p, "r": r, "w": w, "v": _mean(values), "n": len(values)} for (p, r, w), values in cells.items()]
    ends = [row["v"] for row in rows if row["v"] is not None] or [floor]
    base = alt.Chart(alt.Data(values=rows)).transform_filter("datum.p == placed")
    x = alt.X("r:O", sort=list(rates), title="learning rate", axis=alt.Axis(labelAngle=0, orient="top"))
    y = alt.Y("w:O", sort=list(warmups), title="warm-up (updates)")
    colour = alt.Color(
        "v:Q", scale=alt.Scale(domain=[min(ends), max(ends)], range=["#e8f1fb", "#1d4f8a"], clamp=True), legend=None
    )
    tip = [
        alt.Tooltip("r:O", title="learning rate"),
        alt.Tooltip("w:O", title="warm-up"),
        alt.Tooltip("v:Q", title="loss on unseen sentences"),
        alt.Tooltip("n:Q", title="seeds"),
    ]
    dark = 0.32 * min(ends) + 0.68 * max(ends)  # from here on, white figures are easier to read
    tiles = base.mark_rect(stroke=ORANGE).encode(
        x=x,
        y=y,
        color=colour,
        strokeWidth=alt.condition("datum.r == rate && datum.w == warm", alt.value(4), alt.value(0)),
        tooltip=tip,
    )
    figures = base.mark_text(fontSize=12).encode(
        x=x,
        y=y,
        text=alt.Text("v:Q", format=".2f"),
        fill=alt.condition(f"datum.v > {dark:.3f}", alt.value("#ffffff"), alt.value("#10223a")),
    )
    return alt.layer(tiles, figures)


def _curves(runs: Sequence[Mapping[str, Any]], block: int, floor: float) -> alt.LayerChart:
    rows = [
        {"p": run["placement"], "r": run["rate"], "w": run["warmup"], "seed": str(run["seed"]), "loss": run["loss"]}
        for run in runs
    ]
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.p == placed")
        .transform_flatten(["loss"])
        .transform_window(step="row_number()", groupby=["r", "w", "seed"])
        .transform_calculate(update=f"(datum.step - 0.5) * {block}")
    )
    ends = [loss for row in rows for loss in row["loss"] if loss is not None]
    scale = alt.Scale(domain=[round(min(ends) - 0.1, 1), 8.2], clamp=True)
    encoding = {
        "x": alt.X("update:Q", title="updates"),
        "y": alt.Y("loss:Q", title="training loss (nats)", scale=scale, axis=alt.Axis(tickCount=5)),
    }
    others = base.mark_line(color=GREY, strokeWidth=0.8, opacity=0.45).encode(
        detail=["r:N", "w:N", "seed:N"], **encoding
    )
    chosen = base.transform_filter("datum.r == rate && datum.w == warm")
    seeds = sorted({row["seed"] for row in rows})
    lines = chosen.mark_line(strokeWidth=2.6).encode(
        color=alt.Color(
            "seed:N",
            scale=alt.Scale(domain=seeds, range=[BLUE, ORANGE][: len(seeds)]),
            legend=alt.Legend(title="seed", orient="top"),
        ),
        tooltip=["r:N", "w:N", "seed:N", "update:Q", "loss:Q"],
        **encoding,
    )
    rule = alt.Chart(alt.Data(values=[{"loss": floor}])).mark_rule(strokeDash=[5, 4], color=GREY)
    word = alt.Chart(alt.Data(values=[{"loss": floor}])).mark_text(align="left", dx=4, dy=9, fontSize=11)
    return alt.layer(
        others,
        lines,
        rule.encode(y=encoding["y"]),
        word.encode(x=alt.value(0), y=encoding["y"], text=alt.value("only frequencies")),
    )
