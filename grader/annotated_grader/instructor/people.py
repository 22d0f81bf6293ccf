"""People of a class: one person is one student, in every exercise, whatever spelling a file has.

Where a platform gives each person a number or a login, that is the person. Elsewhere it is the name, in one form of
Unicode and with the first name first. A roster joins what neither can, such as a login and a name. Two people of one
name stay apart, with their numbers behind their names, and two people in one row are an error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from annotated_grader.instructor.files import SubmissionFile
from annotated_grader.instructor.roster import GradedStudent, Roster


@dataclass(frozen=True)
class OnTheRoster:
    """What comparing a class with its roster gave.

    Attributes
    ----------
    unknown
        Students who are not on the roster.
    missing
        People of the roster who handed nothing in.
    ambiguous
        Students who may be several of the roster, with reasons.
    """

    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


def as_people(files: Iterable[SubmissionFile]) -> list[SubmissionFile]:
    """The same files with `person` set, and with one name for each person."""
    files = list(files)
    in_one_place: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for file in files:
        if file.id and not file.person:  # a number that holds for one assignment
            in_one_place[file.student, file.parts[: file.level]].add(file.id)
    of_several = {name for (name, _), ids in in_one_place.items() if len(ids) > 1}
    files = [
        replace(file, person=f"{file.student} ({file.id})" if file.student in of_several and file.id else file.student)
        if not file.person
        else file
        for file in files
    ]
    return _named_apart(files)


def on_roster(files: Iterable[SubmissionFile], roster: Roster) -> tuple[list[SubmissionFile], OnTheRoster]:
    """The same files with the names that a roster has, and who is missing on either side."""
    files = list(files)
    students = {file.person: GradedStudent(file.student, file.id) for file in files if file.exercise or file.platform}
    by_id = set(students.values()) | {GradedStudent(file.student, file.id) for file in files}
    lines = {student: roster.lines_of(student) for student in by_id}
    lines = {s: found for s, found in lines.items() if len({roster.people[line].identity for line in found}) == 1}
    joined, present = [], set()
    for file in files:
        student = GradedStudent(file.student, file.id)
        if found := lines.get(student):
            person = roster.people[found[0]]
            present |= set(found)
            known = file.id or (file.student if file.student.casefold() in person.ids else "")
            shown = person.name or file.student
            joined.append(replace(file, person=f"line {found[0]}", student=shown, id=known))
        else:
            joined.append(file)
    wrong = {student for student in students.values() if student not in lines}
    several = {student for student in wrong if roster.lines_of(student)}
    unknown = sorted(_shown(student) for student in wrong - several)
    missing = tuple(one.name for line, one in roster.people.items() if line not in present)
    ambiguous = tuple(sorted(f"{_shown(one)} may be lines {roster.lines_of(one)} of the roster" for one in several))
    return _named_apart(joined), OnTheRoster(tuple(unknown), missing, ambiguous)


def check_one_person_a_row(files: Iterable[SubmissionFile]) -> None:
    """See that no row would have the files of two people.

    Raises
    ------
    ValueError
        If one would; which, and what to do.
    """
    ids: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for file in files:
        if file.platform and file.id and file.exercise:
            ids[file.student, file.exercise, file.platform].setdefault(file.id.casefold(), file.path)
    for (student, exercise, platform), found in ids.items():
        if len(found) > 1:
            whose = " and ".join(f"{id} ({path})" for id, path in sorted(found.items())[:2])
            raise ValueError(
                f"{student}, {exercise}: {platform} has two people here, {whose}; nothing was graded. "
                "Is one line of the roster about both of them?"
            )


def _shown(student: GradedStudent) -> str:
    return f"{student.name} ({student.id})" if student.id and student.id not in student.name else student.name


def _named_apart(files: list[SubmissionFile]) -> list[SubmissionFile]:
    """One name for each person: the one that most files have, with the number behind it where two people share it."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    ids: dict[str, str] = {}
    for file in files:
        names[file.person][file.student] += 1
        ids.setdefault(file.person, file.id)
    chosen = {person: max(sorted(found), key=found.__getitem__) for person, found in names.items()}
    sharing = Counter(chosen.values())
    for person, name in chosen.items():
        if sharing[name] > 1 and ids[person]:
            chosen[person] = f"{name} ({ids[person]})"
    return [replace(file, student=chosen[file.person]) for file in files]
