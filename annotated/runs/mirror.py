"""Mirror of a run on another disk: its checkpoints and its log, copied while training goes on, and taken back.

For a machine that is lent and vanishes with its disk, as Colab's and Kaggle's do. The run trains on the local disk; the
mirror is a folder of Google Drive, a network or a USB stick, without locks and perhaps without renames that are atomic.
So only a thread of the run writes there, a copy gets its name when it is complete, and the name proves nothing: what is
taken back is held to the SHA-256 sums of its `state.json`, and an older checkpoint is taken if they differ.

A mirror never stops a run that has begun, and the run waits for it only at its end, as long as it takes something at
least once a minute. What goes wrong is told once.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from annotated.ownership import is_json_of, require_our_folder
from annotated.runs.checkpoint import BEST, CHECKPOINTS, check_checkpoint, list_checkpoints, newest_update, update_of
from annotated.runs.log import LOG, run_identity
from annotated.saving import CheckpointError, read_json
from annotated.storage import atomic_folder, atomic_write, sweep, translate_disk_full, write_json

MARK = "mirror.json"
"""Says of which run a mirror is, and which start of it writes there; what is written first."""
STALLED_SECONDS = 60.0
"""A mirror that has taken nothing for so long is slow, and is not waited for at the end."""
_WRITTEN = (MARK, LOG, CHECKPOINTS, BEST)
_CHUNK, _PAUSE = 1 << 20, 0.05
_GOES_ON = "the training goes on, and what is not copied is on this disk alone"

CheckConfiguration = Callable[[Mapping[str, Any]], None]
"""Raises `CheckpointError` if a recorded configuration is that of another run."""


class MirrorWarning(UserWarning):
    """The mirror of a run did not take what it was given."""


class _Damaged(Exception):
    """A copy that its checksums refuse."""


def take_back(mirror: str | Path, run: Path, resume: bool, check: CheckConfiguration) -> list[str]:
    """Give the folder of a run, which may be empty, the checkpoints of its mirror that are newer than its own.

    Parameters
    ----------
    mirror
        A folder that is a mirror, or is new or empty; the folder around it must be there.
    resume
        False refuses a mirror that holds a run.
    check
        Called with the configuration of the newest checkpoint, before anything is copied.

    Returns
    -------
    list
        Sentences for the user: what was taken, and what is damaged.

    Raises
    ------
    CheckpointError
        If it is the mirror of another run, or no checkpoint in it is whole and the run has none.
    FileExistsError
        If the folder holds what no mirror has.
    OSError
        If it cannot be read, or the folder around it is missing.
    ValueError
        If the path is '', or one of the two folders lies in the other.
    """
    mirror = require_our_folder(mirror, _WRITTEN, lambda place: is_json_of(place / MARK, "run"))
    here, there = run.resolve(), mirror.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise ValueError(f"the mirror {mirror} and the run {run} must be two folders, none of them in the other")
    if not there.parent.is_dir():
        raise FileNotFoundError(
            f"{there.parent}: no such folder, so {mirror.name} cannot be made in it: is the disk of the mirror mounted?"
        )
    if not (mirror / MARK).is_file():
        return []
    own, of = run_identity(run), read_json(mirror / MARK)["run"]
    if own != of and (own is not None or list_checkpoints(run)):
        raise CheckpointError(
            f"{mirror} is the mirror of another run than {run}, and both stay as they are. Give this run another "
            "mirror; or, to go on with the run in the mirror, give the run a folder that is new or empty"
        )
    if not resume:
        raise CheckpointError(f"{mirror} is the mirror of a run: go on with that one, or choose another folder for it")
    ahead = [path for path in list_checkpoints(mirror) if update_of(path) > newest_update(run)]
    _check_newest(ahead, check)
    if (ahead or own is None) and (mirror / LOG).is_file():
        with (mirror / LOG).open("rb") as log, atomic_write(run / LOG, "wb") as file:
            shutil.copyfileobj(log, file)
    best = [path for path in _checkpoints(mirror / BEST) if ahead and not (run / BEST / path.name).exists()]
    reports = [*_taken(best, run / BEST), *_taken(ahead, run / CHECKPOINTS)]  # the newest last: all or again
    if ahead and not list_checkpoints(run):
        raise CheckpointError(f"{mirror}: no checkpoint can be used ({'; '.join(reports)}); give a new mirror")
    return [f"the mirror {mirror}: {report}" for report in reports]


def _check_newest(checkpoints: list[Path], check: CheckConfiguration) -> None:
    for path in reversed(checkpoints):
        with contextlib.suppress(CheckpointError, KeyError):
            recorded = read_json(path / "state.json")["configuration"]
            break
    else:
        return
    check(recorded)


def _taken(checkpoints: list[Path], place: Path) -> list[str]:
    """Copy checkpoints of a mirror into a folder of the run, oldest first, but for those that are damaged."""
    reports, copied = [], []
    for path in checkpoints:
        try:
            with atomic_folder(place / path.name) as partial:
                _copy_files(path, partial)
                if (problem := check_checkpoint(partial)) is not None:
                    raise _Damaged(problem)
            copied.append(path.name)
        except _Damaged as error:
            reports.append(f"{path.name} is damaged or only half copied ({error}), so it is left out")
    return [*reports, f"took back {', '.join(copied)}"] if copied else reports


def copy_run(run: Path, mirror: Path, moved: Callable[[], None]) -> None:
    """Make a mirror hold the log and the checkpoints that a run holds; what the mirror lacks is copied, newest first.

    Parameters
    ----------
    moved
        Called whenever a piece was written.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with (run / LOG).open("rb") as log, atomic_write(mirror / LOG, "wb") as file:  # at least as far as what follows
        _copy(log, file, moved)
    for name in (CHECKPOINTS, BEST):
        checkpoints = _checkpoints(run / name)
        _prune(checkpoints, mirror / name)  # for room
        for path in reversed(checkpoints):
            try:
                if not _is_copy(path, mirror / name / path.name):
                    with atomic_folder(mirror / name / path.name) as partial:
                        _copy_files(path, partial, moved)
            except FileNotFoundError as error:
                if not Path(error.filename or "").is_relative_to(path):  # else the run has just deleted it
                    raise
        _prune(checkpoints, mirror / name)


