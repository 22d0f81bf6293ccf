"""Log of a training run: a line of JSON for programs, a progress bar or plain lines for people.

The log is `log.jsonl`: one object a line, written at once, never rewritten while training. Its `kind` is one of

- `start`: a process starts;
- `train`: an update, and the loss and the speed since the last such line;
- `compilation`: a graph was compiled, or recorded for a GPU, and an update waited for it;
- `valid`: a validation; `samples` and `heads`: what the model translated then, and where its heads looked;
- `checkpoint`, and `best` for one that is kept for its validation loss: it is on the disk, whole. Written while
  training goes on, so this may stand below lines of later updates;
- `dashboard`: a dashboard did not take what it was sent;
- `end`: the training ends, finished or stopped.

The fields of each kind are in the table `annotated.runs.log_table.FIELDS`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from annotated.storage import atomic_write

LOG = "log.jsonl"
DISCARDED = "log.discarded.jsonl"


class TrainingConsole(Console):
    """A console that reports a closed pipe as an error, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        """Let the error pass that rich is handling."""
        raise


class LogFollower(Protocol):
    """What gets the lines of a log while they are written, such as `annotated.runs.dashboards.Dashboards`."""

    def write(self, record: Mapping[str, Any]) -> None:
        """Take a line, without raising or waiting."""

    def end(self) -> None:
        """There are no more lines."""

    def untold_problems(self) -> dict[str, str]:
        """What went wrong, by who it went wrong for; each problem once."""
        ...


