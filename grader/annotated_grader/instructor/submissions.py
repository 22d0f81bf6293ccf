"""Submissions in a folder: who handed in what, for which exercise.

Three layouts, which may be mixed: `STUDENT/ex05-1.ipynb`, `STUDENT_ex05-1.ipynb`, and where the exercise is given
`STUDENT.ipynb`. A zip file stands for a student's folder, and is read without being unpacked (`archives`). A file whose
name has no exercise in it may name one in a line `EXERCISE = "ex05-1"`.

In the top folder the student is the text before the exercise or, where nothing stands there, the text after it
(`ex05-1_karl.py` is karl's). Where neither is there, or where several names begin with the same text and go on
differently after the exercise (`Homework ex05-1 karl.py`, `Homework ex05-1 lena.py`), the name does not say whose it
is. Then no file replaces another: each has a row under its whole name without the suffix, and a note to rename it. The
exact name (`karl_ex05-1.py` beside `karl_ex05-1_draft.py`) stays the student's, and the number of a further try makes
no other name.

Of several files of a student for one exercise one counts:

1. one that can be read, before one that cannot (a link, a text file);
2. the exact name (`ex05-1.ipynb`, also with the number of a further try, `ex05-1 (2).ipynb` or `ex05-1-2.ipynb`),
   before another name (`ex05-1-Copy1.ipynb`, `old_ex05-1.py`), before a file that says it inside, before one that says
   nothing;
3. the one nearest the top, before those in folders;
4. the last by name, numbers compared as numbers: `ex05-1 (10).ipynb` replaces `ex05-1 (9).ipynb` and `ex05-1.ipynb`;
   of two that differ in nothing else, the notebook.

Every other file is set aside with a reason, except those that systems leave (`.DS_Store`, `__pycache__`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from annotated_grader.exercise.submission import BadSubmission, most_bytes, read, read_bytes
from annotated_grader.instructor.archives import Member, members, read_member
from annotated_grader.instructor.limited import Bounds, Work, in_children

KINDS = (".ipynb", ".py")
_ID = re.compile(r"(?:^|(?<=[\W_]))ex([0-9]{2})[-_]([0-9]{1,3})(?![0-9])", re.I)
_TRY = re.compile(r"(?:[ _]?\([0-9]+\)|-[0-9]+)?")
_COPY = re.compile(r"[ _-]?(?:\([0-9]+\)|Copy[0-9]*)$", re.I)
_NUMBERED = re.compile(r"[_-][0-9]{1,2}$")
RENAME = "the name does not begin with a student: rename it STUDENT_{exercise}"
_OF_SYSTEMS = re.compile(
    r"\._.*|\.DS_Store|\.git.*|\.ipynb_checkpoints|__pycache__|__MACOSX|Thumbs\.db|desktop\.ini", re.I
)
_MOST_FILES, _MOST_DEEP = 10_000, 30
_NO_ANSWER = "it is no notebook (.ipynb), no Python file (.py) and no .zip"


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
    exact
        How clearly it says its exercise: 3 by its exact name, 2 by its name, 1 inside, 0 not at all.
    note
        For the instructor, where the name leaves it open whose it is.
    beside
        The student's other Python files, by their paths from its folder, and what reads each.
    """

    student: str
    exercise: str
    path: str
    refused: str = ""
    exact: int = 0
    note: str = ""
    open: Callable[[], bytes] = field(default=lambda: b"", repr=False, compare=False)
    beside: Mapping[str, Callable[[], bytes]] = field(default_factory=dict, repr=False, compare=False)

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
class Collected:
    """What a folder holds: one file for each student and exercise, and the files that were skipped, with reasons."""

    submissions: tuple[SubmissionFile, ...]
    skipped: tuple[tuple[str, str], ...]


def collect(
    folder: Path, exercise: str = "", student: str = "", jobs: int = 1, bounds: Bounds | None = None
) -> Collected:
    """Find the submissions in a folder, or take a single file.

    Parameters
    ----------
    exercise
        Only this one; files that name no exercise are then taken to be for it.
    student
        All files are this one's; by default the layout says whose they are.
    jobs, bounds
        Archives and files that are looked into at a time, and what looking into one may use.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    if not folder.exists():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    found = _found(folder)
    found = [replace(file, student=student) for file in found] if student else _told_apart(found)
    found = _opened(found, jobs, bounds)
    resolved = _resolved(found, jobs, bounds)
    skipped: list[tuple[str, str]] = []
    kept: dict[tuple[str, str], list[SubmissionFile]] = {}
    for file in resolved:
        if not file.exercise and not (exercise and _may_answer(file)):
            skipped.append((file.path, file.refused or "it does not say which exercise it answers"))
        elif exercise and file.exercise not in ("", exercise):
            skipped.append((file.path, f"it is for {file.exercise}"))
        else:
            kept.setdefault((file.student, file.exercise or exercise), []).append(file)
    chosen = []
    for (_, answered), files in sorted(kept.items()):
        best = max(files, key=_rank)
        chosen.append(replace(best, exercise=answered, beside=_beside(best, resolved)))
        skipped += [(file.path, f"replaced by {best.path}") for file in files if file is not best]
    return Collected(tuple(chosen), tuple(skipped))


def _beside(file: SubmissionFile, found: list[SubmissionFile]) -> dict[str, Callable[[], bytes]]:
    """The student's other Python files in the folder or the archive of one."""
    folder, slash, _ = file.path.rpartition("/")
    others = [other for other in found if other.student == file.student and other.path.endswith(".py")]
    inside = [other for other in others if slash and other is not file and other.path.startswith(folder + slash)]
    return {other.path.removeprefix(folder + slash): other.read for other in inside}