class RunMirror:
    """Keeps the mirror of a run up to date, in a thread. Leaving its context waits for the last copy, if it moves.

    Parameters
    ----------
    run
        Folder of the run, which has a log when `update` is called first.
    mirror
        As `take_back` has accepted it; None mirrors nothing.
    """

    def __init__(self, run: Path, mirror: str | Path | None) -> None:
        self.run, self.mirror = run, None if mirror is None else Path(mirror)
        self._mark: dict[str, Any] | None = None
        """What this start has written into the mirror; None before it has."""
        self._changed = threading.Condition()
        self._asked = self._done = 0
        """How often a copy was asked for, and for how many of these it was made."""
        self._moved_at = 0.0
        self._problem: str | None = None
        self._told = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.update()
        while self._done < self._asked and not self._is_stalled():
            time.sleep(_PAUSE)
        self.collect()

    def update(self) -> None:
        """The run has something new: copy it, in the thread, when what it copies now is there."""
        if self.mirror is None:
            return
        with self._changed:
            if self._done == self._asked:
                self._moved()
            self._asked += 1
            self._changed.notify()
        if self._thread is None:
            # A daemon: a disk that hangs for ever keeps no process from ending.
            self._thread = threading.Thread(target=self._work, name="mirror", daemon=True)
            self._thread.start()

    def collect(self) -> None:
        """Warn of what has gone wrong, once."""
        problem = self._problem
        if problem is None and self._is_stalled():
            problem = f"it has taken nothing for {STALLED_SECONDS:g} seconds"
        if problem is not None and not self._told:
            self._told = True
            warnings.warn(f"the mirror {self.mirror}: {problem}; {_GOES_ON}", MirrorWarning, stacklevel=2)

    def _is_stalled(self) -> bool:
        return self._done < self._asked and time.monotonic() - self._moved_at > STALLED_SECONDS

    def _moved(self) -> None:
        self._moved_at = time.monotonic()

    def _work(self) -> None:
        assert self.mirror is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._done < self._asked)
                asked = self._asked
            try:
                self._claim(self.mirror)
                with translate_disk_full(self.mirror, "Free some space there"):
                    copy_run(self.run, self.mirror, self._moved)
            except (OSError, CheckpointError) as error:
                self._problem = str(error)
            except Exception as error:  # a thread that dies would never be idle, and nobody would know
                self._problem = f"{type(error).__name__}: {error}"
            self._done = asked

    def _claim(self, mirror: Path) -> None:
        """Make the mirror this start's, at first; later make sure that it still is, and that its disk is there."""
        if self._mark is not None:
            if read_json(mirror / MARK) != self._mark:
                raise CheckpointError("another start of the run, or another run, writes there now")
            return
        identity = run_identity(self.run)
        if (mirror / MARK).is_file() and read_json(mirror / MARK)["run"] != identity:
            raise CheckpointError("it is that of another run")
        mark = {"run": identity, "start": secrets.token_hex(8), "folder": str(self.run.resolve())}
        mirror.mkdir(exist_ok=True)
        write_json(mirror / MARK, mark)
        for place in (mirror, mirror / CHECKPOINTS, mirror / BEST):
            sweep(place)
        self._mark = mark


def _checkpoints(place: Path) -> list[Path]:
    """The folders with the name of a checkpoint in `checkpoints/` or `best/`, oldest first."""
    return sorted((path for path in place.glob("update-*") if path.name[7:].isdigit()), key=update_of)


def _prune(checkpoints: list[Path], place: Path) -> None:
    """Delete the copies of what the run has deleted, but for the last of them as long as there is no copy that is kept.

    What is newer than all that the run has stays too: the run, which found it damaged, has not come so far again.
    """
    kept, newest = {path.name for path in checkpoints}, max(map(update_of, checkpoints), default=0)
    outdated = [path for path in _checkpoints(place) if path.name not in kept and update_of(path) <= newest]
    spared = 0 if any((place / name / "state.json").is_file() for name in kept) else 1
    for path in outdated[: len(outdated) - spared]:
        shutil.rmtree(path, ignore_errors=True)


def _is_copy(path: Path, copy: Path) -> bool:
    """Whether a copy was made of this checkpoint and is complete, as far as sizes tell; taking it back reads it all."""
    files = [one for one in path.iterdir() if one.is_file()]
    same = all((copy / one.name).is_file() and (copy / one.name).stat().st_size == one.stat().st_size for one in files)
    return same and (copy / "state.json").read_bytes() == (path / "state.json").read_bytes()


def _copy_files(path: Path, target: Path, moved: Callable[[], None] = lambda: None) -> None:
    for one in sorted(path.iterdir()):
        if one.is_file():
            with one.open("rb") as source, atomic_write(target / one.name, "wb") as file:
                _copy(source, file, moved)


def _copy(source: BinaryIO, target: BinaryIO, moved: Callable[[], None]) -> None:
    while piece := source.read(_CHUNK):
        target.write(piece)
        moved()
