"""Submissions of a class: who handed in what, for which exercise, and which file counts.

Whose a file is says the learning platform that it was downloaded from (`platforms`), or else the names of files and
folders (`folders`). Then people are told apart (`people`). Of several files of a student for one exercise one counts:

1. one that can be read, before one that cannot (a link, a text file);
2. one in which something is written, before the untouched stub or one without an answer in it;
3. one that came in time, before one that is known to be late;
4. the one that came last, where the platform tells when;
5. the exact name (`ex05-1.ipynb`, also with the number of a further try, `ex05-1 (2).ipynb` or `ex05-1-2.ipynb`),
   before another name (`ex05-1-Copy1.ipynb`, `old_ex05-1.py`), before a file that says it inside, before one that says
   nothing;
6. the one nearest the top, before those in folders;
7. the last by name, numbers compared as numbers: `ex05-1 (10).ipynb` replaces `ex05-1 (9).ipynb` and `ex05-1.ipynb`;
   of two that differ in nothing else, the notebook.

Every other file is set aside with a reason, and the row says which there were. What systems leave (`.DS_Store`,
`__pycache__`) is passed over.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from annotated_grader.exercise.submission import BadSubmission, read
from annotated_grader.instructor.files import KINDS, NO_ANSWER, NOTHING_IN_IT, SubmissionFile, files_of
from annotated_grader.instructor.folders import level_of, placed_by_folders
from annotated_grader.instructor.limited import Bounds, Work, in_children
from annotated_grader.instructor.names import exercise_in, name_key, stem_of
from annotated_grader.instructor.people import OnTheRoster, as_people, check_one_person_a_row, on_roster
from annotated_grader.instructor.platforms import PLATFORMS, recognised
from annotated_grader.instructor.roster import Roster

if TYPE_CHECKING:
    from annotated_grader.exercise.exercise import Exercise

AUTO = "auto"
OWN_NAMES = "names of files and folders"
_MOST_NAMED = 3
"""Other files of a student that a row names."""
_MANY_TRIES = 3
"""Files of one student for one exercise that may be several people's, if nobody else is there."""


@dataclass(frozen=True)
class Looking:
    """What is looked for in a folder, and how it is read.

    Attributes
    ----------
    exercise
        Only this one; files that name no exercise are then taken to be for it.
    student
        All files are this one's; by default the layout says whose they are.
    layout
        `auto`, a platform's name, or the level of the students, such as `STUDENT` or `*/STUDENT`.
    roster
        Who is in the class.
    before
        What came later is late.
    """

    exercise: str = ""
    student: str = ""
    layout: str = AUTO
    roster: Roster | None = None
    before: datetime | None = None


@dataclass(frozen=True)
class ClassFiles:
    """What a folder was understood to hold, before a choice among its files.

    Attributes
    ----------
    files
        Each with its student.
    skipped
        Files that are no submissions, with reasons.
    layouts
        How many files each platform named.
    warnings
        For the instructor.
    modules
        Python files that answer nothing, of students who have answers: what they import.
    """

    files: tuple[SubmissionFile, ...]
    skipped: tuple[tuple[str, str], ...]
    layouts: Counter[str] = field(default_factory=Counter)
    roster: OnTheRoster | None = None
    warnings: tuple[str, ...] = ()
    modules: tuple[SubmissionFile, ...] = ()

    @property
    def summary(self) -> str:
        """In one line, such as `Canvas: 12 students, 3 exercises, 36 files, 2 late`."""
        exercises = sorted({file.exercise for file in self.files if file.exercise})
        counts = [
            (len({file.student for file in self.files}), "student"),
            (len(exercises), "exercise"),
            (len({file.path for file in self.files}), "file"),
        ]
        told = [f"{count:,} {what}{'s'[: count != 1]}" for count, what in counts]
        late = len({file.path for file in self.files if file.late})
        layout = " and ".join(name for name, _ in self.layouts.most_common()) or OWN_NAMES
        return f"{layout}: {', '.join([*told, *([f'{late} late'] if late else [])])}"


@dataclass(frozen=True)
class Collected:
    """What a folder holds: one file for each student and exercise, and the files that were skipped, with reasons."""

    submissions: tuple[SubmissionFile, ...]
    skipped: tuple[tuple[str, str], ...]


def collect(folder: Path, exercise: str = "", student: str = "", layout: str = AUTO) -> Collected:
    """Find the submissions in a folder, or take a single file: `look`, and then `choose`."""
    return choose(look(folder, Looking(exercise, student, layout)))


