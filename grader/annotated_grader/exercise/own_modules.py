"""Modules of a student's own: Python files beside an answer that it imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

from annotated_grader.exercise.submission import BadSubmission, Submission, text_of
from annotated_grader.sandbox.names import parsed

Beside = Callable[[str], Mapping[str, Callable[[], bytes]]]
"""Finds a module by its name: the paths of its files, from the answer's folder, and what reads each."""
_MOST_FILES, _MOST_CODE = 50, 500_000


def own_modules(submission: Submission, beside: Beside) -> dict[str, str]:
    """The files of the modules that an answer imports, and that these import, by their paths.

    Files that cannot be read, and those beyond 50 files or 500,000 characters, are left out.
    """
    found: dict[str, str] = {}
    waiting, seen = _imported(cell.code for cell in submission.cells if cell.parses), set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for path, opened in beside(name).items():
            if len(found) >= _MOST_FILES:
                return found
            try:
                text = text_of(opened(), notebook=False)
            except (OSError, BadSubmission):
                continue
            if len(text) + sum(map(len, found.values())) <= _MOST_CODE:
                found[path] = text
                waiting |= _imported([text]) - seen
    return found


def beside_file(path: Path) -> Beside:
    """The modules in the folder of a file on this machine."""

    def find(name: str) -> dict[str, Callable[[], bytes]]:
        files = [path.parent / f"{name}.py", *sorted((path.parent / name).glob("**/*.py"))]
        return {file.relative_to(path.parent).as_posix(): file.read_bytes for file in files if file.is_file()}

    return find


def among(files: Mapping[str, Callable[[], bytes]]) -> Beside:
    """The modules among files that were handed in together."""

    def find(name: str) -> dict[str, Callable[[], bytes]]:
        return {path: opened for path, opened in files.items() if PurePosixPath(path).with_suffix("").parts[0] == name}

    return find


def _imported(codes: Iterable[str]) -> set[str]:
    """The first parts of the names of all modules that code imports, wherever it does."""
    names = set[str]()
    for tree in map(parsed, codes):
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names
