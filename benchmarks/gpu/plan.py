"""Plan of a run: which sides come first, and how the minutes are shared out among them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.gpu.modes import PROMISED, compiles

EXPECTED = {True: 75.0, False: 25.0}
"""Seconds of a side that compiles, and of one that does not, before one was measured: starting a process included."""
SHORTEST = 15.0
"""Less time than this is not worth a start."""
NO_LIMIT = 1800.0
"""Seconds that a side may take at most where the run has no limit."""


@dataclass(frozen=True)
class Job:
    """One side at one shape."""

    shape: str
    side: str

    @property
    def promised(self) -> bool:
        """True if a promise hangs on it."""
        return self.side in PROMISED

    def __str__(self) -> str:
        return f"{self.shape}/{self.side}"


def in_order(shapes: Sequence[str], sides: Iterable[str]) -> list[Job]:
    """All jobs: the promised ones of every shape first, the rest in the order given."""
    jobs = [Job(shape, side) for shape in shapes for side in sides]
    return sorted(jobs, key=lambda job: (not job.promised, shapes.index(job.shape), _rank(job.side)))


def _rank(side: str) -> int:
    return PROMISED.index(side) if side in PROMISED else 0


@dataclass
class Budget:
    """Minutes of a run, and what its sides took so far."""

    minutes: float
    """0 for no limit."""
    now: Callable[[], float] = time.monotonic
    taken: list[tuple[Job, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began = self.now()

    @property
    def remaining(self) -> float:
        """Seconds left."""
        return self.minutes * 60 - (self.now() - self._began) if self.minutes else float("inf")

    def expected(self, job: Job) -> float:
        """Seconds that a job will take, by the slowest one of its kind so far."""
        alike = [(other.shape, s) for other, s in self.taken if compiles(other.side) == compiles(job.side)]
        same = [seconds for shape, seconds in alike if shape == job.shape]
        return max(same or [seconds for _, seconds in alike] or [EXPECTED[compiles(job.side)]])

    def limit(self, job: Job, later: Sequence[Job]) -> float | None:
        """Seconds that a job may take now, or None if there is no time for it.

        A promised one is always tried; it leaves the promised ones after it the time that they are expected to need.
        """
        remaining, expected = self.remaining, self.expected(job)
        if remaining == float("inf"):
            return NO_LIMIT
        if remaining < SHORTEST or (not job.promised and expected > remaining):
            return None
        reserved = sum(self.expected(other) for other in later if other.promised)
        return min(remaining, max(2 * expected, remaining - reserved))
