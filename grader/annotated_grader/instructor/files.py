"""Files of a class: all that lies in a folder or an archive, archives opened, without a thought about whose they are.

Only names and kinds are looked at. An archive is read where it lies (`archives`), in a child of its own, and so is an
archive in it, such as a student's in the one that a platform made.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotated_grader.exercise.submission import BadSubmission, most_bytes, read_bytes
from annotated_grader.instructor.archives import Member, Source, member_as_source, members, read_member
from annotated_grader.instructor.limited import Bounds, Work, in_children

KINDS = (".ipynb", ".py")
NO_ANSWER = "it is no notebook (.ipynb), no Python file (.py) and no .zip"
NOTHING_IN_IT = "the archive holds no .ipynb and no .py file"
_OF_SYSTEMS = re.compile(
    r"\._.*|\.DS_Store|\.git.*|\.ipynb_checkpoints|__pycache__|__MACOSX|Thumbs\.db|desktop\.ini", re.I
)
_MOST_FILES, _MOST_FOLDERS, _MOST_DEEP = 10_000, 100_000, 30
_MOST_OF_AN_ARCHIVE = 4 * 2**30
_ARCHIVES_IN_EACH_OTHER = 3


@dataclass(frozen=True)
class SubmissionFile:
    """One file.

    Attributes
    ----------
    student, exercise
        Whose it is, and what it answers; each is empty while nothing says it.
    path
        Where it lies in the folder; `class/a.zip/ex05-1.ipynb` for a file in an archive.
    refused
        Why it will not be opened, such as a symbolic link; empty if it may be.
    exact
        How clearly it says its exercise: 3 by its exact name, 2 by its name, 1 inside, 0 not at all.
    note
        For the instructor, such as that the name leaves it open whose it is.
    person, id
        What the platform knows its maker by, without doubt and in short.
    late, submitted, attempt
        What the platform says of it: whether it came late, when it came, and its number among the tries.
    own
        The end of its path, from where the names are its maker's.
    platform, level
        The learning platform that named it, empty if none did; and on which part of its path, from 0.
    archived
        Whether it lies in an archive.
    beside
        The student's other Python files, by their paths from its folder, and what reads each.
    """

    student: str
    exercise: str
    path: str
    refused: str = ""
    exact: int = 0
    note: str = ""
    person: str = ""
    id: str = ""
    late: bool | None = None
    submitted: datetime | None = None
    attempt: int = 0
    own: tuple[str, ...] = ()
    platform: str = ""
    level: int = 0
    archived: bool = False
    open: Callable[[], bytes] = field(default=lambda: b"", repr=False, compare=False)
    source: Source | None = field(default=None, repr=False, compare=False)
    beside: Mapping[str, Callable[[], bytes]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of folders and archives on its path, and its own."""
        return tuple(self.path.split("/"))

    @property
    def may_answer(self) -> bool:
        """Whether it is a notebook or a Python file, and may be read."""
        return not self.refused and self.path.lower().endswith(KINDS)

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
        except Exception as error:  # of the disk, of an archive and its decompression
            raise BadSubmission(_unreadable("file", error)) from None


@dataclass(frozen=True)
class Files:
    """What a folder holds.

    Attributes
    ----------
    files
        In no order.
    name
        Of the folder.
    repositories
        Folders with a `.git` in them.
    """

    files: tuple[SubmissionFile, ...]
    name: str = ""
    repositories: frozenset[str] = frozenset()


class LayoutDoubt(ValueError):
    """A folder that can be read in two ways.

    Attributes
    ----------
    choices
        What to say for each, and what it means.
    """

    def __init__(self, message: str, choices: Sequence[tuple[str, str]]) -> None:
        told = "; ".join(f"--layout '{layout}' if {meaning}" for layout, meaning in choices)
        super().__init__(f"{message}: say {told}")
        self.message, self.choices = message, tuple(choices)


