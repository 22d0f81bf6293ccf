"""Answers of a folder as code, for comparison: each file is read in a limited child, and nothing is run."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.exercise import ExerciseError
from annotated_grader.exercise.submission import BadSubmission, read
from annotated_grader.instructor.files import SubmissionFile
from annotated_grader.instructor.gradebook import shown_name
from annotated_grader.instructor.limited import Work, in_children
from annotated_grader.instructor.submissions import AUTO, collect

_MOST_CODE = 50_000


def read_answers(
    folder: Path, exercise: str = "", layout: str = AUTO
) -> tuple[dict[str, dict[str, str]], list[tuple[str, str]]]:
    """The code that makes the answers, by exercise and student, and the files without any, with reasons."""
    collected = collect(folder, exercise, layout=layout)
    answers: dict[str, dict[str, str]] = {}
    skipped = list(collected.skipped)
    works: list[tuple[SubmissionFile, Work]] = []
    for file in collected.submissions:
        try:
            works.append((file, partial(_code, file, find(file.exercise).answers)))
        except ExerciseError as error:
            skipped.append((file.path, str(error)))
    for file, ended in in_children(works, jobs=2):
        code, reason = ended.value or ("", ended.reason)
        if reason:
            skipped.append((file.path, reason))
        else:
            answers.setdefault(file.exercise, {})[shown_name(file.student)] = code
    return answers, skipped


def _code(file: SubmissionFile, names: Collection[str]) -> tuple[str, str]:
    """In a child: the code of an answer, or why there is none."""
    try:
        submission = read(file.read(), file.path).for_answers(names)
    except BadSubmission as error:
        return "", str(error)
    return submission.source_of(names)[:_MOST_CODE], ""
