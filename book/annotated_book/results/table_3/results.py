"""Results of the small Table 3 as tables, from its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import pandas as pd

from annotated.evaluation.student_t import student_quantile
from annotated_book.results.table_3.differences import paired_differences
from annotated_book.results.table_3.pairing import fit_rows_and_seeds
from annotated_book.results.table_3.records import SEEDS
from annotated_book.results.table_3.words import label, signed

CHOSE_THE_SIZE = "chose the size"
"""In the place of a verdict on `CHOOSER`: the pilot took the first size at which it is worse than base, so its sign is
no test."""
CHOOSER = "C1"
Rows = Sequence[Mapping[str, Any]]
"""`rows` of the summary: see `annotated_book.results.table_3.row_results.row_results`."""


def losses_of(rows: Rows) -> dict[str, dict[int, float]]:
    """The validation loss of each row's seeds; rows without a finished run are left out."""
    return {one["row"]: dict(zip(one["seeds"], one["valid_losses"], strict=True)) for one in rows if one["seeds"]}


def difference_table(rows: Rows) -> pd.DataFrame:
    """Differences from base, with what each row costs; a verdict for rows with `SEEDS` runs, and `CHOSE_THE_SIZE`.

    Returns
    -------
    DataFrame
        As `annotated_book.results.table_3.differences.paired_differences`, with the columns name, parameters and gflop.
    """
    table, by_row = paired_differences(losses_of(rows), runs=SEEDS), {one["row"]: one for one in rows}
    table.loc[table.index == CHOOSER, "verdict"] = CHOSE_THE_SIZE
    for what in ("parameters", "gflop"):
        table[what] = [by_row[row][what] for row in table.index]
    table.insert(0, "name", [label(row) for row in table.index])
    return table


def shown_table(rows: Rows) -> pd.DataFrame:
    """The differences for a page: each with its interval in one column."""
    table = difference_table(rows)
    ends = zip(table["low"], table["high"], strict=True)
    table["interval"] = [f"{signed(low)} to {signed(high)}" for low, high in ends]
    shown = table[["name", "seeds", "difference", "interval", "p", "paper", "verdict"]]
    return shown.rename(columns={"name": "row", "paper": "paper's"}).reset_index(drop=True)


def seed_table(rows: Rows) -> pd.DataFrame:
    """Each run's difference from base with the same seed, in nats per token; base itself has no row."""
    found = losses_of(rows)
    base = found["base"]
    return pd.DataFrame(
        [
            {"row": row, "name": label(row), "seed": seed, "difference": loss - base[seed]}
            for row, losses in found.items()
            for seed, loss in losses.items()
            if row != "base" and seed in base
        ]
    )


def curve_table(rows: Rows) -> pd.DataFrame:
    """How each run's validation loss differs from that of base with the same seed, after each part of the training.

    Returns
    -------
    DataFrame
        Columns row, name, seed, share (percent of the training), difference (nats per token). A run without a run of
        base with its seed is left out.
    """
    by_row = {one["row"]: one for one in rows}
    base = dict(zip(by_row["base"]["seeds"], by_row["base"]["curves"], strict=True))
    found = []
    for row, one in by_row.items():
        for seed, curve in zip(one["seeds"], one["curves"], strict=True):
            if row == "base" or seed not in base:
                continue
            shares = [100 * update / one["updates"][-1] for update in one["updates"]]
            found += [
                {"row": row, "name": label(row), "seed": seed, "share": share, "difference": mine - its}
                for share, mine, its in zip(shares, curve, base[seed], strict=True)
            ]
    return pd.DataFrame(found)


def cost_table(rows: Rows, confidence: float = 0.95) -> pd.DataFrame:
    """Quality and cost of every row: its loss with an average seed, parameters, operations of the training.

    The interval is of the noise beside others of the same seed, so that rows can be compared; with other seeds all
    losses would move together.

    Raises
    ------
    ValueError
        If base and some other row have no two seeds in common, so that there is no interval.
    """
    fit = fit_rows_and_seeds(losses_of(rows))
    if fit.freedom == 0:
        raise ValueError("intervals need two seeds of base and of some other row")
    reach = student_quantile(confidence, fit.freedom) * fit.deviation
    place = {row: number for number, row in enumerate(fit.rows)}
    table = [
        {
            "row": one["row"],
            "name": label(one["row"]),
            "loss": fit.row_losses[place[one["row"]]],
            "reach": reach * fit.covariance[place[one["row"]], place[one["row"]]] ** 0.5,
            "BLEU": mean(one["bleus"]),
            "parameters": one["parameters"],
            "operations": one["gflop"] * 1e9,
        }
        for one in rows
        if one["row"] in place
    ]
    return pd.DataFrame(table)
