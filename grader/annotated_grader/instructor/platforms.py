"""Learning platforms, by how they name what is downloaded from them: whose each file is, and when it came.

What is known of each, and from where:

- Canvas: `adlerada_LATE_101_900001_ex05-1.ipynb`: the sorted name in small letters, LATE, the number of the person,
  that of the file, and the file's own name, with `-1` for a second try (`lib/content_zipper.rb`). Anonymous:
  `anon_8kq2z_900001_...`.
- Moodle: `Ada Adler_4001_assignsubmission_file_`, a folder or the beginning of a file's name. The number is that of the
  *participant in this assignment*: another assignment has another (`mod/assign/classes/downloader.php`).
- Blackboard: `HW1_aadler_attempt_2026-10-05-12-30-01_ex05-1.ipynb`, and beside it a receipt without an own name, a text
  that begins `Name: Ada Adler (aadler)`.
- Brightspace: folders `397063-2557369 - Ada Adler - Oct 5, 2026 926 PM`.
- Sakai: folders `Adler, Ada(aadler)` with `Submission attachment(s)` in them.
- Gradescope: `submission_123/`, and beside it `submission_metadata.yml` with names, numbers and times.
- nbgrader: `submitted/STUDENT/ASSIGNMENT/`, with `timestamp.txt`; in its exchange `STUDENT+ASSIGNMENT+TIME+...`.
- Schoology: `Adler, Ada/Revision 2 - Late/`.
- Autolab: `ada@uni.edu_3_ex05-1.py`, the third try.
- GitHub Classroom: `hw5-submissions/hw5-LOGIN/`, a checkout.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os.path import commonprefix

from annotated_grader.instructor.files import KINDS, Files, LayoutDoubt, SubmissionFile
from annotated_grader.instructor.limited import Bounds
from annotated_grader.instructor.names import display_name, is_wrapper
from annotated_grader.instructor.side_files import (
    METADATA,
    TIMESTAMP,
    GradescopeSubmission,
    Receipt,
    gradescope_submissions,
    receipts,
    timestamps,
)

CANVAS, MOODLE, BLACKBOARD, BRIGHTSPACE, SAKAI = "Canvas", "Moodle", "Blackboard", "Brightspace", "Sakai"
GRADESCOPE, NBGRADER, GITHUB = "Gradescope", "nbgrader", "GitHub Classroom"
AUTOLAB, SCHOOLOGY = "Autolab", "Schoology"
PLATFORMS = (CANVAS, GRADESCOPE, MOODLE, BLACKBOARD, BRIGHTSPACE, SAKAI, NBGRADER, GITHUB, AUTOLAB, SCHOOLOGY)
_PATTERNS = tuple(
    (platform, re.compile(pattern))
    for platform, pattern in (
        (CANVAS, r"(?:LATE_)?anon_(?P<id>\w{5})_(?P<attempt>\d{3,})_(?P<own>.+)"),
        (CANVAS, r"(?P<name>[^\WA-Z]+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<attempt>\d{3,})_(?P<own>.+)"),
        (CANVAS, r"(?P<name>[^\WA-Z]+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<own>(?:text|link)\.html)"),
        (MOODLE, r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_(?:file|onlinetext)_?(?P<own>.*)"),
        (BLACKBOARD, r"(?P<name>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<own>.+)|\.txt)?"),
        (
            BRIGHTSPACE,
            r"\d+-\d+ ?- ?(?P<name>.+?) ?- ?(?P<time>[A-Z][a-z]+ \d{1,2}, \d{4} \d{3,4} [AP]M)(?: ?- ?(?P<own>.+))?",
        ),
        (AUTOLAB, r"(?P<id>[^@\s]+@[^@\s_]+)_(?P<attempt>\d+)_(?P<own>.+)"),
        (NBGRADER, r"(?P<id>[^+]+)\+[^+]+\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*(?: [A-Z]+)?)(?:\+[^+]*)?"),
    )
)
_SAKAI = re.compile(r"(?P<name>.+?)\((?P<id>[^()]+)\)")
_SAKAI_INSIDE = "Submission attachment(s)"
_SCHOOLOGY_INSIDE = re.compile(r"Revision (?P<attempt>\d+) - (?P<late>On Time|Late)")
_KNOWS_PEOPLE = (CANVAS, GRADESCOPE, BLACKBOARD, SAKAI, NBGRADER, GITHUB, AUTOLAB)
"""Platforms by whose number or login one is the same person in every download."""
_NBGRADERS_OWN = ("source", "release", "autograded", "feedback", "solution")


@dataclass(frozen=True)
class _Named:
    """What a platform says of a file: on which part of its path it says so, and the file, for each who handed it in."""

    level: int
    files: tuple[SubmissionFile, ...]

    @property
    def platform(self) -> str:
        return self.files[0].platform


def recognised(found: Files, only: str = "", bounds: Bounds | None = None) -> tuple[list[SubmissionFile], str]:
    """The same files, and a warning; those that a platform named say whose they are.

    What the platform added for itself is left out.

    Parameters
    ----------
    only
        The platform that made all this; by default, names are believed where no student can have made them up.

    Raises
    ------
    LayoutDoubt
        If names like a platform's are inside of what may be one student's.
    """
    known, warning = gradescope_submissions(found.files, bounds)
    github, trees = _github_prefixes(found), _Trees.of(found, bounds)
    named: dict[int, _Named] = {}
    for i, file in enumerate(found.files):
        said = (_of_gradescope(file, known), trees.placed(file), _by_names(file), _by_repository(file, github))
        outermost = min((one for one in said if one), key=lambda one: one.level, default=None)
        if outermost and (not only or outermost.platform == only):
            named[i] = outermost
    if not only:
        named = _believed(found.files, named)
    files = []
    for i, file in enumerate(found.files):
        files += [replace(one, level=named[i].level) for one in named[i].files] if i in named else [file]
    files = _with_receipts([trees.timed(file) for file in files], bounds)
    made = {file.platform for file in files}
    return [file for file in files if not _is_platforms_own(file, made)], warning


def _believed(files: Sequence[SubmissionFile], named: dict[int, _Named]) -> dict[int, _Named]:
    """Without names that a student can have made up, inside of a folder or an archive of their own.

    Platforms name what lies beside each other. So an inner name is believed in what is called like a class, and where
    most of the entries beside it have such names, too.
    """
    entries: dict[tuple[str, ...], dict[str, bool]] = defaultdict(dict)
    for i, file in enumerate(files):
        if file.may_answer:
            for j in range(named[i].level + 1 if i in named else len(file.parts)):
                beside = entries[file.parts[:j]]
                beside[file.parts[j]] = beside.get(file.parts[j], False) or i in named
    kept, made_up = {}, defaultdict(set)
    for i, one in named.items():
        parts = files[i].parts
        for j in range(one.level):
            named_so = list(entries[parts[:j]].values())
            if not is_wrapper(parts[j]) and named_so.count(False) > named_so.count(True):
                made_up[one.platform, parts[: j + 1]].add(one.files[0].student)
                break
        else:
            kept[i] = one
    for (platform, parts), students in made_up.items():
        if len(students) > 1:
            raise LayoutDoubt(
                f"{'/'.join(parts)} has files of {len(students)} people in it, by names like {platform}'s",
                (
                    (platform.partition(" ")[0].lower(), f"it was downloaded from {platform}"),
                    ("/".join(["*"] * (len(parts) - 1) + ["STUDENT"]), f"{parts[-1]} is one student"),
                ),
            )
    people = {(file.platform, file.student) for i, one in kept.items() for file in one.files if files[i].may_answer}
    others = any(file.may_answer and i not in kept for i, file in enumerate(files))
    return {} if len(people) == 1 and others else kept  # one alone has such a name by chance


def _is_platforms_own(file: SubmissionFile, made: set[str]) -> bool:
    name = file.parts[-1]
    if file.platform == BLACKBOARD and not file.own:
        return True  # a receipt
    return (
        name == METADATA
        or (name == TIMESTAMP and bool(made & {NBGRADER, SAKAI}))
        or (SAKAI in made and name in ("grades.csv", "comments.txt"))
        or (BRIGHTSPACE in made and name == "index.html")
    )


def _by_names(file: SubmissionFile) -> _Named | None:
    """By the outermost name on a file's path that a platform gave."""
    parts = file.parts
    for i, part in enumerate(parts):
        for platform, pattern in _PATTERNS:
            if match := pattern.fullmatch(part):
                groups = match.groupdict()
                rest = (groups["own"],) if groups.get("own") else ()
                return _Named(i, (_placed(file, platform, groups, (*rest, *parts[i + 1 :])),))
        inside = parts[i + 1 : i + 2] == (_SAKAI_INSIDE,) or parts[i + 1 :] == (TIMESTAMP,)
        if inside and (match := _SAKAI.fullmatch(part)):
            return _Named(i, (_placed(file, SAKAI, match.groupdict(), parts[i + 2 :]),))
        if match := _SCHOOLOGY_INSIDE.fullmatch("/".join(parts[i + 1 : i + 2])):
            placed = _placed(file, SCHOOLOGY, {"name": part, "attempt": match["attempt"]}, parts[i + 2 :])
            return _Named(i, (replace(placed, late=match["late"] == "Late"),))
    return None


