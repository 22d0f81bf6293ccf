"""Report for the person who wrote the answer: the score and its reason first, then the smallest counterexample.

`Feedback` holds what is to be said, and says it as text; `report_html` says the same as HTML.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from annotated_grader.exercise.diagnosis import Cause, Diagnosis
from annotated_grader.exercise.exercise import WrongAnswer
from annotated_grader.exercise.markdown import terminal
from annotated_grader.exercise.run import CheckResult, ExerciseResult, Failure
from annotated_grader.exercise.short_repr import short_repr, type_and_shape
from annotated_grader.feedback.tensor_tables import TensorTable, compared, is_matrix, single

WIDTH = 96
"""Columns of a terminal that are used, where it has as many."""
SMALL = 40
"""Entries of an input that is shown at once; a larger one is folded, or left out of a terminal."""
KNOWN = "Your answer behaves like a known mistake."
PERHAPS = "Perhaps it is this known mistake; what your answer gave back fits it, and may have another cause."
ONE_OF = "What your answer gave back fits several known mistakes. Perhaps it is one of these."
NOT_RUN = "your code does not run"
_MARK = "×"
_STUB = "NotImplementedError"


@dataclass(frozen=True)
class Feedback:
    """What there is to say about an answer.

    Attributes
    ----------
    result
        Of `run_checks`.
    diagnosis
        Of `diagnose`, if the answer behaves like a known-wrong one.
    output
        What the answer's code printed.
    notes
        Further sentences, such as one about the file of progress.
    chapters
        Addresses of chapters by their number, where the book is at hand.
    """

    result: ExerciseResult
    diagnosis: Diagnosis | None = None
    output: str = ""
    notes: tuple[str, ...] = ()
    chapters: dict[int, str] = field(default_factory=dict)

    def text(self) -> str:
        """All of it for a terminal."""
        exercise = self.result.exercise
        blocks = [_wrapped(headline(self.result), "")]
        shown = first_failure(self.result)
        if shown is not None and shown.failure is not None and has_details(self.result, shown):
            blocks.append(_counterexample(shown, shown.failure))
        for cause in self.diagnosis.causes if self.diagnosis else ():
            told = [opening(cause), terminal(explained(self.result, cause))]
            for entry in cause.entries:
                told += [terminal(entry.says), where_treated(self.result, entry)]
            blocks.append("\n".join(_wrapped(line, "  ") for line in told if line))
        checks = f"{exercise.id}, {terminal(exercise.title)}:"
        blocks.append("\n".join([checks, *_lines_of_checks(self.result.checks)]))
        if self.output.strip():
            blocks.append("Your code printed:\n" + textwrap.indent(_last_lines(self.output), "  "))
        blocks += [_wrapped(note, "") for note in self.notes]
        return "\n\n".join(blocks) + "\n"


def is_graded(result: ExerciseResult) -> bool:
    """Whether the hidden checks ran as well."""
    return any(check.hidden for check in result.checks)


def headline(result: ExerciseResult) -> str:
    """The score, and its reason, in one line."""
    kind = "points" if is_graded(result) else "public points"
    score = f"{result.score} of {result.maximum} {kind}"
    later = result.exercise.points_hidden
    rest = "" if is_graded(result) or not later else f" (an instructor's grading adds {later} hidden points)"
    shown = first_failure(result)
    why = f"{'every check passes' if shown is None else reason(result, shown)}{rest}"
    return f"{score}: {why}" if why.endswith(("?", "!")) else f"{score}: {why}."


def reason(result: ExerciseResult, shown: CheckResult) -> str:
    """Why points are missing, in a few words without a full stop."""
    message = shown.failure.message if shown.failure else ""
    if result.gate:
        message = result.gate
    elif message.startswith(_STUB):
        message = "a part of the answer is not written yet" if result.score else "the answer is not written yet"
    elif shown.hidden:
        message = f"with other sizes and numbers, this does not hold: {shown.check.title.rstrip('.')}"
    return " ".join(message.split()).rstrip(".")


def has_details(result: ExerciseResult, shown: CheckResult) -> bool:
    """Whether there is more to say about the failure than its reason: neither the stub nor forbidden code has more."""
    message = shown.failure.message if shown.failure else ""
    return not result.gate and not message.startswith(_STUB)


def first_failure(result: ExerciseResult) -> CheckResult | None:
    """The check to talk about: the first in the exercise's order that failed, and a public one if there is one."""
    failed = [check for check in result.checks if check.failure]
    return min(failed, key=lambda check: check.hidden, default=None)


def stopped(failure: Failure) -> str:
    """How the answer's code ended, as a sentence."""
    message = failure.message
    return message[:1].upper() + message[1:] if message.startswith(NOT_RUN) else f"Your code stopped with {message}"


def not_begun(check: CheckResult) -> bool:
    """Whether the check met the stub: there is no attempt yet that could be wrong."""
    return check.failure is not None and check.failure.message.startswith(_STUB)


