"""Submissions in a folder: who handed in what, for which exercise.

Three layouts, which may be mixed: `STUDENT/ex05-1.ipynb`, `STUDENT_ex05-1.ipynb`, and where the exercise is given
`STUDENT.ipynb`. A zip file stands for a student's folder, and is read without being unpacked. A file whose name has no
exercise in it may name one in a line `EXERCISE = "ex05-1"`. Of several files for one exercise the last by name counts,
numbers compared as numbers: `ex05-1 (2).ipynb` replaces `ex05-1.ipynb`.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath

from annotated.grading.exercise.submission import MOST_BYTES, BadSubmission, read

_ID = re.compile(r"(?:^|(?<=[\W_]))ex(\d\d)[-_](\d+)(?!\d)", re.I)
_KINDS = (".ipynb", ".py")
_NOT_SUBMISSIONS = re.compile(r"^(\..*|__pycache__|__MACOSX)$")
_MOST_IN_A_ZIP = 1000


@dataclass(frozen=True)
class SubmissionFile:
    """One file.

    Attributes
    ----------
    student, exercise
        Whose it is, and what it answers; `exercise` is empty while nothing says it.
    path
        Where it lies in the folder; `class/a.zip/ex05-1.ipynb` for a file in an archive.
    refused
        Why it will not be opened, such as a symbolic link; empty if it may be.
    """

    student: str
    exercise: str
    path: str
    refused: str = ""
    open: Callable[[], bytes] = field(default=lambda: b"", repr=False, compare=False)

    def read(self) -> bytes:
        """Its bytes.

        Raises
        ------
        BadSubmission
            If it is refused, or cannot be read.
        """
        if self.refused:
            raise BadSubmission(self.refused)
        try:
            return self.open()
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError) as error:
            raise BadSubmission(f"the file cannot be read: {error}") from None


@dataclass(frozen=True)
class Collected:
    """What a folder holds: one file for each student and exercise, and the files that were skipped, with reasons."""

    submissions: tuple[SubmissionFile, ...]
    skipped: tuple[tuple[str, str], ...]


def collect(folder: Path, exercise: str = "") -> Collected:
    """Find the submissions in a folder, or take a single file.

    Parameters
    ----------
    exercise
        Only this one; files that name no exercise are then taken to be for it.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    if folder.is_file():
        found = list(_files_of(folder, folder.parent, folder.stem if not _ID.search(folder.stem) else "answer"))
    else:
        found = list(_walk(folder, folder))
    skipped = [(file.path, file.refused) for file in found if file.refused and not (file.exercise or exercise)]
    kept: dict[tuple[str, str], SubmissionFile] = {}
    for file in sorted(found, key=lambda file: _natural(file.path)):
        resolved = _resolve(file, exercise)
        if not resolved.exercise:
            skipped += [] if file.refused else [(file.path, "it does not say which exercise it answers")]
        elif exercise and resolved.exercise != exercise:
            skipped.append((file.path, f"it is for {resolved.exercise}"))
        else:
            key = (resolved.student, resolved.exercise)
            if key in kept:
                skipped.append((kept[key].path, f"replaced by {file.path}"))
            kept[key] = resolved
    return Collected(tuple(kept[key] for key in sorted(kept)), tuple(skipped))


def _resolve(file: SubmissionFile, exercise: str) -> SubmissionFile:
    """With its exercise: from its name, else from the file itself, else the one that was asked for."""
    if file.exercise:
        return file
    try:
        named = read(file.read(), file.path).exercise
    except BadSubmission:
        named = ""
    return replace(file, exercise=named or exercise)


def _walk(folder: Path, top: Path) -> Iterator[SubmissionFile]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        path = folder / name
        if _NOT_SUBMISSIONS.match(name):
            continue
        student = path.relative_to(top).parts[0] if folder != top else ""
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, top)
        elif path.is_symlink() and not path.suffix:
            yield SubmissionFile(student or name, "", _shown(path, top), "it is a symbolic link")
        else:
            yield from _files_of(path, top, student)


def _files_of(path: Path, top: Path, student: str) -> Iterator[SubmissionFile]:
    """The submissions in a file: one, or those of an archive. In the top folder, the name begins with the student."""
    suffix = path.suffix.lower()
    if suffix not in (*_KINDS, ".zip"):
        return
    exercise = _exercise_in(path.stem)
    student = student or _ID.split(path.stem, maxsplit=1)[0].rstrip(" _-.") or top.name
    shown = _shown(path, top)
    refused = _why_not(path)
    if refused or suffix != ".zip":
        yield SubmissionFile(student, exercise, shown, refused, partial(_read_plain, path))
    else:
        yield from _archived(path, shown, student, exercise)


def _why_not(path: Path) -> str:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a plain file"
    return f"it has {status.st_size:,} bytes, more than {MOST_BYTES:,}" if status.st_size > MOST_BYTES else ""


def _read_plain(path: Path) -> bytes:
    # Not through a link, and not waiting at a pipe, that took the file's place since.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MOST_BYTES + 1)


def _archived(path: Path, shown: str, student: str, exercise: str) -> Iterator[SubmissionFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield SubmissionFile(student, exercise, shown, f"the archive cannot be read: {error}")
        return
    if reason := _why_not_archive(members):
        yield SubmissionFile(student, exercise, shown, reason)
        return
    for member in members:
        inner = PurePosixPath(member.filename)
        if inner.suffix.lower() in _KINDS and not any(_NOT_SUBMISSIONS.match(part) for part in inner.parts):
            named = _exercise_in(inner.stem) or exercise
            yield SubmissionFile(student, named, f"{shown}/{inner}", "", partial(_read_member, path, member.filename))


def _why_not_archive(members: list[zipfile.ZipInfo]) -> str:
    """Why nothing of an archive is read: one path that leads outside is no accident."""
    if len(members) > _MOST_IN_A_ZIP:
        return f"the archive has {len(members):,} entries, more than {_MOST_IN_A_ZIP:,}"
    for member in members:
        name = member.filename.replace("\\", "/")
        if name.startswith("/") or re.match(r"^[A-Za-z]:", name) or ".." in name.split("/"):
            return f"the archive has a path that leads outside: {member.filename[:80]!r}"
        if stat.S_ISLNK(member.external_attr >> 16):
            return f"the archive has a symbolic link: {member.filename[:80]!r}"
        if member.file_size > MOST_BYTES:
            return f"the archive has an entry of {member.file_size:,} bytes, more than {MOST_BYTES:,}"
    return ""


def _read_member(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive, archive.open(name) as file:
        return file.read(MOST_BYTES + 1)


def _exercise_in(stem: str) -> str:
    match = _ID.search(stem)
    return f"ex{match[1]}-{int(match[2])}" if match else ""


def _shown(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix()


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A sorting key in which numbers count as numbers, and a name comes before longer ones that begin like it."""
    stem, _, suffix = text.rpartition(".")
    parts: Iterable[str] = re.split(r"(\d+)", stem.lower() or suffix)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts if part]
