"""Outcomes in benchmarks/gpu.md: the column beside the predictions, and the tables of the last run on a GPU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from annotated.storage import atomic_write
from benchmarks.gpu import report

DOCUMENT = Path(__file__).resolve().parents[1] / "gpu.md"
BEGIN, END = "<!-- results of `python -m benchmarks gpu`: begin -->", "<!-- results: end -->"
_ROW = re.compile(r"^\| `(?P<mode>\w+)` \|.*\|$")
SHAPE = "base"
"""The shape that the predictions are about."""


class OutcomeError(ValueError):
    """Results cannot be written into the document; the message says why."""


def filled(document: str, result: dict[str, Any]) -> str:
    """The document with the results of a run; filling it again with the same changes nothing.

    Modes that the run did not measure keep the outcome that they had; the tables are replaced.

    Raises
    ------
    OutcomeError
        If the results are not a GPU's, or the document has no place for them.
    """
    if result["device"] == "cpu":
        raise OutcomeError("these results are a CPU's: gpu.md waits for a GPU's")
    if document.count(BEGIN) != 1 or document.count(END) != 1 or document.index(BEGIN) > document.index(END):
        raise OutcomeError(f"gpu.md needs one line {BEGIN!r} and after it one line {END!r}; put them back")
    sides = result["shapes"].get(SHAPE, {}).get("sides", {})
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    tables = f"{BEGIN}\n\n{report.markdown(result)}\n\n{END}"
    device = result["device"]
    return _with_outcomes(before, sides, device) + tables + _with_outcomes(after, sides, device)


def _with_outcomes(text: str, sides: dict[str, Any], device: str) -> str:
    lines = text.split("\n")
    header: list[str] = []
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header = []
        elif not header:
            header = _cells(line)
        elif header[-1] == "outcome" and (row := _ROW.match(line)) and row["mode"] in sides:
            cells = [*_cells(line)[:-1], report.outcome(sides[row["mode"]], device)]
            lines[number] = f"| {' | '.join(cells)} |"
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def write(result: dict[str, Any], path: Path = DOCUMENT) -> None:
    """Fill the document on disk.

    Raises
    ------
    OutcomeError
        As `filled`.
    """
    text = filled(path.read_text(encoding="utf-8"), result)
    with atomic_write(path) as file:
        file.write(text)
