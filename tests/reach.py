"""Reach of a change: which pages and tests it can touch, and `make check`, which runs those and no others.

    python -m tests.reach                 what the working tree changed, and the commands that test it
    python -m tests.reach --run           runs them
    python -m tests.reach --base main     what this branch changed

A test file is reached if it imports a changed module, directly or through others (imports inside functions count), if
it names a changed file, page or exercise, or if it lies in the folder of tests that mirrors the changed one. A page is
reached if its text changed, or if its cells read a changed file when they ran last (`output_cache`).
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "annotated": ROOT / "annotated",
    "annotated_grader": ROOT / "grader" / "annotated_grader",
    "annotated_book": ROOT / "book" / "annotated_book",
    "page_kit": ROOT / "book" / "_ext" / "page_kit",
}
EVERYTHING = (
    *("Makefile", "pyproject.toml", "grader/pyproject.toml", "book/pyproject.toml", "constraints.txt", ".ci/run"),
    *("conftest.py", "book/conftest.py"),
)
"""Whoever changes one of these asks for the whole."""
OF_A_PAGE = re.compile(r"/annotated_book/.*(\.md|/quiz[\w-]*\.yaml|/live\.(js|css))$")
"""What no code of a page's folder reads: it reaches the page and its tests."""
FEW = 3
"""Pages that are built one by one; more are a book."""


def changed_files(base: str) -> list[str]:
    """What differs from a commit, committed or not, and what is new; paths from the root."""
    git = ["git", "-C", str(ROOT)]
    tracked = subprocess.check_output([*git, "diff", "--name-only", base], text=True)
    new = subprocess.check_output([*git, "ls-files", "--others", "--exclude-standard"], text=True)
    return sorted({*tracked.splitlines(), *new.splitlines()})


@contextmanager
def on_path() -> Iterator[None]:
    """Let the packages of the book be imported, while the block lasts, where they are not installed."""
    before = [*sys.path]
    sys.path[:0] = [str(PACKAGES[name].parent) for name in ("page_kit", "annotated_book")]
    try:
        yield
    finally:
        sys.path[:] = before


@cache
def imports_of_ours() -> grimp.ImportGraph:
    """Which module of the library, of the grader and of the book's extension imports which."""
    with on_path():
        return grimp.build_graph(*PACKAGES, cache_dir=str(ROOT / "build" / "grimp"))


def module_of(path: str) -> str | None:
    """The module of a file: 'annotated.model.masks'; of data, the package of its folder; of a page's text, none."""
    for package, folder in PACKAGES.items():
        if (file := ROOT / path).is_relative_to(folder) and not OF_A_PAGE.search(path):
            inside = file.relative_to(folder).with_suffix("") if file.suffix == ".py" else _package(file, folder)
            return ".".join([package, *(part for part in inside.parts if part != "__init__")])
    return None


def _package(file: Path, folder: Path) -> Path:
    inside = file.parent
    while inside != folder and not (inside / "__init__.py").is_file():
        inside = inside.parent
    return inside.relative_to(folder)


def who_imports(modules: Iterable[str]) -> set[str]:
    """These modules and all that import them, directly or through others; of a package, those that import any of it."""
    graph, found = imports_of_ours(), set(modules)
    for module in list(found):
        found |= graph.find_downstream_modules(module, as_package=True) if module in graph.modules else set()
    return found