def files_of(folder: Path, jobs: int = 1, bounds: Bounds | None = None) -> Files:
    """All files of a folder, or the one that is named, archives opened.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    repositories: set[str] = set()
    found = [_file(folder, folder.name)] if folder.is_file() else list(_walk(folder, repositories))
    for _ in range(_ARCHIVES_IN_EACH_OTHER):
        found = _opened(found, repositories, jobs, bounds)
    deeper = f"it is an archive in {_ARCHIVES_IN_EACH_OTHER} others"
    found = [replace(file, refused=deeper) if _is_closed(file) else file for file in found]
    return Files(tuple(found), folder.resolve().name, frozenset(repositories))


def _walk(top: Path, repositories: set[str]) -> Iterator[SubmissionFile]:
    """All files below the top, as far as they can be listed. What one student made fills nobody else's room."""
    counts: dict[str, int] = {}
    waiting, folders = [(top, "")], 0
    while waiting:
        folder, shown = waiting.pop()
        student = "/".join(shown.split("/")[:2])
        room = _MOST_FILES - counts.get(student, 0) if student else None
        folders += 1
        try:
            with os.scandir(folder) as listed:
                entries = sorted(islice(listed, None if room is None else room + 1), key=lambda entry: entry.name)
        except OSError as error:
            yield SubmissionFile("", "", shown or top.name, _unreadable("folder", error))
            continue
        counts[student] = counts.get(student, 0) + len(entries)
        if room is not None and len(entries) > room or folders > _MOST_FOLDERS:
            yield SubmissionFile("", "", shown, f"the folder holds more than {_MOST_FILES:,} files")
            continue
        for entry in entries:
            name = f"{shown}/{entry.name}".lstrip("/")
            if entry.name == ".git":
                repositories.add(shown)
            if _OF_SYSTEMS.fullmatch(entry.name):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield _file(folder / entry.name, name)
            elif entry.name.startswith("."):
                yield SubmissionFile("", "", name, "it is a hidden folder")
            elif name.count("/") >= _MOST_DEEP:
                yield SubmissionFile("", "", name, f"it lies more than {_MOST_DEEP} folders deep")
            else:
                waiting.append((folder / entry.name, name))


def _file(path: Path, shown: str) -> SubmissionFile:
    """A file on the disk."""
    return SubmissionFile(
        "", "", shown, _why_not(path), open=partial(_read_plain, path), source=partial(_open_plain, path)
    )


def _why_not(path: Path) -> str:
    try:
        status = path.lstat()
    except OSError as error:
        return _unreadable("file", error)
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a plain file"
    suffix = path.suffix.lower()
    if suffix not in (*KINDS, ".zip"):
        return NO_ANSWER
    if path.name.startswith("."):
        return "it is a hidden file"
    most = _MOST_OF_AN_ARCHIVE if suffix == ".zip" else most_bytes(path.name)
    return f"it has {status.st_size:,} bytes, more than {most:,}" if status.st_size > most else ""


def _open_plain(path: Path) -> BinaryIO:
    # Not through a link, and not waiting at a pipe, that took the file's place since.
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)), "rb")


def _read_plain(path: Path) -> bytes:
    with _open_plain(path) as file:
        return read_bytes(file, path.name)


def _is_closed(file: SubmissionFile) -> bool:
    return file.path.lower().endswith(".zip") and not file.refused


def _opened(
    found: list[SubmissionFile], repositories: set[str], jobs: int, bounds: Bounds | None
) -> list[SubmissionFile]:
    """With the files of archives in the place of the archives, each of which is listed in a child of its own."""
    closed = [file for file in found if _is_closed(file)]
    works: list[tuple[int, Work]] = [(i, partial(_listed, file)) for i, file in enumerate(closed)]
    inside = {
        i: list(_of_archive(closed[i], ended.value, ended.reason, repositories))
        for i, ended in in_children(works, jobs, bounds)
    }
    return [file for file in found if not _is_closed(file)] + [file for i in sorted(inside) for file in inside[i]]


def _listed(archive: SubmissionFile) -> list[tuple[str, int, str, str]] | str:
    """In a child: what an archive holds, or why nobody can say."""
    assert archive.source is not None
    try:
        return [(one.name, one.number, one.shown, one.refused) for one in members(archive.source)]
    except BadSubmission as error:
        return str(error)


def _of_archive(
    archive: SubmissionFile, listed: list[tuple[str, int, str, str]] | str | None, reason: str, repositories: set[str]
) -> Iterator[SubmissionFile]:
    if isinstance(listed, str) or listed is None:
        yield replace(archive, refused=listed or f"the archive cannot be read: {reason}")
        return
    assert archive.source is not None
    useful = False
    for name, number, shown, refused in listed:
        inner, member = PurePosixPath(shown), Member(name, number, shown)
        if ".git" in inner.parts:
            above = inner.parts[: inner.parts.index(".git")]
            repositories.add("/".join((archive.path, *above)))
        if any(part.startswith(".") or _OF_SYSTEMS.fullmatch(part) for part in inner.parts):
            continue
        known = inner.suffix.lower() in (*KINDS, ".zip")
        useful = useful or known
        yield SubmissionFile(
            "", "", f"{archive.path}/{inner}", (f"it is {refused}" if refused else "") or ("" if known else NO_ANSWER),
            archived=True, open=partial(read_member, archive.source, member),
            source=member_as_source(archive.source, member),
        )  # fmt: skip
    if not useful:
        yield replace(archive, refused=NOTHING_IN_IT)


def _unreadable(what: str, error: Exception) -> str:
    said = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
    return f"the {what} cannot be read: {said[:200]}"
