"""Progress of a preparation: a bar on a terminal, a line for each stage elsewhere, nothing when it is to be quiet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ProgressHook = Callable[[str, int, int | None], None]
"""Called with a stage's name, how much of it is done, and how much there is, if that is known."""

_MUCH = 0.2
"""The share of pairs that one rule may take before it is warned of."""

Advance = Callable[[int, int | None], None]
"""Called by a stage with how much is done, and how much there is, if that is known."""


class Reporter:
    """Tells a person and a program how far the stages are.

    Parameters
    ----------
    hook
        Told all of it, whatever the console.
    """

    def __init__(self, quiet: bool = False, hook: ProgressHook | None = None, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._quiet, self._hook = quiet, hook

    def say(self, message: str) -> None:
        """A sentence for people."""
        if not self._quiet:
            self._console.print(message, markup=False, highlight=False, soft_wrap=True)

    def skipped(self, name: str) -> None:
        """A stage was done before."""
        self.say(f"{name:<12} done before")

    def done(self, name: str, counts: Mapping[str, Any], seconds: float) -> None:
        """A stage has ended."""
        numbers = ", ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in counts.items() if _is_number(value))
        self.say(f"{name:<12} {seconds:,.1f} s" + (f" | {numbers}" if numbers else ""))
        for line in _left_out(counts):
            self.say(f"{'':<12} {line}")

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Advance]:
        """While a stage runs: the function that it tells how much is done."""
        bar = self._bar()
        with bar or contextlib.nullcontext():
            task = bar.add_task(name, total=None) if bar else None

            def advance(done: int, total: int | None) -> None:
                if bar is not None and task is not None:
                    bar.update(task, completed=done, total=total)
                if self._hook is not None:
                    self._hook(name, done, total)

            advance(0, None)
            yield advance

    def _bar(self) -> Progress | None:
        if self._quiet or not self._console.is_terminal:
            return None
        columns = (TextColumn("{task.description:<12}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        return Progress(*columns, TimeRemainingColumn(), console=self._console, transient=True)


def _left_out(counts: Mapping[str, Any]) -> Iterator[str]:
    """Of cleaning: the rules that took most, and a warning of one that took much."""
    dropped: Mapping[str, int] = counts.get("dropped", {})
    if listed := sorted(((count, rule) for rule, count in dropped.items() if count), reverse=True)[:3]:
        yield "left out by rule: " + ", ".join(f"{rule} {count:,}" for count, rule in listed)
        count, rule = listed[0]
        share = count / max(1, counts.get("read", 0))
        if share > _MUCH:
            yield f"look at rule {rule}: it leaves out {share:.0%} of the pairs (--without {rule} leaves it off)"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
