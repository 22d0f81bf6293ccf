"""Modules of a student's own: Python files beside an answer that it imports, or names in a text such as a path."""

from __future__ import annotations

import ast
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath

from annotated_grader.exercise.submission import BadSubmission, Submission, text_of
from annotated_grader.sandbox.names import parsed

Beside = Callable[[str], Mapping[str, Callable[[], bytes]]]
"""Finds a module by its name: the paths of its files, from the answer's folder, and what reads each."""
_MOST_FILES, _MOST_FOLDERS, _MOST_CODE = 50, 50, 500_000
_LONGEST_NAME = 100


def own_modules(submission: Submission, beside: Beside) -> dict[str, str]:
    """The files of the modules that an answer names, and that these name, by their paths.

    Files that cannot be read, and those beyond 50 files or 500,000 characters, are left out. So is what is called like
    a module of Python's own or one that is loaded here, such as torch.
    """
    found: dict[str, str] = {}
    waiting = _named(cell.code for cell in submission.cells if cell.parses)
    seen = {*sys.stdlib_module_names, *sys.modules}
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for path, opened in beside(name).items():
            if len(found) >= _MOST_FILES:
                return found
            if not all(part.isidentifier() for part in PurePosixPath(path).with_suffix("").parts):
                continue  # no name of a module
            try:
                text = text_of(opened(), notebook=False)
            except (OSError, BadSubmission):
                continue
            if len(text) + sum(map(len, found.values())) <= _MOST_CODE:
                found[path] = text
                waiting |= _named([text])
    return found


def beside_file(path: Path) -> Beside:
    """The modules in the folder of a file on this machine."""

    def find(name: str) -> dict[str, Callable[[], bytes]]:
        inside = islice(os.walk(path.parent / name), _MOST_FOLDERS)
        files = sorted(Path(folder, file) for folder, _, names in inside for file in names if file.endswith(".py"))
        files = [file for file in (path.parent / f"{name}.py", *files) if file.is_file()]
        return {file.relative_to(path.parent).as_posix(): file.read_bytes for file in files}

    return find


def among(files: Mapping[str, Callable[[], bytes]]) -> Beside:
    """The modules among files that were handed in together."""
    by_name: dict[str, dict[str, Callable[[], bytes]]] = defaultdict(dict)
    for path, opened in files.items():
        by_name[PurePosixPath(path).with_suffix("").parts[0]][path] = opened
    return lambda name: by_name.get(name, {})


def _named(codes: Iterable[str]) -> set[str]:
    """The first parts of the names of all modules that code imports, and of its short texts: paths, modules' names."""
    names = set[str]()
    for tree in map(parsed, codes):
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= _LONGEST_NAME:
                names.add(node.value.removeprefix("./").partition("/")[0].partition(".")[0])
    return {name for name in names if name.isidentifier()}