def _may_answer(file: SubmissionFile) -> bool:
    """Whether a file that names no exercise may be taken to be for the one that is asked for."""
    name = PurePosixPath(file.path)
    return name.suffix.lower() in (*KINDS, ".zip") and not name.name.startswith(".")


def _rank(file: SubmissionFile) -> tuple[bool, int, int, list[tuple[int, int, str]]]:
    """The file with the highest counts; the module's description says why."""
    return (not file.refused, file.exact, -file.path.count("/"), _natural(file.path))


def _found(folder: Path) -> list[SubmissionFile]:
    """The files of a folder, archives unopened."""
    if not folder.is_file():
        return list(_walk(folder))
    return [_file(folder, folder.name, "" if _ID.search(folder.stem) else "answer")]


def _walk(top: Path) -> Iterator[SubmissionFile]:
    """All files below the top, as far as they can be listed; only names and kinds are looked at."""
    counts: dict[str, int] = {}
    waiting = [(top, "")]
    while waiting:
        folder, shown = waiting.pop()
        student = shown.partition("/")[0]
        room = _MOST_FILES - counts.get(student, 0) if student else None
        try:
            with os.scandir(folder) as listed:
                entries = sorted(islice(listed, None if room is None else room + 1), key=lambda entry: entry.name)
        except OSError as error:
            yield SubmissionFile(student or top.name, "", shown or top.name, _unreadable("folder", error))
            continue
        counts[student] = counts.get(student, 0) + len(entries)
        if room is not None and len(entries) > room:
            yield SubmissionFile(student, "", shown, f"the folder holds more than {_MOST_FILES:,} files")
            continue
        for entry in entries:
            name = f"{shown}/{entry.name}".lstrip("/")
            if _OF_SYSTEMS.fullmatch(entry.name):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield _file(folder / entry.name, name, student)
            elif entry.name.startswith("."):
                yield SubmissionFile(student or entry.name, "", name, "it is a hidden folder")
            elif name.count("/") >= _MOST_DEEP:
                yield SubmissionFile(student, "", name, f"it lies more than {_MOST_DEEP} folders deep")
            else:
                waiting.append((folder / entry.name, name))


def _file(path: Path, shown: str, student: str) -> SubmissionFile:
    """A plain file. In the top folder its name begins with the student; `_told_apart` looks at the others."""
    named, exact = ("", 0) if path.name.startswith(".") else _exercise_in(path.name, student)
    student = student or _ID.split(path.stem, maxsplit=1)[0].rstrip(" _-.")
    return SubmissionFile(student, named, shown, _why_not(path), exact, open=partial(_read_plain, path))


def _told_apart(found: list[SubmissionFile]) -> list[SubmissionFile]:
    """With a student for each file in the top folder; two whose names go on differently have not the same one."""
    stems = {_stem(file.path) for file in found if "/" not in file.path}
    top = {file.path: _without_number(file.path, stems) for file in found if "/" not in file.path}
    names: dict[tuple[str, str], set[str]] = {}
    for file in found:
        if file.path in top:
            names.setdefault((file.student, file.exercise), set()).add(_after(top[file.path]))
    apart = []
    for file in found:
        known = names.get((file.student, file.exercise), set())
        if file.path not in top:
            apart.append(file)
        elif not file.student:
            apart.append(_with_student_after(file, top[file.path]))
        elif not _after(top[file.path]) or len(known) == 1 or ("" in known and file.refused == _NO_ANSWER):
            apart.append(file)
        else:
            apart.append(replace(file, student=top[file.path], note=RENAME.format(exercise=file.exercise)))
    return apart


def _with_student_after(file: SubmissionFile, stem: str) -> SubmissionFile:
    """A file of the top folder whose name begins with the exercise."""
    if after := _after(stem):
        return replace(file, student=after)
    if not file.exercise or file.refused == _NO_ANSWER:  # such as the sheet with the task
        return replace(file, student=_stem(file.path), exercise="")
    return replace(file, student=_stem(file.path), note=RENAME.format(exercise=file.exercise))


def _after(stem: str) -> str:
    """What stands after the exercise, but for the number of a further try."""
    match = _ID.search(stem)
    after = stem[match.end() :] if match else ""
    return "" if _NUMBERED.fullmatch(after) else after.strip(" _-.")


def _without_number(name: str, stems: Collection[str]) -> str:
    """The stem of a name without the number of a further try, such as ` (2)`, `-Copy1`, or `-2` beside one without."""
    stem = _COPY.sub("", _stem(name))
    shorter = _NUMBERED.sub("", stem)
    return shorter if shorter in stems else stem


