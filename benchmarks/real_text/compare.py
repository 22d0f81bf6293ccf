"""Time to loss: how soon does ours reach the loss with which the other side ends?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.real_text.settings import Settings

PROMISE = 1 / 3


def curve(path: Path) -> list[tuple[float, float]]:
    """(CPU seconds, validation loss) of every validation in a log."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(line["cpu_s"], line["valid_nll"]) for line in lines if "cpu_s" in line]


def time_to(points: list[tuple[float, float]], loss: float) -> float | None:
    """CPU seconds of the first validation at or below a loss; None if there is none. Nothing is interpolated."""
    return next((seconds for seconds, reached in points if reached <= loss), None)


def compare(settings: Settings) -> dict[str, Any]:
    """The comparison, also written to comparison.json.

    Their best loss within the seconds that both had is the mark, not only their last, and our time is
    that of a validation that has passed it, never interpolated: both choices are in their favour.
    """
    recorded = Path(settings.recorded)
    ours, theirs = curve(recorded / "ours.jsonl"), curve(recorded / "annotated_transformer.jsonl")
    if not ours or not theirs:
        raise ValueError(f"{recorded}: one of the two logs holds no validation yet")
    common = min(ours[-1][0], theirs[-1][0])
    had = [point for point in theirs if point[0] <= common * 1.001]
    mark = min(point[1] for point in had)
    reached = time_to(ours, mark)
    share = reached / common if reached is not None else None
    last = min(ours, key=lambda point: abs(point[0] - common))[1]
    times = {"cpu_seconds_both_had": common, "their_loss": mark, "our_loss": last, "our_seconds_to_their_loss": reached}
    out = {**times, "share": share, "met": share is not None and share <= PROMISE}
    (recorded / "comparison.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    return out


def main(settings: Settings) -> None:
    """Print it."""
    row = compare(settings)
    reached = row["our_seconds_to_their_loss"]
    when = "never" if reached is None else f"after {reached:.0f} s, {row['share']:.2f} of the time"
    print(
        f"in {row['cpu_seconds_both_had']:.0f} CPU seconds theirs came to {row['their_loss']:.3f} nats and ours "
        f"{row['our_loss']:.3f}; ours was at theirs {when} (promised: 0.33; {'met' if row['met'] else 'NOT MET'})"
    )