@cache
def imported_by(test: Path) -> frozenset[str]:
    """The modules that a test file names in its imports, with those of the tests' helpers that it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for name in [name for name in found if name.startswith(("tests.", "benchmarks."))]:
        helper = ROOT / f"{name.replace('.', '/')}.py"
        found |= imported_by(helper) if helper.is_file() and helper != test else set()
    return frozenset(found)


@dataclass
class Reach:
    """What a change can touch."""

    pages: list[str]
    tests: list[Path]
    exercises: list[str]
    is_everything: bool = False


def pages_reached(changed: Iterable[str]) -> Iterator[str]:
    """The pages whose text changed, or whose cells read what changed."""
    with on_path():
        from annotated_book.pages import page_file, page_of
        from page_kit.running.output_cache import pages_that_read
    book = PACKAGES["annotated_book"]
    inside = (
        Path(path).relative_to(book.relative_to(ROOT)) for path in sorted(changed) if (ROOT / path).is_relative_to(book)
    )
    for path in inside:
        if path.suffix == ".md":
            yield page_of(book / path, book)
        elif (
            len(path.parts) > 2 and path.parts[2] != "tests" and page_file(folder := "/".join(path.parts[:2])).is_file()
        ):
            yield folder  # also where no book was built yet, and nobody knows what its cells read
    yield from sorted(pages_that_read(changed, ROOT / "_build" / ".executed"))


def reach(changed: list[str]) -> Reach:
    """What the changed files can touch."""
    pages = list(dict.fromkeys(pages_reached(changed)))
    exercises = sorted({match[1].replace("_", "-") for path in changed
                        if (match := re.match(r"exercises/(ex\d+_\d+)_", path))})  # fmt: skip
    modules = {module for path in changed if (module := module_of(path))}
    reached = who_imports(modules)
    named = [*pages, *exercises, *(path for path in changed if not path.endswith(".py"))]
    folders = {Path("tests", *Path(path).parent.parts[1:]) for path in changed if path.startswith("annotated/")}
    graders = (Path(path).parent.parts[2:] for path in changed if path.startswith("grader/annotated_grader/"))
    folders |= {Path("tests", "grader", *parts) for parts in graders}
    folders |= {Path(path).parent / "tests" for path in changed if path.startswith("book/annotated_book/")}
    tests = []
    for test in sorted(test for tests_of in ("tests", "book") for test in (ROOT / tests_of).rglob("test_*.py")):
        text, place = test.read_text(encoding="utf-8"), test.relative_to(ROOT)
        is_named = any(name in text for name in named)
        if (
            place.as_posix() in changed
            or imported_by(test) & reached
            or is_named
            or place.parent in folders - {Path("tests")}
        ):
            tests.append(place)
    return Reach(pages, tests, exercises, any(path in EVERYTHING for path in changed))


def commands(found: Reach) -> Iterator[list[str]]:
    """What tests all that is reached, in order."""
    python = [sys.executable, "-m", "pytest", "-n", os.environ.get("TEST_JOBS", "4"), "-m", "not slow and not nightly"]
    few = len(found.pages) <= FEW and not found.is_everything
    yield ["make", "lint"]
    if found.is_everything or not few:
        yield ["make", "book"]
    else:
        yield from (["make", "chapter", f"CHAPTER={page}"] for page in found.pages)
    yield from ([sys.executable, "-m", "annotated", "exercise", "verify", name] for name in found.exercises)
    if found.is_everything:
        yield ["make", "test"]
        return
    if found.tests:
        yield [*python, *map(str, found.tests)]
    if few and found.pages:
        looks = "book/tests/test_pages.py book/tests/test_accessibility.py book/tests/test_language.py".split()
        # Also what is slow for being one of many: these are few.
        yield [*python[:-1], "not nightly", *looks, "-k", " or ".join(found.pages)]


def main() -> int:
    """Print what is reached, and with `--run` run it; the number of commands that failed."""
    parser = argparse.ArgumentParser(description="What the changed files can touch.")
    parser.add_argument("--base", default="HEAD", help="the commit that the working tree is compared with")
    parser.add_argument("--run", action="store_true", help="run the commands")
    options = parser.parse_args()
    changed = changed_files(options.base)
    found = reach(changed)
    print(f"{len(changed)} files changed; they reach {len(found.pages)} pages, {len(found.tests)} files of tests and "
          f"{len(found.exercises)} exercises{', and everything' if found.is_everything else ''}.")  # fmt: skip
    failed = 0
    for command in commands(found) if changed else ():
        print("$", shlex.join(command), flush=True)
        failed += bool(subprocess.run(command, cwd=ROOT, check=False).returncode) if options.run else 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
