"""The shape of the library: imports run one way, files are short and written whole, names and first lines plain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "annotated"
FILES = sorted(PACKAGE.rglob("*.py"))

# The paper, from the ground up; each floor may import those below it. `storage` and `classroom` import nothing of ours.
GROUND = {"checked", "config", "storage", "classroom"}
PAPER = GROUND | {"model", "data", "training", "decoding", "evaluation", "parsing", "saving", "recipes"}
RUNS = PAPER | {"translator", "runs", "wmt14", "loading"}
CHAPTERS = RUNS | {"paper", "analysis", "viz", "chapters", "doctor"}
ALLOWED: dict[str, set[str]] = {
    "checked": set(),
    "config": {"checked"},
    "paper": set(),
    "storage": set(),
    "classroom": set(),
    "paper_links": {"paper"},
    "recipes": {"config"},
    "model": {"checked", "config"},
    "data": GROUND,
    "training": GROUND | {"model", "data", "saving"},
    "decoding": GROUND | {"model", "data"},
    "evaluation": GROUND | {"model", "data", "saving", "training", "decoding"},
    "parsing": GROUND | {"model", "data", "saving", "training", "decoding"},
    "saving": GROUND | {"model", "data"},
    "translator": PAPER | {"interop"},  # another engine, imported only where one is asked for
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

WRITES_IN_PLACE = {
    "storage.py": "makes files and folders whole: `atomic_write`, `atomic_folder`",
    "saving.py": "tensors, into a folder of `atomic_folder`",
    "data/store_files.py": "files that count only once store.json names them",
    "wmt14/archives.py": "into a folder of its own; members get their names when all are whole",
    "wmt14/download.py": "a part file that outlives the process, to be resumed",
    "wmt14/encode.py": "into a folder of `atomic_folder`; files that count only once store.json names them",
    "wmt14/runner.py": "moves what a stage has made out of .partial/",
    "wmt14/steps.py": "stages write into .partial/",
    "runs/checkpoint.py": "renames a damaged checkpoint",
    "runs/dry_run.py": "measures how long a disk takes",
    "runs/preflight/folder.py": "tries whether a file system renames folders whole",
    "chapters/full_run/mirror/writing.py": "into a folder of `atomic_folder`",
    "cli/exercise.py": "makes a notebook only where there is none",
    "grading/learner/record.py": "sets a damaged file aside",
}
"""Files that may write or rename without `storage.atomic_write`, and why a process killed there does no harm."""

WRITING_MODES = ("w", "wb", "x", "xb", "w+", "wb+", "w+b", "r+", "rb+", "r+b")
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


def writes_in_place(source: str) -> list[str]:
    """What a module calls to write a file under its last name, or to rename one, as 'line: call'."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        modes = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        is_written = any(isinstance(one, ast.Constant) and one.value in WRITING_MODES for one in modes)
        # One argument and no keyword: a path's, not a text's or a table's.
        is_moved = name in ("replace", "rename") and len(call.args) == 1 and not call.keywords
        is_moved = is_moved or (owner in ("os", "shutil") and name in ("replace", "rename", "move"))
        if name in ("write_text", "write_bytes") and owner or is_moved or (name == "open" and is_written):
            found.append(f"{call.lineno}: {ast.unparse(call)}")
    return found


def test_files_are_written_whole_or_not_at_all() -> None:
    found = {file.relative_to(PACKAGE).as_posix(): writes_in_place(file.read_text(encoding="utf-8")) for file in FILES}
    wrong = {name: calls for name, calls in found.items() if calls and name not in WRITES_IN_PLACE}
    assert not wrong, f"take annotated.storage.atomic_write, or say in WRITES_IN_PLACE why not: {wrong}"
    assert not [name for name in WRITES_IN_PLACE if not found.get(name)], "these need no exception any more"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("path.write_text(text, encoding='utf-8')", 1),
        ("Path(name).write_bytes(data)", 1),
        ("open(path, 'w')", 1),
        ("path.open('wb')", 1),
        ("path.open(mode='x')", 1),
        ("os.replace(draft, path)", 1),
        ("draft.replace(path)", 1),
        ("draft.rename(path)", 1),
        ("path.open('a')", 0),
        ("open(path, 'rb')", 0),
        ("text.replace('w', 'b')", 0),
        ("config.replace(d_ff=1)", 0),
        ("dataclasses.replace(config, **changes)", 0),
        ("table.rename(columns={})", 0),
        ("write_text(path, text)", 0),
    ],
)
def test_every_way_to_write_in_place_is_seen(line: str, count: int) -> None:
    assert len(writes_in_place(line)) == count