def _placed(
    file: SubmissionFile, platform: str, groups: Mapping[str, str | None], own: tuple[str, ...]
) -> SubmissionFile:
    id, name = groups.get("id") or "", groups.get("name") or ""
    if platform == CANVAS and not name:
        name = f"anon {id}"
    if platform == BLACKBOARD and not own and file.parts[-1].lower().endswith(KINDS):
        own = file.parts[-1:]
    if platform == MOODLE and id and not re.sub(r"\W|Participant|Teilnehmer\w*", "", name):
        name = f"{name} {id}"  # marked blind
    late = None if platform != CANVAS else bool(groups.get("late") or file.parts[-1].startswith("LATE_anon_"))
    return replace(
        file, platform=platform, student=display_name(name or id), id=id, late=late,
        person=f"{platform}:{id.casefold()}" if id and platform in _KNOWS_PEOPLE else "",
        attempt=int(groups.get("attempt") or 0), submitted=_time(platform, groups.get("time")), own=own,
    )  # fmt: skip


_TIMES = {BLACKBOARD: "%Y-%m-%d-%H-%M-%S", BRIGHTSPACE: "%b %d, %Y %I%M %p"}


def _time(platform: str, text: str | None) -> datetime | None:
    """A time as a platform writes it; one without a zone is taken for one of this machine's."""
    if not text:
        return None
    try:
        if platform == BRIGHTSPACE:
            day, clock, half = text.rsplit(" ", 2)
            text = f"{day[:3]}{day[day.index(' ') :]} {clock:0>4} {half}"
        if platform not in _TIMES:
            return time_of(text)
        return datetime.strptime(text, _TIMES[platform]).astimezone()
    except ValueError:
        return None


