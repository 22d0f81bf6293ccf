"""Table of the rows that were trained: each compared with base, and its sign with the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import mean
from typing import Any

from annotated.config import ModelConfig
from annotated_book.results.table_3.differences import CONFIDENCE, SIGN, paired_differences, paper_difference
from annotated_book.results.table_3.pairing import fit_rows_and_seeds
from annotated_book.results.table_3.records import SEEDS, Run, losses_by_seed
from annotated_book.results.table_3.rows import ROWS
from annotated_book.results.table_3.words import what_changes

HEAD = (
    "row",
    "what it changes",
    "parameters",
    "seeds",
    "loss",
    "difference",
    "95 % interval",
    "p",
    "paper's",
    "verdict",
)
_RIGHT = (False, False, True, True, True, True, True, True, True, False)


def table_lines(runs: Mapping[Run, dict[str, Any]], model: Callable[[str], ModelConfig]) -> list[str]:
    """The table as lines of text: a row for each that was trained, and notes below.

    Parameters
    ----------
    runs
        Records with `parameters` and `valid_loss` (nats per token; None if the run diverged).
    model
        The model of a row, at the size of the table.
    """
    found = losses_by_seed(runs)
    known = "base" in found and fit_rows_and_seeds(found).freedom > 0
    compared = paired_differences(found, runs=SEEDS).to_dict("index") if known else {}
    rows = [row for row in ROWS if any(name == row for name, _ in runs)]
    cells = [HEAD, *(_cells(row, runs, found, compared.get(row), model) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, _RIGHT, strict=True)
        ).rstrip()
        for line in cells
    ]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:], "", *_notes(found, len(compared))]


def _cells(
    row: str,
    runs: Mapping[Run, dict[str, Any]],
    found: Mapping[str, Mapping[int, float]],
    compared: Mapping[Any, Any] | None,
    model: Callable[[str], ModelConfig],
) -> tuple[str, ...]:
    mine = [one for (name, _), one in runs.items() if name == row]
    values = list(found.get(row, {}).values())
    diverged = len(mine) - len(values)
    seeds = f"{len(values)}" + (f" ({diverged} diverged)" if diverged else "")
    begins = (
        row,
        what_changes(row, model),
        f"{mine[0]['parameters']:,}",
        seeds,
        f"{mean(values):.4f}" if values else "",
    )
    if row == "base" or not values or not found.get("base"):
        return (*begins, "", "", "", "", "")
    paper = f"{paper_difference(row):+.3f}"
    if compared is None:  # one seed of each row: a difference, and nothing to judge it by
        return (*begins, f"{mean(values) - mean(found['base'].values()):+.4f}", "", "", paper, "")
    interval = f"{compared['low']:+.4f} to {compared['high']:+.4f}"
    p = "<0.001" if compared["p"] < 0.001 else f"{compared['p']:.3f}"
    return (*begins, f"{compared['difference']:+.4f}", interval, p, paper, compared["verdict"])


def _notes(found: Mapping[str, Mapping[int, float]], compared: int) -> list[str]:
    notes = [
        "loss: validation, nats per token, mean of the seeds. difference: from base with the same seed. "
        "paper's: by its perplexities."
    ]
    if compared:
        others = "1 difference" if compared == 1 else f"{compared} differences"
        notes.append(
            f"interval: Student's, each {100 * CONFIDENCE:.0f} % by itself, one deviation for all rows. p: Holm's for "
            f"{others}, so it may grow with more rows."
        )
        notes.append(
            f"verdict: whether the sign is the paper's. 'not told apart': p is above {1 - CONFIDENCE:.2f}; 'no sign to "
            f"confirm': the paper's difference is at most {SIGN}; 'too few runs': fewer than {SEEDS} seeds."
        )
    elif not found.get("base"):
        notes.append("Without a run of base nothing can be compared.")
    elif len(found) > 1:
        notes.append("One run of each row cannot tell a difference from chance: give --seeds 3.")
    return notes
