"""Time to loss: how soon does ours reach the loss with which the other side ends?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.real_text.settings import Settings

PROMISE = 1 / 3


def curve(path: Path) -> list[tuple[float, float, float]]:
    """(CPU seconds, wall seconds, validation loss) of every validation in a log."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(line["cpu_s"], line["wall_s"], line["valid_nll"]) for line in lines if "cpu_s" in line]


def time_to(points: list[tuple[float, float, float]], loss: float, clock: int) -> float | None:
    """Seconds of the first validation at or below a loss; None if there is none. The step is not interpolated."""
    return next((point[clock] for point in points if point[2] <= loss), None)


def compare(settings: Settings) -> dict[str, Any]:
    """The comparison, also written to comparison.json.

    Their best loss within the seconds that both had is the mark, not only their last, and our time is
    that of a validation that has passed it, never interpolated: both choices are in their favour.
    """
    recorded = Path(settings.recorded)
    ours, theirs = curve(recorded / "ours.jsonl"), curve(recorded / "annotated_transformer.jsonl")
    if not ours or not theirs:
        raise ValueError(f"{recorded}: one of the two logs holds no validation yet")
    out: dict[str, Any] = {}
    for clock, name in ((0, "cpu"), (1, "wall")):
        common = min(ours[-1][clock], theirs[-1][clock])
        had = [point for point in theirs if point[clock] <= common * 1.001]
        mark = min(point[2] for point in had)
        reached = time_to(ours, mark, clock)
        share = reached / common if reached is not None else None
        last = min(ours, key=lambda point: abs(point[clock] - common))[2]
        times = {"seconds_both_had": common, "their_loss": mark, "our_loss": last, "our_seconds_to_their_loss": reached}
        out[name] = {**times, "share": share, "met": share is not None and share <= PROMISE}
    (recorded / "comparison.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    return out


def main(settings: Settings) -> None:
    """Print it."""
    for clock, row in compare(settings).items():
        reached = row["our_seconds_to_their_loss"]
        when = "never" if reached is None else f"after {reached:.0f} s, {row['share']:.2f} of the time"
        print(
            f"{clock}: in {row['seconds_both_had']:.0f} s theirs reached {row['their_loss']:.3f} nats a token and ours "
            f"{row['our_loss']:.3f}; ours was at theirs {when} (promised: 0.33; {'met' if row['met'] else 'NOT MET'})"
        )