class TrainingLog:
    """Writes `log.jsonl`, and tells the console what it writes.

    Parameters
    ----------
    folder
        Of the run; None writes no file (the processes that are not the main one).
    updates
        Updates in all, for the progress bar.
    quiet
        Say nothing on the console.
    dashboards
        That get the same lines.
    """

    def __init__(
        self,
        folder: Path | None,
        updates: int,
        quiet: bool = False,
        console: Console | None = None,
        dashboards: LogFollower | None = None,
    ) -> None:
        self._file = None if folder is None else (folder / LOG).open("a", encoding="utf-8", newline="\n")
        self._dashboards = dashboards
        self._console = console or TrainingConsole(stderr=True)
        self._quiet = quiet or folder is None
        self._updates = updates
        self._bar = None if self._quiet or not self._console.is_terminal else _progress_bar(self._console)
        self._task: TaskID | None = None
        self.reader_left = False
        """True once nobody reads the console any more: its pipe or terminal is closed."""
        self._shown: dict[str, Any] = {"loss": "", "rate": "", "speed": "", "perplexity": ""}

    def __enter__(self) -> Self:
        if self._bar is not None:
            with self._to_console():
                self._bar.start()
            self._task = self._bar.add_task("training", total=self._updates, **self._shown)
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            with self._to_console():
                self._bar.stop()
        if self._file is not None:
            self._end_dashboards(0)
            self._file.close()

    def write(self, kind: str, **fields: Any) -> None:
        """One line of the log, on disk when this returns, and on the console for those who watch."""
        if self._file is not None:
            record = {"kind": kind, **{name: _json_number(value) for name, value in fields.items()}}
            if self._dashboards is not None:
                self._dashboards.write(record)
                if kind == "end":  # what they did not take stands above this line: a log's end is its last
                    self._end_dashboards(record["update"])
                else:
                    self._tell_problems(record.get("update", 0))
            self._file.write(json.dumps(record) + "\n")
            self._file.flush()
        if not self._quiet:
            self._show(kind, fields)

    def _end_dashboards(self, update: int) -> None:
        if self._dashboards is not None:
            self._dashboards.end()
            self._tell_problems(update)

    def _tell_problems(self, update: int) -> None:
        assert self._dashboards is not None
        for name, problem in self._dashboards.untold_problems().items():
            self.write("dashboard", update=update, name=name, problem=problem)
            self.say(f"dashboard {name}: {problem}; what it does not take is left out, and is in {LOG} all the same")

    def say(self, message: str) -> None:
        """A sentence for the console only."""
        if not self._quiet:
            with self._to_console():
                self._console.print(message, markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def _to_console(self) -> Iterator[None]:
        """A console that is closed ends no training: it is left alone from then on, and the loop is told."""
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO, errno.EBADF):
                raise
            self.reader_left = self._quiet = True
            with contextlib.suppress(OSError, ValueError):  # Python writes out what is left at the end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    def advance(self, update: int) -> None:
        """Move the progress bar."""
        if self._bar is not None and self._task is not None and not self._quiet:
            with self._to_console():
                self._bar.update(self._task, completed=update)

    def _show(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "train":
            self._shown |= {
                "loss": f"loss {fields['loss']:.3f}",
                "rate": f"rate {fields['learning_rate']:.2e}",
                "speed": f"{fields['tokens_per_second']:,.0f} tokens/s",
            }
        elif kind == "valid":
            self._shown["perplexity"] = f"perplexity {fields['perplexity']:.2f}"
        if self._bar is not None and self._task is not None:
            with self._to_console():
                self._bar.update(self._task, completed=fields.get("update"), **self._shown)
            if kind == "train":
                return
        if line := _plain_line(kind, fields, self._updates):
            self.say(line)


def _plain_line(kind: str, fields: dict[str, Any], updates: int) -> str:
    update = f"update {fields.get('update', 0):>{len(str(updates))}}"
    if kind == "train":
        left = duration(fields["seconds_left"])
        return (
            f"{update} of {updates} | epoch {fields['epoch']} | loss {fields['loss']:.4f} | "
            f"rate {fields['learning_rate']:.3e} | {fields['tokens_per_second']:,.0f} tokens/s | {left} left"
        )
    if kind == "valid":
        bleu = f" | BLEU {fields['bleu']:.2f}" if fields.get("bleu") is not None else ""
        return f"{update} | validation loss {fields['valid_loss']:.4f} | perplexity {fields['perplexity']:.3f}{bleu}"
    if kind == "samples":
        return "\n".join(f"  {one['source']} -> {one['translation']}" for one in fields["samples"])
    return ""


def _progress_bar(console: Console) -> Progress:
    columns = [TextColumn("{task.fields[" + name + "]}") for name in ("loss", "perplexity", "rate", "speed")]
    bar = (BarColumn(bar_width=20), MofNCompleteColumn(), *columns, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*bar, console=console, speed_estimate_period=300.0)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:02:03."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"


def _json_number(value: Any) -> Any:
    # JSON has no infinity and no NaN, and other languages' readers refuse them.
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_records(path: str | Path, strict: bool = True) -> list[dict[str, Any]]:
    """The records of a log (a file, or the folder of a run), without a last line that is only half written.

    Parameters
    ----------
    strict
        False warns of lines that are no records and leaves them out: who goes on with a run needs the others.

    Raises
    ------
    ValueError
        If a line that is not the last is not a JSON object; the message names it.
    """
    path = _log_file(path)
    lines = path.read_text(encoding="utf-8", errors="strict" if strict else "replace").split("\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is unfinished
        if not line.strip():
            continue
        try:
            records.append(_parse(line, path, number))
        except ValueError as error:
            if strict:
                raise
            warnings.warn(f"{error}; it is left out", stacklevel=2)
    return records


def last_start(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The record of a run's last start, which says how it goes on now; empty if none is on record."""
    return next((record for record in reversed(records) if record.get("kind") == "start"), {})


class LogPart(NamedTuple):
    """What one look at a log brought."""

    new: list[dict[str, Any]]
    """Records written since the last look."""
    again: bool
    """True if a resumed run has cut the log back, so that `new` is all of it and what was read before is void."""


class LogReader:
    """Reads a log piece by piece: each call of `read` looks only at what was appended since the last one.

    Parameters
    ----------
    path
        The file, or the folder of a run; neither need exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self._given = Path(path)
        self._inode, self._position, self._number = 0, 0, 0

    def read(self) -> LogPart:
        """The records that are new; a line that is only half written waits for the next call.

        Raises
        ------
        ValueError
            If a line is not a JSON object.
        """
        path = _log_file(self._given)
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                again = self._position > 0 and (status.st_ino != self._inode or status.st_size < self._position)
                if again:
                    self._position, self._number = 0, 0
                self._inode = status.st_ino
                file.seek(self._position)
                lines = file.read().split(b"\n")[:-1]
        except (FileNotFoundError, IsADirectoryError):
            return LogPart([], False)
        records = []
        for line in lines:
            self._position, self._number = self._position + len(line) + 1, self._number + 1
            if line.strip():
                records.append(_parse(line.decode("utf-8"), path, self._number))
        return LogPart(records, again)


def run_identity(folder: Path) -> str | None:
    """What tells a run from all others: a digest of the first line of its log; None if there is none yet."""
    try:
        with (folder / LOG).open("rb") as file:
            line = file.readline()
    except FileNotFoundError:
        return None
    return digest_of(line) if line.endswith(b"\n") else None


def digest_of(line: bytes) -> str:
    """The digest of a line of the log, in 16 characters."""
    return hashlib.sha256(line.strip()).hexdigest()[:16]


def rewind_log(folder: Path, update: int) -> int:
    """Take back what a log says about updates after `update`, which a resumed run will make again.

    The lines are moved to `log.discarded.jsonl`; a line that is no record is dropped, with a warning. Returns how many
    updates they are about.
    """
    path = folder / LOG
    if not path.exists():
        return 0
    records = read_records(path, strict=False)
    kept = [record for record in records if record.get("update", 0) <= update and not _is_of_the_end(record)]
    dropped = [record for record in records if record.get("update", 0) > update]
    if dropped:
        with (folder / DISCARDED).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(record) + "\n" for record in dropped)
    with atomic_write(path) as file:
        file.writelines(json.dumps(record) + "\n" for record in kept)
    return max((record["update"] - update for record in dropped), default=0)


def _is_of_the_end(record: dict[str, Any]) -> bool:
    """Whether a record is of the last steps of a run, which are made again when a finished run is started again."""
    return record["kind"] == "end" or bool(record.get("averaged"))


def _log_file(path: str | Path) -> Path:
    path = Path(path)
    return path / LOG if path.is_dir() else path


def _parse(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ValueError(f"{path}, line {number}: not a JSON object: {line[:60]!r}")
    return record