def look(folder: Path, looking: Looking, jobs: int = 1, bounds: Bounds | None = None) -> ClassFiles:
    """See whose each file of a folder is, and what it answers.

    Parameters
    ----------
    jobs, bounds
        Archives and files that are looked into at a time, and what looking into one may use.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    LayoutDoubt
        If it can be read in two ways.
    ValueError
        If there is no such layout, or two people would have one row.
    """
    level = None if looking.layout == AUTO else level_of(looking.layout)
    only = next((name for name in PLATFORMS if _layout_key(name) == _layout_key(looking.layout)), "")
    if looking.layout != AUTO and level is None and not only:
        known = ", ".join(_layout_key(name) for name in PLATFORMS)
        raise ValueError(f"there is no layout {looking.layout!r}; there are {AUTO}, {known}, STUDENT, */STUDENT ...")
    found = files_of(folder, jobs, bounds)
    files, warning = list(found.files), ""
    if not looking.student and level is None:
        files, warning = recognised(found, only, bounds)
    files = _with_exercises(files, looking.exercise, jobs, bounds)
    if looking.student:
        files = [replace(file, student=looking.student, own=file.parts) for file in files]
    else:
        platforms = [file for file in files if file.platform]
        downloads = {file.parts[: file.level] for file in platforms}
        files = platforms + placed_by_folders((file for file in files if not file.platform), level, downloads)
        files = as_people(files)
    known_people = None
    if looking.roster:
        files, known_people = on_roster(files, looking.roster)
    files = [_timed(replace(file, exact=_exact(file)), looking.before) for file in files]
    check_one_person_a_row(files)
    kept, modules, skipped = _sorted_out(files, looking.exercise)
    layouts = Counter(file.platform or OWN_NAMES for file in kept)
    warnings = filter(None, [warning, _without_answer(files, kept), _one_alone(kept), *_alike(kept)])
    return ClassFiles(tuple(kept), tuple(skipped), layouts, known_people, tuple(warnings), tuple(modules))


def choose(found: ClassFiles, jobs: int = 1, bounds: Bounds | None = None) -> Collected:
    """Of several files of a student for one exercise, the one that counts; the module's description says which."""
    kept: dict[tuple[str, str], list[SubmissionFile]] = defaultdict(list)
    for file in found.files:
        kept[file.student, file.exercise].append(file)
    attempts = _attempts([file for files in kept.values() if len(files) > 1 for file in files], jobs, bounds)
    chosen, skipped = [], list(found.skipped)
    for (_, _), files in sorted(kept.items()):
        best = max(files, key=partial(_rank, attempts=attempts))
        others = sorted((file for file in files if file is not best), key=lambda file: _natural(file.path))
        note = "; ".join(filter(None, [best.note, _about(best, others, attempts)]))
        chosen.append(replace(best, note=note, beside=_beside(best, found.modules)))
        skipped += [(file.path, f"replaced by {best.path}") for file in others]
    return Collected(tuple(chosen), tuple(skipped))


def _beside(file: SubmissionFile, modules: Iterable[SubmissionFile]) -> dict[str, Callable[[], bytes]]:
    """A student's modules by their paths from the folder of an answer, as its maker named them."""
    folder = file.own[:-1]
    return {
        "/".join(module.own[len(folder) :]): module.read
        for module in modules
        if module.student == file.student and module.own[: len(folder)] == folder
    }


def _layout_key(name: str) -> str:
    return name.partition(" ")[0].casefold()


def _with_exercises(files: list[SubmissionFile], asked: str, jobs: int, bounds: Bounds | None) -> list[SubmissionFile]:
    """With the exercise that a file's name says, or the folders that it is in, or its text, or else who asks."""
    files = [replace(file, exercise=_by_names(file)) for file in files]
    unsaid = [i for i, file in enumerate(files) if not file.exercise and file.may_answer]
    works: list[tuple[int, Work]] = [(i, partial(_named_inside, files[i])) for i in unsaid]
    for i, ended in in_children(works, jobs, bounds):
        if ended.value:
            files[i] = replace(files[i], exercise=str(ended.value), exact=1)
    return [
        replace(file, exercise=asked) if asked and not file.exercise and _may_answer(file) else file for file in files
    ]


def _by_names(file: SubmissionFile) -> str:
    """The exercise in a file's name, or in those of the folders around it, the nearest first."""
    if file.parts[-1].startswith("."):
        return ""
    own = file.own or file.parts[-1:]
    around = [*reversed(own[:-1]), *reversed(file.parts)] if not file.refused else []
    return next((found for name in (own[-1], *around) if (found := exercise_in(stem_of(name)).exercise)), "")


def _named_inside(file: SubmissionFile) -> str:
    """In a child: the exercise that a file says it is for."""
    try:
        return read(file.read(), file.path).exercise
    except BadSubmission:
        return ""


def _may_answer(file: SubmissionFile) -> bool:
    """Whether a file that names no exercise may be taken to be for the one that is asked for."""
    name = PurePosixPath(file.path)
    return name.suffix.lower() in (*KINDS, ".zip") and not name.name.startswith(".")


def _exact(file: SubmissionFile) -> int:
    """How clearly a file says its exercise: 3 by its exact name, 2 by its name, 1 inside, 0 not at all."""
    named = exercise_in(stem_of(file.own[-1] if file.own else file.parts[-1]))
    if not named.exercise:
        return file.exact or 2 * bool(_by_names(file))
    mine = name_key(named.before) in ("", name_key(file.student), name_key(file.id))
    return 3 if named.exact and mine else 2