def _stem(name: str) -> str:
    """A name without its suffix, also without both in `ex05-1.ipynb.txt`."""
    stem = PurePosixPath(PurePosixPath(name).stem)
    return stem.stem if stem.suffix.lower() in KINDS else stem.name


def _why_not(path: Path) -> str:
    try:
        status = path.lstat()
    except OSError as error:
        return _unreadable("file", error)
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a plain file"
    if path.suffix.lower() not in (*KINDS, ".zip"):
        return _NO_ANSWER
    if path.name.startswith("."):
        return "it is a hidden file"
    most = most_bytes(path.name)
    return f"it has {status.st_size:,} bytes, more than {most:,}" if status.st_size > most else ""


def _read_plain(path: Path) -> bytes:
    # Not through a link, and not waiting at a pipe, that took the file's place since.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        return read_bytes(file, path.name)


def _opened(found: list[SubmissionFile], jobs: int, bounds: Bounds | None) -> list[SubmissionFile]:
    """With the files of archives in the place of the archives, each of which is listed in a child of its own."""
    archives = [file for file in found if file.path.lower().endswith(".zip") and not file.refused]
    closed = set(map(id, archives))
    works: list[tuple[int, Work]] = [(i, partial(_listed, file)) for i, file in enumerate(archives)]
    inside = {i: _of_archive(archives[i], ended.value, ended.reason) for i, ended in in_children(works, jobs, bounds)}
    plain = [file for file in found if id(file) not in closed]
    return plain + [file for i in sorted(inside) for file in inside[i]]


def _listed(file: SubmissionFile) -> list[list[object]] | str:
    """In a child: what an archive holds, or why nobody can say."""
    try:
        return [[member.name, member.number] for member in members(file.read())]
    except BadSubmission as error:
        return str(error)


def _of_archive(file: SubmissionFile, listed: list[tuple[str, int]] | str | None, reason: str) -> list[SubmissionFile]:
    if isinstance(listed, str) or listed is None:
        return [replace(file, refused=listed or f"the archive cannot be read: {reason}")]
    found, nested = [], 0
    for name, number in listed:
        inner = PurePosixPath(name)
        if any(part.startswith(".") or _OF_SYSTEMS.fullmatch(part) for part in inner.parts):
            continue
        if inner.suffix.lower() in KINDS:
            named, exact = _exercise_in(inner.name, file.student)
            source = partial(_read_archived, file.open, Member(name, number))
            named, exact = (named, exact) if named else (file.exercise, min(file.exact, 2))
            found.append(SubmissionFile(file.student, named, f"{file.path}/{inner}", "", exact, file.note, source))
        elif inner.suffix.lower() == ".zip":
            nested += 1
            found.append(SubmissionFile(file.student, "", f"{file.path}/{inner}", "it is an archive in an archive"))
    if len(found) == nested:
        why = "the archive holds no .ipynb and no .py file"
        return [replace(file, refused=f"{why}, only archives" if nested else why)]
    return found


def _read_archived(source: Callable[[], bytes], member: Member) -> bytes:
    return read_member(source(), member)


def _resolved(found: list[SubmissionFile], jobs: int, bounds: Bounds | None) -> list[SubmissionFile]:
    """With the exercise that a file names inside, where its name has none."""
    asked = [i for i, file in enumerate(found) if not file.exercise and not file.refused]
    works: list[tuple[int, Work]] = [(i, partial(_named_inside, found[i])) for i in asked]
    for i, ended in in_children(works, jobs, bounds):
        if ended.value:
            found[i] = replace(found[i], exercise=str(ended.value), exact=1)
    return found


def _named_inside(file: SubmissionFile) -> str:
    """In a child: the exercise that a file says it is for."""
    try:
        return read(file.read(), file.path).exercise
    except BadSubmission:
        return ""


def _exercise_in(name: str, student: str) -> tuple[str, int]:
    """The exercise in a file's name, and how exactly it is said."""
    match = _ID.search(name)
    if not match:
        return "", 0
    stem = name[: -len(PurePosixPath(name).suffix)] if PurePosixPath(name).suffix else name
    before = name[: match.start()].rstrip(" _-.")
    exact = bool(_TRY.fullmatch(stem[match.end() :])) and before in ("", student or before)
    return f"ex{match[1]}-{int(match[2])}", 3 if exact else 2


def _unreadable(what: str, error: Exception) -> str:
    said = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
    return f"the {what} cannot be read: {said[:200]}"


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A sorting key in which numbers count as numbers, and a name comes before longer ones that begin like it."""
    stem, _, suffix = text.rpartition(".")
    parts = re.split(r"([0-9]+)", stem.lower() or suffix)
    numbers = [part.lstrip("0") if part.isascii() and part.isdigit() else None for part in parts]
    return [
        (0, 0, part) if number is None else (1, len(number), number)  # without `int`, which refuses 5,000 digits
        for part, number in zip(parts, numbers, strict=True)
        if part
    ]
