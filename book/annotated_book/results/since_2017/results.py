"""Results of the swapped parts: the records of their runs, and the differences from the base with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from annotated_book.experiments.runs_file import RUNS, read_runs
from annotated_book.results.since_2017.parts import PARTS, RATE_SEARCH, RATES_OF_2017
from annotated_book.results.table_3.differences import tested
from annotated_book.results.table_3.pairing import fit_rows_and_seeds

RECORDS = Path(__file__).parent / RUNS
MEASURES = {"valid_loss": "validation loss, nats", "test_loss": "test loss, nats", "bleu": "BLEU"}
"""What a run was measured by, and its name with its unit; less is better but for BLEU."""
LEVEL = 0.05

Runs = Mapping[tuple[str, int], Mapping[str, Any]]
"""The record of each part and seed."""


def recorded_runs(records: Path = RECORDS) -> dict[tuple[str, int], dict[str, Any]]:
    """All runs of parts that are on record, in the order of `PARTS`."""
    known = {(one["row"], one["seed"]): one for one in read_runs(records).values()}
    return {key: known[key] for key in sorted((k for k in known if k[0] in PARTS), key=_place)}


def runs_of_2017(records: Path = RECORDS) -> dict[tuple[str, int], dict[str, Any]]:
    """All runs of the model of 2017 that are on record, at every rate."""
    known = {(one["row"], one["seed"]): one for one in read_runs(records).values()}
    return {key: known[key] for row in RATES_OF_2017 for key in sorted(known) if key[0] == row}


def rate_table(runs: Runs) -> pd.DataFrame:
    """What the model of 2017 reached at each rate.

    Returns
    -------
    DataFrame
        Indexed by row, highest rate first: share of the base's rate, seeds, loss (nats per token, mean), lowest and
        highest of its seeds.
    """
    found = {row: list(losses.values()) for row, losses in measured(runs).items() if row in RATES_OF_2017}
    return pd.DataFrame(
        [
            {
                "row": row,
                "share": share,
                "seeds": len(found[row]),
                "loss": sum(found[row]) / len(found[row]),
                "lowest": min(found[row]),
                "highest": max(found[row]),
            }
            for row, share in RATES_OF_2017.items()
            if row in found
        ],
        columns=["row", "share", "seeds", "loss", "lowest", "highest"],
    ).set_index("row")


def _place(key: tuple[str, int]) -> tuple[int, int]:
    return list(PARTS).index(key[0]), key[1]


def measured(runs: Runs, measure: str = "valid_loss") -> dict[str, dict[int, float]]:
    """What each part reached, by seed; a run that diverged has nothing."""
    found: dict[str, dict[int, float]] = {}
    for (part, seed), one in runs.items():
        if one.get(measure) is not None:
            found.setdefault(part, {})[seed] = one[measure]
    return found


def diverged(runs: Runs) -> dict[str, list[int]]:
    """The seeds of each part whose training diverged."""
    found: dict[str, list[int]] = {}
    for (part, seed), one in runs.items():
        if one.get("diverged"):
            found.setdefault(part, []).append(seed)
    return found


def differences(runs: Runs, measure: str = "valid_loss", confidence: float = 1 - LEVEL) -> pd.DataFrame:
    """Each part less the base with the same seed.

    What a seed adds to all parts is taken out of the noise, which is taken to be as large for every part, so that one
    deviation is estimated from all seeds; intervals are Student's, each by itself, and p is Holm's, for all parts
    together. See `annotated_book.results.table_3.pairing`.

    Returns
    -------
    DataFrame
        Indexed by part: title, seeds, difference, low, high, p, verdict ('better', 'worse', 'not told apart') and
        parameters.

    Raises
    ------
    ValueError
        If the base is missing, or no part has two seeds with it.
    """
    found = measured(runs, measure)
    fit = fit_rows_and_seeds(found)
    if fit.freedom == 0:
        raise ValueError("differences need two seeds of the base and of some part")
    parts = [part for part in fit.rows if part != "base"]
    apart, errors = zip(*(fit.difference(part, "base") for part in parts), strict=True)
    columns = tested(apart, errors, fit.freedom, confidence)
    sign = -1 if measure == "bleu" else 1
    return pd.DataFrame(
        {
            "title": [PARTS[part].title for part in parts],
            "seeds": [len(found[part]) for part in parts],
            **columns,
            "verdict": [_verdict(sign * one, chance) for one, chance in zip(apart, columns["p"], strict=True)],
            "parameters": [next(r["parameters"] for (name, _), r in runs.items() if name == part) for part in parts],
        },
        index=pd.Index(parts, name="part"),
    )


def _verdict(worse_by: float, p: float) -> str:
    if p > LEVEL:
        return "not told apart"
    return "worse" if worse_by > 0 else "better"


def seed_table(runs: Runs) -> pd.DataFrame:
    """Every run's difference from the base with the same seed.

    Returns
    -------
    DataFrame
        Columns part, title, seed, measure (a name of `MEASURES`) and difference: of the base no row, and of a seed that
        it lacks none.
    """
    rows = []
    for measure, name in MEASURES.items():
        base = {seed: one.get(measure) for (part, seed), one in runs.items() if part == "base"}
        rows += [
            {
                "part": part,
                "title": PARTS[part].title,
                "seed": seed,
                "measure": name,
                "difference": one[measure] - base[seed],
            }
            for (part, seed), one in runs.items()
            if part != "base" and None not in (one.get(measure), base.get(seed))
        ]
    return pd.DataFrame(rows)


def curve_table(runs: Runs) -> pd.DataFrame:
    """Validation losses over the target tokens read.

    Returns
    -------
    DataFrame
        Columns part, title, seed, tokens (millions), loss, and apart: the loss less that of the base with the same
        seed, NaN where there is no such run.
    """
    losses = {(key, p["update"]): p["validation_loss"] for key, one in runs.items() for p in one["curve"]}
    return pd.DataFrame(
        [
            {
                "part": part,
                "title": {**PARTS, **RATE_SEARCH}[part].title,
                "seed": seed,
                "tokens": round(point["tokens_seen"] / 1e6, 4),
                "loss": point["validation_loss"],
                "apart": point["validation_loss"] - losses.get((("base", seed), point["update"]), math.nan),
            }
            for (part, seed), one in runs.items()
            for point in one["curve"]
            if math.isfinite(point["validation_loss"])
        ]
    )


def shown_table(runs: Runs) -> pd.DataFrame:
    """The differences for a page, the interval in one column, with BLEU beside the loss."""
    table, bleu = differences(runs), differences(runs, "bleu")
    ends = zip(table["low"], table["high"], strict=True)
    table["interval"] = [f"{low:+.3f} to {high:+.3f}".replace("-", "−") for low, high in ends]
    table["BLEU"] = bleu["difference"]
    table["p"] = ["< 0.001" if one < 0.001 else f"{one:.3f}" for one in table["p"]]
    shown = table[["title", "difference", "interval", "p", "BLEU", "verdict"]]
    return shown.rename(columns={"title": "part"}).reset_index(drop=True)
