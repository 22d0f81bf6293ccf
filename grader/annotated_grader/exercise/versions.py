"""Versions of an answer: as its notebook checked it last, and as the whole file leaves it.

What a learner has read is the verdict of the last `check()`. Code below it, such as a name used again, a copied stub
or `del`, may take the answer away, and may as well mend it. So where the answer needs something of that code, both
versions are graded and the better one counts. A file without a `check()` has the version in which each answer remains
as its last own definition made it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from annotated_grader.exercise.dependencies import required_statements
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import ExerciseResult
from annotated_grader.exercise.scopes import Statement
from annotated_grader.exercise.submission import CodeCell, Submission
from annotated_grader.sandbox.names import definitions, parsed

_GRADERS = ("annotated_grader", "annotated")
Outcome = TypeVar("Outcome")
"""What grading one version gives."""


@dataclass(frozen=True)
class Version:
    """One version of an answer.

    Attributes
    ----------
    submission
        Its code, cut into what the answer needs and the rest.
    quiz
        Answers to the quiz below the last `check()`; the rest of the code below it is no part of the version.
    note
        What is said of this version if another earns fewer points, which are written in place of `{}`.
    """

    submission: Submission
    quiz: Submission = Submission(())
    note: str = ""


class _Placed(NamedTuple):
    """A statement, and its place: the number of its cell, and its number in it."""

    place: tuple[int, int]
    cell: CodeCell
    statement: Statement


def versions_of(exercise: Exercise, submission: Submission) -> tuple[Version, ...]:
    """The versions of an answer, in the order in which to grade them; one only, where they would not differ."""
    parts = submission.statements()
    listed = [_Placed((n, i), cell, one) for n, (cell, part) in enumerate(parts) for i, one in enumerate(part)]
    checks = _checks(exercise, listed)
    changes = listed[checks[-1] + 1 :] if checks else _below_own_definitions(exercise, listed)
    whole = Version(submission.for_answers(exercise.answers))
    if not changes:
        return (whole,)
    left_out = {one.place for one in changes}
    first = submission.without(left_out).for_answers(exercise.answers)
    quiz = {one.place for one in changes if _answers_the_quiz(one.statement.node)}
    below = submission.without({one.place for one in listed} - quiz).for_answers(())
    if first.code == whole.submission.code:
        return (Version(first, below),) if checks else (whole,)
    name, cell = _first_change(changes, listed, exercise.answers)
    if not checks:
        note = f"graded as last defined: {cell} changes {name}, and with that cell the answer would earn {{}}"
        return whole, Version(first, note=note)
    note = f"graded as it was at the last check(): {cell}, below it, changes {name}, and with that cell the answer"
    as_checked = Version(first, below, f"{note} would earn {{}}")
    note = f"graded with {cell}, which is below the last check() and changes {name}: without that cell the answer"
    return as_checked, replace(whole, note=f"{note} would earn {{}}")


def best_version(
    versions: Iterable[Version], grade: Callable[[Version], Outcome], result_of: Callable[[Outcome], ExerciseResult]
) -> tuple[Version, Outcome, str]:
    """Grade versions until one earns everything; the best, what came of it, and its note, empty if none earns less."""
    best: tuple[Version, Outcome] | None = None
    fewest: int | None = None
    for version in versions:
        outcome = grade(version)
        result = result_of(outcome)
        fewest = result.score if fewest is None else min(fewest, result.score)
        if best is None or result.score > result_of(best[1]).score:
            best = version, outcome
        if result.score == result.maximum:
            break
    assert best is not None and fewest is not None
    result = result_of(best[1])
    return *best, best[0].note.format(f"{fewest} of {result.maximum}") if fewest < result.score else ""


def _checks(exercise: Exercise, listed: list[_Placed]) -> list[int]:
    """The numbers of the statements that check this exercise: by name, or as the one that the notebook is for there."""
    names, current, found = {"check"}, exercise.id, []
    for number, (_, _, one) in enumerate(listed):
        if any(_checked_by(call, current) == exercise.id for call in _calls_at_once(one.node, names)):
            found.append(number)
        elif isinstance(one.node, ast.Import | ast.ImportFrom):
            names |= _from_the_grader(one.node)
        elif names & one.reads:
            names |= one.binds  # another name for it, or a function that calls it
        else:
            names -= one.binds  # the learner's own
        if "EXERCISE" in one.binds and isinstance(one.node, ast.Assign) and isinstance(one.node.value, ast.Constant):
            current = str(one.node.value.value)
    return found


def _calls_at_once(node: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    """Calls of `check`, or of another of its names, in what a statement runs: not in functions that it defines."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting += ast.iter_child_nodes(part)
        if isinstance(part, ast.Call):
            called = part.func
            while isinstance(called, ast.Attribute) and part.func.attr == "check":  # type: ignore[attr-defined]
                called = called.value
            if isinstance(called, ast.Name) and called.id in names:
                yield part


def _checked_by(call: ast.Call, current: str) -> str:
    """The exercise that a call of `check` names, or the one that it means without a name."""
    named = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "exercise")]
    return next((str(part.value) for part in named if isinstance(part, ast.Constant) and part.value), current)


def _from_the_grader(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Names by which `check` can be called after an import: its own, and those of modules that it is in."""
    if isinstance(node, ast.ImportFrom):
        known = (node.module or "").partition(".")[0] in _GRADERS
        return {a.asname or a.name for a in node.names if known and a.name in ("check", "grading")}
    return {(a.asname or a.name).partition(".")[0] for a in node.names if a.name.partition(".")[0] in _GRADERS}


def _answers_the_quiz(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "answer"


def _below_own_definitions(exercise: Exercise, listed: list[_Placed]) -> list[_Placed]:
    """What gives an answer another meaning, and all that stands below the last definition of the learner's own."""
    stub, changes, last = definitions(parsed(exercise.stub_code)), set[int](), -1
    for name in exercise.answers:
        binders = [number for number, one in enumerate(listed) if name in one.statement.binds]
        own = [number for number in binders if _is_own(listed[number].statement.node, stub.get(name))]
        if own:
            changes |= {number for number in binders if number > own[-1]}
            last = max(last, own[-1])
    if last >= 0:
        changes |= set(range(last + 1, len(listed)))
    return [listed[number] for number in sorted(changes)]


_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_own(node: ast.stmt, stub: ast.AST | None) -> bool:
    """Whether a statement defines an answer, of the kind that the stub has, and not as the stub does."""
    kinds = _CODE if isinstance(stub, _CODE) else (ast.Assign, ast.AnnAssign)
    return isinstance(node, kinds) and (stub is None or ast.dump(node) != ast.dump(stub))


def _first_change(changes: list[_Placed], listed: list[_Placed], answers: Iterable[str]) -> tuple[str, str]:
    """A name whose change matters, and where it is changed: an answer, else what it uses, and imports last."""
    kept = {one.node for one in required_statements([one.statement for one in listed], answers)}
    used = set(answers).union(*(one.statement.reads for one in listed if one.statement.node in kept))
    needed = [one for one in changes if one.statement.node in kept]
    ranked = [
        (name not in answers, isinstance(one.node, ast.Import | ast.ImportFrom), number, name)
        for number, (_, _, one) in enumerate(needed)
        for name in (one.binds | one.changes | one.effects) & used
    ]
    if not ranked:
        return "what the answer uses", _where(*(needed or changes)[0][1:])
    _, _, number, name = min(ranked)
    return f"`{name}`", _where(*needed[number][1:])


def _where(cell: CodeCell, one: Statement) -> str:
    return f"line {getattr(one.node, 'lineno', 1)}" if cell.title == "the file" else cell.title