def time_of(text: str) -> datetime:
    """A time such as `2026-10-05 23:59`, `2026-10-05T23:59+02:00` or `2026-10-05 21:59:00.123 UTC`, with its zone.

    Raises
    ------
    ValueError
        If it is none.
    """
    plain = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", text.strip())
    plain = re.sub(r"(\.\d{6})\d+", r"\1", re.sub(r"\s+([+-]\d\d):?(\d\d)$", r"\1:\2", plain))
    return datetime.fromisoformat(plain).astimezone()


def _github_prefixes(found: Files) -> dict[str, str]:
    """For each folder of checkouts what their names begin with: `hw5-` of `hw5-submissions/hw5-ada`."""
    children: dict[str, set[str]] = defaultdict(set)
    for file in found.files:
        for i in range(1, len(file.parts)):
            children["/".join(file.parts[: i - 1])].add(file.parts[i - 1])
    prefixes = {}
    for parent, names in children.items():
        folder = parent.rpartition("/")[2] or found.name
        said = folder.removesuffix("-submissions")
        if said != folder and all(name.startswith(f"{said}-") for name in names):
            prefixes[parent] = f"{said}-"
        elif len(names) > 1 and {f"{parent}/{name}".lstrip("/") for name in names} <= found.repositories:
            prefix = commonprefix(sorted(names)).rpartition("-")[0]
            if prefix and is_wrapper(prefix) or prefix and len(names) > 2:
                prefixes[parent] = f"{prefix}-"
    return prefixes


def _by_repository(file: SubmissionFile, prefixes: Mapping[str, str]) -> _Named | None:
    for i in range(1, len(file.parts)):
        if prefix := prefixes.get("/".join(file.parts[: i - 1])):
            name = file.parts[i - 1].removeprefix(prefix)
            return _Named(i - 1, (_placed(file, GITHUB, {"name": name, "id": name}, file.parts[i:]),))
    return None


