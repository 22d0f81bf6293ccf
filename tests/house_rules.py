"""Rules of the house that no linter knows, for `make lint`: `python -m tests.house_rules` lists what breaks them.

Which part may import which is in `.importlinter`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "annotated"
PACKAGES = (PACKAGE, "grader/annotated_grader", "book/annotated_book")
SHORT = (*PACKAGES, "book/_ext", "benchmarks")
"""Folders whose files and functions are short."""

NO_NOUNS = set("what where which who whose how why when from is does do can everything every all".split())
"""Words that no module's first line begins with: it begins with the noun that a reader would search for."""

WRITES_IN_PLACE = {
    "storage.py": "makes files and folders whole: `atomic_write`, `atomic_folder`",
    "saving.py": "tensors, into a folder of `atomic_folder`",
    "data/store_files.py": "files that count only once store.json names them",
    "wmt14/archives.py": "into a folder of its own; members get their names when all are whole",
    "wmt14/download.py": "a part file that outlives the process, to be resumed",
    "wmt14/encode.py": "into a folder of `atomic_folder`; files that count only once store.json names them",
    "wmt14/iwslt14.py": "a stage writes into .partial/",
    "wmt14/mirror/writing.py": "into a folder of `atomic_folder`",
    "wmt14/runner.py": "moves what a stage has made out of .partial/",
    "wmt14/steps.py": "stages write into .partial/",
    "runs/checkpoint.py": "renames a damaged checkpoint",
    "runs/dry_run.py": "measures how long a disk takes",
    "runs/preflight/folder.py": "tries whether a file system renames folders whole",
    "book/annotated_book/appendix/torchtext/torchtext_pipeline.py": "a record that is made again with one command",
    "grader/annotated_grader/commands/exercise.py": "makes a notebook only where there is none",
    "grader/annotated_grader/instructor/gradebook.py": "moves results that have no row any more out of the way",
    "grader/annotated_grader/learner/files.py": "a learner's modules, into a folder that is removed",
    "grader/annotated_grader/sandbox/worker.py": "a student's modules, into the sandbox's own folder",
    "grader/annotated_grader/learner/record.py": "sets a damaged file aside",
}
"""Files of the library, by their paths in it, and of the grader that may write or rename without
`storage.atomic_write`, and why a process killed there does no harm."""

WRITING_MODES = ("w", "wb", "x", "xb", "w+", "wb+", "w+b", "r+", "rb+", "r+b")
MOST_LINES_OF_A_FILE = 400  # aim at 250
MOST_LINES_OF_A_FUNCTION = 60  # aim at 40; a docstring does not count
FRONT_DOOR = {"__version__", "__file__"}
"""All that the library may take from `annotated` itself, which imports nearly everything."""


Found = tuple[int, str]
"""The line of a violation, and what is wrong there."""
Nodes = list[ast.AST]
"""All that a file's syntax consists of; the first is the module."""


def nodes_of(source: str) -> Nodes:
    """Parse a file."""
    return list(ast.walk(ast.parse(source)))


def too_long(nodes: Nodes, source: str) -> Iterator[Found]:
    """Files and functions with more lines than they may have."""
    if (lines := len(source.splitlines())) > MOST_LINES_OF_A_FILE:
        yield lines, f"the file has {lines} lines, {MOST_LINES_OF_A_FILE} at most"
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > MOST_LINES_OF_A_FUNCTION:
                yield node.lineno, f"{node.name} has {lines} lines, {MOST_LINES_OF_A_FUNCTION} at most"


def no_noun(nodes: Nodes) -> Iterator[Found]:
    """A module's first line that does not begin with what a reader would search for."""
    words = (ast.get_docstring(nodes[0]) or "").split()
    if words and words[0].lower() in NO_NOUNS:
        yield 1, f"the first line begins with {words[0]!r}, not with the noun that a reader would search for"


def through_the_front_door(nodes: Nodes, parts: set[str]) -> Iterator[Found]:
    """Imports from `annotated` itself but of its version, its place or its parts: they hide what is needed."""
    reached = set(FRONT_DOOR)
    for node in nodes:
        if isinstance(node, ast.Import):
            reached |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith(f"{PACKAGE}.")}
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            for alias in node.names:
                if alias.name not in FRONT_DOOR | parts:
                    yield node.lineno, f"import {alias.name} from the module that has it, not from {PACKAGE}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == PACKAGE and node.attr not in reached:
            yield node.lineno, f"import what is needed of {PACKAGE}.{node.attr} by its name"


def writes_in_place(nodes: Nodes) -> Iterator[Found]:
    """Calls that write a file under its last name, or rename one."""
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        modes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        is_written = any(isinstance(one, ast.Constant) and one.value in WRITING_MODES for one in modes)
        # One argument and no keyword: a path's, not a text's or a table's.
        is_moved = name in ("replace", "rename") and len(call.args) == 1 and not call.keywords
        is_moved = is_moved or (owner in ("os", "shutil") and name in ("replace", "rename", "move"))
        is_moved = is_moved or (owner in ("", "storage") and name == "rename")
        if name in ("write_text", "write_bytes") and owner or is_moved or (name == "open" and is_written):
            yield call.lineno, f"take storage.atomic_write, or say in WRITES_IN_PLACE why not: {ast.unparse(call)}"


def of_a_module(name: str, nodes: Nodes, parts: set[str]) -> Iterator[Found]:
    """What breaks the rules for one module of a package, given the name that `WRITES_IN_PLACE` has for it."""
    yield from no_noun(nodes)
    yield from through_the_front_door(nodes, parts)
    written = list(writes_in_place(nodes))
    if name not in WRITES_IN_PLACE:
        yield from written
    elif not written:
        yield 1, "writes nothing in place: it needs no line in WRITES_IN_PLACE any more"


def place_of(name: str) -> str:
    """Where a file of `WRITES_IN_PLACE` lies in the repository."""
    return name if name.startswith(PACKAGES[1:]) else f"{PACKAGE}/{name}"


def violations(root: Path) -> Iterator[str]:
    """Everything in a repository that breaks a rule, each as `file:line: what is wrong`."""
    package = root / PACKAGE
    parts = {path.stem for path in package.iterdir()}
    classes: dict[str, str] = {}
    for file in (file for folder in SHORT for file in sorted((root / folder).rglob("*.py"))):
        if "tests" in file.parts:
            continue
        source, name = file.read_text(encoding="utf-8"), file.relative_to(root).as_posix()
        nodes = nodes_of(source)
        found = list(too_long(nodes, source))
        if name.startswith(tuple(f"{one}/" for one in PACKAGES)):
            found += of_a_module(name.removeprefix(f"{PACKAGE}/"), nodes, parts)
            for node in (node for node in nodes if isinstance(node, ast.ClassDef)):
                place = classes.setdefault(node.name, f"{name}:{node.lineno}")
                if place != f"{name}:{node.lineno}":
                    found.append((node.lineno, f"{place} has a class {node.name} too"))
        yield from (f"{name}:{line}: {what}" for line, what in sorted(found))
    places = map(place_of, WRITES_IN_PLACE)
    yield from (f"{place}: WRITES_IN_PLACE names it" for place in places if not (root / place).is_file())


def main() -> int:
    """Print all violations; 1 if there are any."""
    found = list(violations(ROOT))
    print("\n".join(found) or "The rules of the house are kept.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