def _timed(file: SubmissionFile, before: datetime | None) -> SubmissionFile:
    return replace(file, late=file.submitted >= before) if before and file.submitted else file


def _without_answer(files: Iterable[SubmissionFile], kept: Iterable[SubmissionFile]) -> str:
    """People of a platform who handed in something, and no answer to anything."""
    answering = {file.student for file in kept}
    others: dict[str, str] = {}
    for file in files:
        if file.platform and file.student and not file.exercise and file.student not in answering:
            others.setdefault(file.student, "/".join(file.own) or file.parts[-1])
    told = "; ".join(f"{student}: {name}" for student, name in sorted(others.items()))
    return f"handed in, but nothing that can be graded: {told}" if told else ""


def _one_alone(files: Sequence[SubmissionFile]) -> str:
    """What to do if the tries of the only student are several people's."""
    tries = Counter(file.exercise for file in files if not file.platform and not file.refused)
    if len({file.student for file in files}) != 1 or max(tries.values(), default=0) < _MANY_TRIES:
        return ""
    student = files[0].student
    return (
        f"all these are taken for tries of one student, {student}; if they are several people's: --layout '*/STUDENT'"
    )


def _alike(files: Iterable[SubmissionFile]) -> Iterator[str]:
    """Students who may be one person in two spellings."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for file in files:
        spellings[name_key(file.student)].add(file.student)
    for names in spellings.values():
        if len(names) > 1:
            yield f"these may be one person; a roster joins them: {', '.join(sorted(names))}"


def _sorted_out(
    files: Iterable[SubmissionFile], asked: str
) -> tuple[list[SubmissionFile], list[SubmissionFile], list[tuple[str, str]]]:
    """The files that answer something, modules of students who have such files, and the others with reasons."""
    kept: list[SubmissionFile] = []
    aside: list[tuple[SubmissionFile, str]] = []
    for file in files:
        if not file.exercise or not file.student:
            aside.append((file, file.refused or "it does not say which exercise it answers"))
        elif asked and file.exercise != asked:
            aside.append((file, f"it is for {file.exercise}"))
        else:
            kept.append(file)
    answering = {file.student for file in kept if not file.refused}
    modules = [file for file, _ in aside if file.student in answering and file.may_answer and file.path.endswith(".py")]
    aside = [(file, why) for file, why in aside if file not in modules or file.exercise]
    beside = {NO_ANSWER, NOTHING_IN_IT}  # pictures and data in the archive of a student who has an answer
    skipped = [
        (file.path, why)
        for file, why in aside
        if not (file.archived and file.refused in beside and file.student in answering)
    ]
    return kept, modules, list(dict.fromkeys(skipped))


def _attempts(files: list[SubmissionFile], jobs: int, bounds: Bounds | None) -> set[SubmissionFile]:
    """Those in which something is written for their exercise, each read in a child."""
    if not files:
        return set()
    from annotated_grader.exercise.catalogue import find  # takes seconds; without further tries nobody needs it
    from annotated_grader.exercise.exercise import ExerciseError

    works: list[tuple[int, Work]] = []
    for i, file in enumerate(files):
        try:
            works.append((i, partial(_is_attempt, file, find(file.exercise))))
        except ExerciseError:
            continue
    return {files[i] for i, ended in in_children(works, jobs, bounds) if ended.value}


def _is_attempt(file: SubmissionFile, exercise: Exercise) -> bool:
    """In a child: whether a file has an answer, or part of one, that the stub has not."""
    from annotated_grader.exercise.versions import versions_of
    from annotated_grader.sandbox.names import definitions, names_in_text, parsed

    try:
        submission = read(file.read(), file.path)
    except BadSubmission:
        return False
    broken = {name for cell in submission.cells if not cell.parses for name in names_in_text(cell.code)}
    codes = [version.submission.code for version in versions_of(exercise, submission)]
    written = {name for code in codes for name in definitions(parsed(code))} & set(exercise.answers)
    touched = bool(broken) or not all(exercise.is_untouched(code) for code in codes)
    return bool(broken & set(exercise.answers) or written) and touched


def _rank(file: SubmissionFile, attempts: set[SubmissionFile]) -> tuple[Any, ...]:
    """The file with the highest counts; the module's description says why."""
    came = file.submitted.timestamp() if file.submitted else 0.0
    own = len(file.own) or len(file.parts)
    return not file.refused, file in attempts, not file.late, came, file.exact, -own, file.attempt, _natural(file.path)


def _about(best: SubmissionFile, others: list[SubmissionFile], attempts: set[SubmissionFile]) -> str:
    """What a row says of the files that do not count."""
    if not others:
        return ""
    named = []
    for file in others[:_MOST_NAMED]:
        why = "" if file in attempts else " (not read)" if file.refused else " (nothing written in it)"
        shown = file.parts[-1:] if file.parts[:-1] == best.parts[:-1] else file.parts  # in another folder: with it
        named.append(f"{'/'.join(file.own[:1] if shown == file.parts[-1:] and file.own else shown)}{why}")
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return f"also handed in: {', '.join(named)}{more}"


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
