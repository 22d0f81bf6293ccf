"""Status of the small Table 3: rows, seeds, losses and costs as lines of text."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev

from annotated.locks import lock_holder
from annotated_book.experiments.settings import SIZES, Size
from annotated_book.results.table_3.pilot import PILOT_ROWS, compare
from annotated_book.results.table_3.records import claim_file, cpu_seconds, needed_runs, recorded_runs
from annotated_book.results.table_3.rows import ROWS


def pilot_lines(records: Path) -> list[str]:
    """A line for each size that the pilot has tried, or comes to next."""
    lines = [f"{'pilot':36} {'base':>8} {'N=2':>8} {'apart':>6}  verdict"]
    for size in SIZES.values():
        found = compare(size, records)
        means = (f"{mean(found.losses[row]):8.4f}" if found.losses[row] else f"{'':8}" for row in PILOT_ROWS)
        gap = f"{found.separation:6.1f}" if found.separation is not None else f"{'':6}"
        lines.append(f"{size.name:36} {' '.join(means)} {gap}  {found.verdict}")
        if found.verdict not in ("given up", "too close"):
            break
    return lines


def status_lines(size: Size, work: Path, records: Path) -> list[str]:
    """A line for each row, and below them what is needed next and who works on what."""
    runs = recorded_runs(size, records)
    lines = [f"size {size.name}: {len(runs)} runs recorded in {records}"]
    lines.append(f"{'row':5} {'seeds':>5} {'loss':>8} {'sd':>7} {'BLEU':>6} {'CPU min':>8}")
    for row in ROWS:
        mine = [one for (name, _), one in sorted(runs.items()) if name == row]
        found = [one["valid_loss"] for one in mine if one.get("valid_loss") is not None]
        scores = [one["bleu"] for one in mine if one.get("bleu") is not None]
        loss = f"{mean(found):8.4f}" if found else f"{'':8}"
        spread = f"{stdev(found):7.4f}" if len(found) > 1 else f"{'':7}"
        score = f"{mean(scores):6.2f}" if scores else f"{'':6}"
        cost = f"{cpu_seconds(mine) / 60:8.1f}" if mine else f"{'':8}"
        note = f"  {diverged} diverged" if (diverged := sum(one["diverged"] for one in mine)) else ""
        lines.append(f"{row:5} {len(mine):5} {loss} {spread} {score} {cost}{note}")
    needed = list(needed_runs(runs))
    for run in needed:
        holder = lock_holder(claim_file(*run, size, work))
        if holder is not None:
            lines.append(f"{run[0]} with seed {run[1]}: being made by {holder}")
    lines.append(f"{len(needed)} runs are needed" + (f"; next {needed[0][0]}, seed {needed[0][1]}" if needed else ""))
    return lines
