"""Folders and file names of one's own: whose a file is where no platform said it.

A class is a folder or an archive with people in it, as folders, archives or beginnings of names. Which of the levels
of a tree are the people is seen from the names and from what is answered in them:

- The top is a class. So is what is called like an exercise or a piece of homework (`ex05-1`, `submissions.zip`).
- Several names in one place that answer the same exercise (`ada_ex05-1.py`, `ben_ex05-1.py`) are people, and no
  further tries of one.
- Folders with several folders in them that answer the same exercise are sections, or exercises, or students with
  tries. Where one of these is plain it is taken; else it is a doubt, and somebody has to say it (`LayoutDoubt`).
- A folder that has an answer under its exact name in it is a student.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from os.path import commonprefix

from annotated_grader.instructor.files import NO_ANSWER, LayoutDoubt, SubmissionFile
from annotated_grader.instructor.names import (
    NamedExercise,
    display_name,
    exercise_in,
    has_filler,
    is_filler,
    is_section,
    is_wrapper,
    name_key,
    stem_of,
    without_drive,
    without_number,
    without_words,
)

RENAME = "the name does not begin with a student: rename it STUDENT_{exercise}"
STUDENT = "STUDENT"


def level_of(layout: str) -> int | None:
    """The level that a layout such as `*/STUDENT` says the students are on; None if it is none."""
    parts = layout.split("/")
    return len(parts) - 1 if parts[-1] == STUDENT and all(part == "*" for part in parts[:-1]) else None


def placed_by_folders(
    files: Iterable[SubmissionFile], level: int | None = None, downloads: Iterable[tuple[str, ...]] = ()
) -> list[SubmissionFile]:
    """The same files with students; each already has its exercise where its name or its text says it.

    Parameters
    ----------
    level
        That the students are on, from 0; by default it is seen from the names.
    downloads
        Paths of folders that a platform filled: what lies beside its files is somebody's, too.

    Raises
    ------
    LayoutDoubt
        If it cannot be seen.
    """
    files = list(files)
    if level is None:
        classes = {path[:i] for path in downloads for i in range(1, len(path) + 1)}
        return _class(files, 0, classes)
    by_place: dict[tuple[str, ...], list[SubmissionFile]] = defaultdict(list)
    for file in files:
        by_place[file.parts[: min(level, len(file.parts) - 1)]].append(file)
    return [file for place, members in by_place.items() for file in _people(members, len(place))]


def _class(
    files: list[SubmissionFile], depth: int, known: Collection[tuple[str, ...]] = (), look_inside: bool = True
) -> list[SubmissionFile]:
    """Files of one class, whose paths are the same up to a depth.

    Parameters
    ----------
    known
        Paths of folders that are classes.
    look_inside
        Whether a folder that has all files in it may be a class where it looks like a student's.
    """
    inside: dict[str, list[SubmissionFile]] = defaultdict(list)
    for file in files:
        if len(file.parts) > depth + 1:
            inside[file.parts[depth]].append(file)
    readings = {name: _reading(name, members, depth + 1) for name, members in inside.items()}
    classes = {name for name, reading in readings.items() if reading == "class"}
    classes |= {name for name, members in inside.items() if members[0].parts[: depth + 1] in known}
    if depth:  # `hw5.zip/hw5/` is one folder
        classes |= {name for name in inside if name == without_drive(files[0].parts[depth - 1])}
    classes |= _classes_among({n: r for n, r in readings.items() if n not in classes}, inside, files, depth)
    answers = [file for file in files if file.exercise]
    shared = len(commonprefix([file.parts[:-1] for file in answers]))
    if not classes and look_inside and shared > depth and _has_people(answers, shared):
        classes = {answers[0].parts[depth]}
        known = {*known, *(answers[0].parts[:i] for i in range(depth + 1, shared + 1))}
    people = [file for file in files if len(file.parts) == depth + 1 or file.parts[depth] not in classes]
    return _people(people, depth) + [
        file for name in sorted(classes) for file in _class(inside[name], depth + 1, known, look_inside)
    ]


def _has_people(files: list[SubmissionFile], depth: int) -> bool:
    """Whether files, taken for those of a class, are of two people at least who answer the same exercise."""
    try:
        placed = _class(files, depth, look_inside=False)
    except LayoutDoubt:
        return False
    if any(file.note for file in placed):  # an answer without a name belongs to whom the folder is named after
        return False
    return _answer_the_same((file.exercise, file.student) for file in placed if _is_told(file, depth))


def _is_told(file: SubmissionFile, depth: int) -> bool:
    """Whether a file lies in a folder of its student, or its name begins with the student."""
    return len(file.own) < len(file.parts[depth:]) or bool(exercise_in(stem_of(file.parts[-1])).before)


def _reading(name: str, members: list[SubmissionFile], depth: int) -> str:
    """What a folder or an archive is by itself: `class`, `person`, or `empty` of answers.

    One with several names in it is `people` if these are in the names of answers, and `several` if they are those of
    folders, which may be tries.
    """
    answers = [file for file in members if file.may_answer and file.exercise]
    if not answers:
        return "class" if is_wrapper(name) else "empty"
    if is_wrapper(name):
        return "class"
    paths = [file.parts[:-1] for file in answers]
    depth = max(depth, len(commonprefix(paths)))  # of a folder in a folder, the inner one
    labels = [(file.exercise, *_label(file, depth)) for file in answers]
    if any(not label or name_key(label) == name_key(stem_of(name)) for _, label, _ in labels):
        return "person"
    if _answer_the_same([(exercise, label) for exercise, label, _ in labels]):
        by_name = [(exercise, label) for exercise, label, is_student in labels if is_student]
        return "people" if _answer_the_same(by_name) else "several"
    inside: dict[str, list[SubmissionFile]] = defaultdict(list)
    for file in answers:
        if len(file.parts) > depth + 1:
            inside[file.parts[depth]].append(file)
    deeper = {_reading(folder, found, depth + 1) for folder, found in inside.items()}
    return next((reading for reading in ("people", "several") if reading in deeper), "person")


def _label(file: SubmissionFile, depth: int) -> tuple[str, bool]:
    """What tells a file in a folder from its neighbours, and whether that surely is a student's name."""
    folders = file.parts[depth:-1]
    for folder in folders:
        if not (folder.isdigit() or is_filler(folder) or is_wrapper(folder)):
            return folder, False
    stem = stem_of(file.parts[-1])
    named = exercise_in(stem)
    if not named.exercise:
        return "" if folders or is_filler(stem) else stem, False
    who, _ = _student_in(named)
    return who if named.before or any(map(str.isalpha, who)) else "", True


