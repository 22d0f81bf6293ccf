"""The shape of the library: imports run one way, files and functions are short, names and first lines are plain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "annotated"
FILES = sorted(PACKAGE.rglob("*.py"))

# The paper, from the ground up; each floor may import those below it. `storage` and `classroom` import nothing of ours.
GROUND = {"config", "storage", "classroom"}
PAPER = GROUND | {"model", "data", "training", "decoding", "evaluation", "saving", "recipes"}
RUNS = PAPER | {"translator", "runs", "wmt14", "loading"}
CHAPTERS = RUNS | {"paper", "analysis", "viz", "chapters", "doctor"}
ALLOWED: dict[str, set[str]] = {
    "config": set(),
    "paper": set(),
    "storage": set(),
    "classroom": set(),
    "paper_links": {"paper"},
    "recipes": {"config"},
    "model": {"config"},
    "data": GROUND,
    "training": GROUND | {"model", "data", "saving"},
    "decoding": GROUND | {"model", "data"},
    "evaluation": GROUND | {"model", "data", "saving", "training", "decoding"},
    "saving": GROUND | {"model", "data"},
    "translator": PAPER,
    "runs": PAPER | {"translator", "wmt14"},
    "wmt14": GROUND | {"data"},
    "loading": PAPER | {"translator", "runs"},
    "analysis": RUNS | {"paper"},
    "viz": RUNS | {"paper", "analysis"},
    "chapters": CHAPTERS,
}
"""What each part may import besides itself: paper <- runs <- chapters. Parts that are not here (doctor, grading,
interop, cli) stand beside or on top."""

NO_NOUNS = set("what where which who whose how why when from is does do can everything every all".split())
"""Words that no module's first line begins with: it begins with the noun that a reader would search for."""

MOST_LINES_OF_A_FILE = 400  # aim at 250
MOST_LINES_OF_A_FUNCTION = 60  # aim at 40; a docstring does not count


def part(file: Path) -> str:
    """The part of the library that a file belongs to: 'model' for annotated/model/masks.py."""
    relative = file.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_modules(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Dotted names of all that a module imports, at its top or inside functions, relative imports resolved."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".") if is_package else module.split(".")[:-1]
            prefix = parents[: len(parents) - (node.level - 1)] if node.level else []
            base = ".".join([*prefix, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def own_imports(source: str, module: str, is_package: bool) -> set[str]:
    """The parts of the library that a module imports; the library's version, a plain string, is free."""
    names = (name.split(".") for name in imported_modules(source, module, is_package))
    return {(name + [""])[1] for name in names if name[0] == "annotated"} - {"__version__"}


def violations(source: str, module: str, is_package: bool = False) -> set[str]:
    """The parts that a module imports against the rule."""
    own = module.split(".")[1]
    if own not in ALLOWED:
        return set()
    return own_imports(source, module, is_package) - ALLOWED[own] - {own}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(file: Path) -> None:
    if file == PACKAGE / "__init__.py":
        return  # the public names: it may import all
    parts = ["annotated", *file.relative_to(PACKAGE).with_suffix("").parts]
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    wrong = violations(file.read_text(encoding="utf-8"), module, is_package)
    assert not wrong, f"{module} may import only {sorted(ALLOWED[part(file)])} of ours, but imports {sorted(wrong)}"


@pytest.mark.parametrize(
    ("source", "module", "expected"),
    [
        ("from annotated.config import ModelConfig", "annotated.model.layers", set()),
        ("from annotated.runs import train", "annotated.training.update", {"runs"}),
        ("def f():\n    import annotated.cli", "annotated.data.batching", {"cli"}),
        ("from ..decoding.beam import search", "annotated.model.layers", {"decoding"}),
        ("from . import masks", "annotated.model.layers", set()),
        ("from annotated import model", "annotated.config", {"model"}),
        ("import annotated", "annotated.config", {""}),
        ("from annotated import __version__", "annotated.runs.checkpoint", set()),
        ("from annotated.model import Transformer", "annotated.cli", set()),
    ],
)
def test_the_rule_sees_every_form_of_import(source: str, module: str, expected: set[str]) -> None:
    assert violations(source, module) == expected


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_files_and_functions_are_short(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES_OF_A_FILE
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert lines <= MOST_LINES_OF_A_FUNCTION, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_first_lines_begin_with_what_a_reader_would_search_for(file: Path) -> None:
    words = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split()
    assert not words or words[0].lower() not in NO_NOUNS, " ".join(words[:12])


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(file.relative_to(PACKAGE).as_posix())
    assert not {name: found for name, found in places.items() if len(found) > 1}
