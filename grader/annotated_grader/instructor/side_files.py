"""Side files of platforms: what they write beside the submissions, each kind read in one limited child.

Gradescope's `submission_metadata.yml`, the receipts of Blackboard, the `timestamp.txt` of nbgrader and Sakai. They hold
names and texts of students, so nothing in them is believed: what does not look as it should is as if it were not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from annotated_grader.exercise.submission import BadSubmission
from annotated_grader.instructor.files import SubmissionFile
from annotated_grader.instructor.limited import Bounds, in_children

METADATA = "submission_metadata.yml"
TIMESTAMP = "timestamp.txt"
_MOST_TEXT = 20_000
_LONGEST = 300


@dataclass(frozen=True)
class GradescopeSubmission:
    """One submission by its metadata: name, number and address of each who handed it in, and when."""

    people: tuple[tuple[str, str, str], ...]
    created: str = ""


@dataclass(frozen=True)
class Receipt:
    """Who handed something in to Blackboard."""

    name: str
    login: str


def gradescope_submissions(
    files: Iterable[SubmissionFile], bounds: Bounds | None = None
) -> tuple[dict[str, GradescopeSubmission], str]:
    """By the path of each submission's folder or file; and why a file of metadata cannot be used, if so."""
    known: dict[str, GradescopeSubmission] = {}
    reason = ""
    for file in files:
        if file.parts[-1] != METADATA:
            continue
        found, why = _in_a_child(partial(_metadata, file), bounds)
        reason = reason or (f"{file.path} cannot be read, so nobody has a name: {why}" if why else "")
        above = file.path.removesuffix(METADATA)
        for key, people, created in found or ():
            named = tuple((name, id, email) for name, id, email in people if name or id or email)
            if named:
                known[above + key] = GradescopeSubmission(named, created)
    return known, reason


def receipts(files: Iterable[SubmissionFile], bounds: Bounds | None = None) -> dict[str, Receipt]:
    """By the beginning of the names of Blackboard's files."""
    found, _ = _in_a_child(partial(_receipts, list(files)), bounds)
    return {lead: Receipt(name, login) for lead, name, login in found or ()}


def timestamps(files: Iterable[SubmissionFile], bounds: Bounds | None = None) -> dict[str, str]:
    """The times in files of this name, by the paths of their folders. Their zones are given."""
    found, _ = _in_a_child(partial(_first_lines, [file for file in files if file.parts[-1] == TIMESTAMP]), bounds)
    return {folder: time for folder, line in found or () if (time := _time_in(line))}


def _time_in(line: str) -> str:
    """A time as nbgrader writes it, or Sakai, whose clock shows that of Greenwich; empty if it is none."""
    if match := re.fullmatch(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d*", line):
        return "{}-{}-{} {}:{}:{} UTC".format(*match.groups())
    return line if re.match(r"\d{4}-\d\d-\d\d", line) else ""


def _in_a_child(work: Callable[[], Any], bounds: Bounds | None) -> tuple[Any, str]:
    ((_, ended),) = in_children([(0, work)], 1, bounds)
    return ended.value, ended.reason


def _text(file: SubmissionFile) -> str:
    return file.open()[:_MOST_TEXT].decode("utf-8", errors="replace").lstrip("\ufeff")


def _metadata(file: SubmissionFile) -> list[tuple[str, list[tuple[str, str, str]], str]]:
    """In a child. Tags of Ruby are passed over: none is needed."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_multi_constructor("!", lambda loader, tag, node: None)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
    data = yaml.load(file.open(), Loader)  # noqa: S506  a safe loader with fewer types
    rows = []
    for key, value in (data if isinstance(data, dict) else {}).items():
        value = value if isinstance(value, dict) else {}
        submitters = value.get(":submitters")
        people = [
            (_said(one, ":name"), _said(one, ":sid"), _said(one, ":email"))
            for one in (submitters if isinstance(submitters, list) else [])
            if isinstance(one, dict)
        ]
        rows.append((str(key)[:_LONGEST], people, _said(value, ":created_at")))
    return rows


def _said(value: dict[Any, Any], key: str) -> str:
    return " ".join(str(value.get(key) or "").split())[:_LONGEST]


def _receipts(files: list[SubmissionFile]) -> list[tuple[str, str, str]]:
    """In a child."""
    rows = []
    for file in files:
        match = re.match(r"\s*\w+:\s*(.{1,300}?)\s*\(([^()\s]{1,100})\)\s*$", _first_line(file))
        if match and file.student.lower().endswith(f"_{match[2].lower()}"):
            rows.append((file.student, match[1], match[2]))
    return rows


def _first_lines(files: list[SubmissionFile]) -> list[tuple[str, str]]:
    """In a child."""
    return [(file.path.rpartition("/")[0], _first_line(file)[:100]) for file in files]


def _first_line(file: SubmissionFile) -> str:
    try:
        return next(iter(_text(file).strip().splitlines()), "")
    except (BadSubmission, OSError, ValueError):
        return ""