def _with_receipts(files: list[SubmissionFile], bounds: Bounds | None) -> list[SubmissionFile]:
    """Blackboard's files with logins and names: by the receipts, or else by what all names begin with."""
    theirs = [file for file in files if file.platform == BLACKBOARD]
    if not theirs:
        return files
    known = receipts([file for file in theirs if not file.own], bounds)
    leads = {file.student for file in theirs if file.student not in known}
    common = commonprefix([f"{lead}_" for lead in sorted(leads)]).rpartition("_")[0] if len(leads) > 1 else ""
    done = []
    for file in files:
        if file.platform == BLACKBOARD:
            lead = file.student
            login = lead.removeprefix(f"{common}_") if common else lead.rpartition("_")[2]
            receipt = known.get(lead, Receipt(login, login))
            file = replace(
                file, student=display_name(receipt.name), id=receipt.login,
                person=f"{BLACKBOARD}:{receipt.login.casefold()}",
            )  # fmt: skip
        done.append(file)
    return done


def _of_gradescope(file: SubmissionFile, known: Mapping[str, GradescopeSubmission]) -> _Named | None:
    """A file of Gradescope's with names, numbers and times; one that several people handed in is each one's."""
    above = ("/".join(file.parts[:i]) for i in range(1, len(file.parts) + 1))
    place = next((place for place in above if place in known), None)
    if place is None:
        return None
    own = file.parts[place.count("/") + 1 :] or (file.parts[-1],)
    done = []
    for name, id, email in known[place].people:
        placed = _placed(file, GRADESCOPE, {"name": name or email or id, "id": id or email}, own)
        person = f"{GRADESCOPE}:{(email or id).casefold()}"
        done.append(replace(placed, submitted=_time(GRADESCOPE, known[place].created), person=person))
    return _Named(place.count("/"), tuple(done))


@dataclass(frozen=True)
class _Trees:
    """Times in `timestamp.txt`, and nbgrader's trees `submitted/STUDENT/ASSIGNMENT/`: where their students are."""

    roots: frozenset[tuple[str, ...]]
    times: Mapping[str, datetime]

    @classmethod
    def of(cls, found: Files, bounds: Bounds | None) -> _Trees:
        paths = [file.parts for file in found.files]
        roots = {parts[: i + 1] for parts in paths for i, part in enumerate(parts[:-3]) if part == "submitted"}
        if found.name == "submitted" and any(len(parts) > 2 for parts in paths):
            roots.add(())
        times = {}
        if any(parts[-1] == TIMESTAMP for parts in paths):
            for folder, text in timestamps(found.files, bounds).items():
                if time := _time(NBGRADER, text):
                    times[folder] = time
                    if folder.count("/") and not _SAKAI.fullmatch(folder.rpartition("/")[2]):
                        roots.add(tuple(folder.split("/")[:-2]))
        return cls(frozenset(roots), times)

    def placed(self, file: SubmissionFile) -> _Named | None:
        """Whose a file in one of nbgrader's trees is."""
        parts = file.parts
        for root in sorted(self.roots, key=len):
            if parts[: len(root)] == root and len(parts) > len(root) + 2:
                student = parts[len(root)]
                placed = _placed(file, NBGRADER, {"name": student, "id": student}, parts[len(root) + 2 :])
                placed = replace(placed, submitted=self.times.get("/".join(parts[: len(root) + 2])))
                return _Named(len(root), (placed,))
            beside = root[:-1] if root[-1:] == ("submitted",) else None
            if beside is not None and parts[: len(beside)] == beside and parts[len(beside)] in _NBGRADERS_OWN:
                own = replace(file, platform=NBGRADER, refused="it is nbgrader's own and no submission", own=parts)
                return _Named(len(beside), (own,))
        return None

    def timed(self, file: SubmissionFile) -> SubmissionFile:
        """With the time that the platform noted in a folder around it, if it has none."""
        above = ("/".join(file.parts[:i]) for i in range(len(file.parts) - 1, 0, -1))
        time = next((self.times[folder] for folder in above if folder in self.times), None)
        return replace(file, submitted=file.submitted or time) if file.platform == SAKAI else file