def _answer_the_same(labels: Iterable[tuple[str, str]]) -> bool:
    """Whether two labels answer one exercise."""
    seen: dict[str, set[str]] = defaultdict(set)
    for exercise, label in labels:
        seen[exercise].add(name_key(label))
    return any(len(names) > 1 for names in seen.values())


def _classes_among(
    readings: dict[str, str], inside: dict[str, list[SubmissionFile]], files: list[SubmissionFile], depth: int
) -> set[str]:
    """Those of the folders with several names in them that are classes, where it can be seen."""
    answers = {name: [file for file in inside[name] if file.may_answer and file.exercise] for name in inside}
    labels = {name: {_label(file, depth + 1)[0] for file in found} - {""} for name, found in answers.items()}
    exercises = {name: {file.exercise for file in found} for name, found in answers.items()}
    several = {name for name, reading in readings.items() if reading in ("people", "several")}
    people = {name for name, reading in readings.items() if reading == "person"}
    for name in sorted(people):  # one alone handed in for this exercise, and is among the people of another
        if any(labels[name] & labels[one] and not exercises[name] & exercises[one] for one in several):
            several.add(name)
    loose = {file.parts[depth] for file in files if len(file.parts) == depth + 1 and file.may_answer and file.exercise}
    others = len(loose) + len(people - several)
    by_name = {name for name in several if readings[name] == "people"}
    apart = _disjoint(exercises[name] for name in several)
    if not several or all(map(is_section, several)) or (not others and (apart or by_name == several)):
        return several
    shared = not _disjoint(labels[name] for name in several)
    if not by_name and (shared or others > len(several)):  # the same folder in several others is nobody's name
        return set()
    outer = sorted(by_name or several)[:2]
    inner = sorted({file.parts[depth + 1] for file in answers[outer[0]]})[:2]
    stars = "*/" * depth
    raise LayoutDoubt(
        f"it cannot be seen which are the students, {_and(outer)} or {_and(inner)} in {outer[0]!r}",
        ((f"{stars}{STUDENT}", f"{outer[0]} is a student"), (f"{stars}*/{STUDENT}", f"{inner[0]} is one student's")),
    )


def _disjoint(sets: Iterable[set[str]]) -> bool:
    sets = list(sets)
    return len(set().union(*sets)) == sum(map(len, sets))


def _and(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _people(files: list[SubmissionFile], depth: int) -> list[SubmissionFile]:
    """Files of one class in which each folder, archive or beginning of a name is a student's.

    Two files whose names begin alike and go on differently after the exercise are not of one student.
    """
    stems = {stem_of(file.parts[depth]) for file in files}
    names = {file.parts[depth]: without_number(file.parts[depth], stems) for file in files}
    named = {name: exercise_in(stem) for name, stem in names.items()}
    alone = {student for one in named.values() for student in _student_in(one)[:1]}
    goes_on: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, one in named.items():
        student, rest = _student_in(one)
        if (shorter := without_words(student)) in alone:
            student, named[name] = shorter, replace(one, before=shorter)
        if student:
            goes_on[student, one.exercise].add(rest)
    placed = []
    for file in files:
        top = file.parts[depth]
        is_file = len(file.parts) == depth + 1
        student, rest = _student_in(named[top])
        known = goes_on.get((student, named[top].exercise), set())
        note = ""
        if not named[top].exercise:
            student = names[top] if is_file else stem_of(top) if top.lower().endswith(".zip") else top
            note = RENAME if is_file and has_filler(student) else ""
        elif not student or (rest and len(known) > 1 and not ("" in known and file.refused == NO_ANSWER)):
            student = " / ".join([*file.parts[:depth], names[top] if student else stem_of(top)])
            note = RENAME
        if note and file.refused == NO_ANSWER:  # such as the sheet with the task
            file, note = replace(file, exercise=""), ""
        note = note.format(exercise=file.exercise) if file.exercise else ""
        own = file.parts[depth + (0 if is_file else 1) :]
        placed.append(replace(file, student=display_name(student), own=own, note=note))
    return placed


def _student_in(named: NamedExercise) -> tuple[str, str]:
    """The student in a name with an exercise in it, and what follows the exercise beside that; both may be empty."""
    before = "" if is_filler(named.before) else named.before
    after = "" if is_filler(named.after) else named.after
    return (before, after) if before else (after, "")