def name_of(entry: WrongAnswer) -> str:
    """A known mistake's name in words: 'scaled_by_d_k' reads 'scaled by d_k'."""
    return re.sub(r"\bd (k|v|ff|model)\b", r"d_\1", entry.name.replace("_", " "))


def opening(cause: Cause) -> str:
    """What a cause begins with: how sure it is."""
    return KNOWN if cause.certain else PERHAPS if len(cause.entries) == 1 else ONE_OF


def explained(result: ExerciseResult, cause: Cause) -> str:
    """Which lost checks a cause explains, where it does not explain them all."""
    lost = [check for check in result.checks if check.failure and not check.hidden]
    titles = [check.check.title.rstrip(".") for check in lost if check.name in cause.checks]
    return "" if len(titles) == len(lost) else f"It explains: {'; '.join(titles)}."


def where_treated(result: ExerciseResult, entry: WrongAnswer) -> str:
    """The misconception's name, and which chapter treats it by which claim."""
    kind = "question" if entry.claim.startswith("Q") else "claim"
    claim = f", {kind} {entry.claim}" if entry.claim else ""
    return f"({name_of(entry)}; chapter {entry.chapter or result.exercise.number}{claim})"


def label(name: str) -> str:
    """What a shown value is called: an input by its name, and what the answer itself gave back as its own."""
    if name in ("returned", "result", "yours"):
        return "your result"
    return name.replace("_", " ") if name.startswith("your_") else f"input {name}"


def shown_inputs(failure: Failure) -> Iterable[tuple[str, Any, bool]]:
    """The inputs of a counterexample: name, value, and whether it is small enough to be shown at once."""
    for name, value in failure.inputs.items():
        yield name, value, not isinstance(value, Tensor) or value.numel() <= SMALL


def described(value: Any) -> str:
    """A value in one line: a tensor by its type and shape, all else as Python writes it, up to 300 characters."""
    if isinstance(value, float):
        return f"{value:.8g}"
    return short_repr(value, 300, lambda tensor: type_and_shape(tensor) if tensor.ndim else f"{tensor.item()!r}")


def _wrapped(text: str, indent: str) -> str:
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False)


def _last_lines(output: str, most: int = 12) -> str:
    lines = output.rstrip().splitlines()
    return "\n".join(["..."] * (len(lines) > most) + lines[-most:])


def _lines_of_checks(checks: Iterable[CheckResult]) -> Iterable[str]:
    for check in checks:
        verdict = "TODO" if not_begun(check) else "FAIL" if check.failure else "PASS"
        hidden = " (hidden)" if check.hidden else ""
        yield _wrapped(f"{verdict}  {check.earned}/{check.points}  {terminal(check.check.title)}{hidden}", "  ")


def _counterexample(shown: CheckResult, failure: Failure) -> str:
    lines = [_wrapped(f"FAIL  {terminal(shown.check.title)}", "")]
    if shown.hidden:
        return lines[0]
    if failure.error:
        lines.append(_wrapped(stopped(failure), "  "))
    if failure.line:
        lines.append(f"  {failure.line}")
    for name, value, small in shown_inputs(failure):
        lines.append(f"  {label(name)}: {described(value)}")
        if small and is_matrix(value) and value.ndim:
            lines += _grid(single(name, value), "    ")
    pair = compared(failure.expected, failure.got, failure.where)
    if pair:
        lines += _side_by_side(*pair)
    elif failure.expected is not None:
        lines += [f"  expected  {described(failure.expected)}", f"  got       {described(failure.got)}"]
    elif failure.got is not None:
        lines.append(f"  got  {described(failure.got)}")
        if is_matrix(failure.got) and failure.got.ndim:
            lines += _grid(single("got", failure.got), "    ")
    return "\n".join(lines)


def _grid(grid: TensorTable, indent: str) -> list[str]:
    width = max(len(text) for row in grid.cells for text in row)
    lines = [
        indent + " ".join(f"{text:>{width}}{_MARK if bad else ' '}" for text, bad in zip(row, marks, strict=True))
        for row, marks in zip(grid.cells, grid.wrong, strict=True)
    ]
    return [*lines, f"{indent}({grid.note})"] if grid.note else lines


def _side_by_side(expected: TensorTable, got: TensorTable) -> list[str]:
    left, right = _grid(expected, "  "), _grid(got, "  ")
    about = f"  shape {list(expected.shape)}" + (f", {expected.note}" if expected.note else "")
    title = f"got ({_MARK} marks what differs)"
    width = max(map(len, left))
    if width + max(map(len, right)) + 4 > WIDTH:
        return [about, "  expected", *left, f"  {title}", *right]
    width = max(width, len("  expected"))
    heads = [f"{'  expected':<{width}}      {title}"]
    return [about, *heads, *(f"{a:<{width}}    {b}" for a, b in zip(left, right, strict=True))]
