"""Results of the versions trained alike: losses, and how soon each has the loss that the model as written ends with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.experiments.runs_file import RUNS, read_runs
from annotated_book.results.since_2017 import results as parts
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

RECORDS = Path(__file__).parent / RUNS
TITLES = {"written": "as written", "v1": "released v1", "v3": "released v3", "2026": "as today"}
"""By the rows of the records; that of today is chapter 34's."""
_COLOURS = {"written": ORANGE, "v1": GREY, "v3": BLUE, "2026": GREEN}

Runs = Mapping[str, Sequence[Mapping[str, Any]]]
"""The records of each row, in the order of the seeds."""


def recorded_versions(records: Path = RECORDS, today: Path = parts.RECORDS) -> dict[str, list[dict[str, Any]]]:
    """All runs on record of the four versions; a row without any is left out."""
    found = [*read_runs(records).values(), *(one for one in read_runs(today).values() if one["row"] == "2026")]
    rows = {row: [one for one in found if one["row"] == row] for row in TITLES}
    return {row: ones for row, ones in rows.items() if ones}


def tokens_until(curve: Sequence[Mapping[str, Any]], loss: float) -> float:
    """Target tokens read when the validation loss of a curve first is at most `loss`; infinite if it never is.

    Between two validations the loss is taken to fall in a straight line.
    """
    before: Mapping[str, Any] | None = None
    for point in curve:
        value = point["validation_loss"]
        if value is not None and value <= loss:
            if before is None:
                return float(point["tokens_seen"])
            share = (before["validation_loss"] - loss) / (before["validation_loss"] - value)
            return before["tokens_seen"] + share * (point["tokens_seen"] - before["tokens_seen"])
        before = point if value is not None else before
    return math.inf


def mean_curve(ones: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """The curve of a row: at each validation, the mean of its seeds' losses and of the tokens that they had read."""
    together = zip(*(one["curve"] for one in ones), strict=True)
    return [{name: mean(p[name] for p in points) for name in ("tokens_seen", "validation_loss")} for points in together]


def version_table(runs: Runs) -> pd.DataFrame:
    """What was set in each version, and means over its seeds.

    Returns
    -------
    DataFrame
        Indexed by version: norm, warm-up (updates), highest rate, seeds, final loss (nats per token) with its
        deviation, BLEU, and the millions of target tokens after which the mean loss is that with which the version as
        written ends.
    """
    goal = mean_curve(runs["written"])[-1]["validation_loss"]
    rows = {}
    for row, ones in runs.items():
        losses, first = [one["valid_loss"] for one in ones], ones[0]
        rows[TITLES[row]] = {
            "norm": first["model"]["norm"],
            "warm-up": first["training"]["warmup"],
            "highest rate": first["highest_rate"],
            "seeds": len(ones),
            "loss": mean(losses),
            "deviation": stdev(losses) if len(losses) > 1 else math.nan,
            "BLEU": mean(one["bleu"] for one in ones),
            "tokens to the first row's loss": tokens_until(mean_curve(ones), goal) / 1e6,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("version")


def version_chart(runs: Runs) -> alt.LayerChart:
    """Validation loss over the tokens read, a line for each seed; the legend shows one version alone."""
    rows = [
        {
            "version": TITLES[row],
            "seed": one["seed"],
            "tokens": point["tokens_seen"] / 1e6,
            "loss": point["validation_loss"],
        }
        for row, ones in runs.items()
        for one in ones
        for point in one["curve"]
    ]
    colours = {TITLES[row]: _COLOURS[row] for row in runs}
    pick = alt.selection_point(name="version_picked", fields=["version"], bind="legend")
    lines = (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(strokeWidth=1.5)
        .encode(
            x_axis("tokens:Q", "target tokens read, millions", tickCount=6),
            y_axis("loss:Q", "validation loss (nats per token)", zero=False),
            colour_by("version:N", colours, title=None, legend=alt.Legend(columns=2)),
            detail="seed:N",
            opacity=alt.condition(pick, alt.value(1.0), alt.value(0.1)),
            tooltip=["version:N", "seed:N", alt.Tooltip("tokens:Q", format=".2f"), alt.Tooltip("loss:Q", format=".3f")],
        )
    )
    finals = ", ".join(f"{TITLES[row]} {mean(one['valid_loss'] for one in ones):.2f}" for row, ones in runs.items())
    return titled(
        alt.layer(lines.add_params(pick)),
        height=260,
        title="Post-norm hardly begins to learn in one million tokens; the two with pre-norm do",
        description=f"Validation loss of each version over the target tokens read. Means at the end, nats: {finals}.",
    )
