"""Record of a learner's progress: attempts, points, hints and solutions, in one small file on their own machine."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotated.locks import exclusive_lock
from annotated.storage import atomic_write

VARIABLE = "ANNOTATED_PROGRESS"
"""The environment variable that names another file."""
_FORMAT = 1


@dataclass
class ExerciseProgress:
    """What was done of one exercise."""

    attempts: int = 0
    """Checks of something other than the untouched stub."""
    best: float = 0.0
    """Most public points so far."""
    maximum: float = 0.0
    """Public points that there were to earn."""
    hints: int = 0
    """Hints shown."""
    solved: bool = False
    """Whether some attempt earned every public point."""
    solution: bool = False
    """Whether the solution was shown before that."""
    answers: dict[str, str] = field(default_factory=dict)
    """The first letter given to each question."""


class ProgressRecord:
    """The learner's file of progress.

    Reading never fails: a file that cannot be understood is set aside under another name, and `notice` says where.

    Parameters
    ----------
    path
        The file; by default the one of `default_path`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self.notice = ""
        """What the learner should be told about the file, once; empty if all is well."""

    def entry(self, exercise: str) -> ExerciseProgress:
        """What was done of one exercise."""
        return self.entries().get(exercise, ExerciseProgress())

    def entries(self) -> dict[str, ExerciseProgress]:
        """All exercises that were ever checked or asked about."""
        return {name: _entry(values) for name, values in self._read()["exercises"].items()}

    @property
    def last(self) -> str:
        """The exercise that was checked last, or the empty text."""
        return str(self._read()["last"])

    @contextlib.contextmanager
    def change(self, exercise: str) -> Iterator[ExerciseProgress]:
        """Change one entry; it is written when the block ends, and the file is never seen half written."""
        with self._alone():
            data = self._read()
            entry = _entry(data["exercises"].get(exercise, {}))
            yield entry
            data["exercises"][exercise] = asdict(entry)
            data["last"] = exercise
            self._write(data)

    def _read(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"format": _FORMAT, "last": "", "exercises": {}}
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            entries = data["exercises"]
            if data["format"] != _FORMAT or not all(isinstance(values, dict) for values in entries.values()):
                raise ValueError
            return {**empty, **data}
        except OSError:
            return empty
        except (ValueError, KeyError, TypeError, AttributeError):
            self._set_aside()
            return empty

    def _set_aside(self) -> None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        aside = self.path.with_name(f"{self.path.stem}.damaged-{stamp}{self.path.suffix}")
        try:
            os.replace(self.path, aside)
            self.notice = f"The file of your progress could not be read. It is kept as {aside}; a new one begins."
        except OSError:
            self.notice = f"The file of your progress, {self.path}, can neither be read nor moved aside."

    def _write(self, data: dict[str, Any]) -> None:
        try:
            with atomic_write(self.path, permissions=0o600) as file:
                json.dump(data, file, indent=1, sort_keys=True)
        except OSError as error:
            self.notice = f"Your progress could not be written to {self.path}: {error.strerror}."

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep a second notebook from writing in between, where the system can."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # a network folder may know no locks
                stack.enter_context(exclusive_lock(self.path.with_name(f".{self.path.name}.lock")))
            yield


def default_path() -> Path:
    """The file that `ANNOTATED_PROGRESS` names, else `annotated/progress.json` in the user's data folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return folder / "annotated" / "progress.json"


def _entry(values: dict[str, Any]) -> ExerciseProgress:
    """An entry from a file, which a newer version may have written: what is unknown or of another type is left out."""
    kinds = {part.name: type(getattr(ExerciseProgress(), part.name)) for part in fields(ExerciseProgress)}
    known: dict[str, Any] = {}
    for name, kind in kinds.items():
        value = values.get(name)
        if isinstance(value, kind) or (kind is float and isinstance(value, int)):
            known[name] = value
    return ExerciseProgress(**known)
