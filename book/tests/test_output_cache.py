"""Outputs of chapters, kept until something changes that their cells read: one byte in twelve places."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from annotated_book.pages import BOOK, page_of

pytestmark = pytest.mark.process

PLACES: dict[str, set[str] | None] = {
    "grader/annotated_grader/exercise/run.py": set(),
    "grader/annotated_grader/sandbox/worker.py": set(),
    "grader/annotated_grader/doctor/mutants/__init__.py": {"training/first_run", "reference/doctor"},
    "annotated/wmt14/download.py": {"results/full_run", "results/questions"},
    "book/annotated_book/attention/masks/charts.py": {"attention/masks"},
    "book/annotated_book/attention/masks/record.json": {"attention/masks"},
    "book/annotated_book/attention/masks/masks.md": set(),
    "book/annotated_book/attention/masks/quiz.yaml": set(),
    "book/annotated_book/attention/masks/live.js": set(),
    "book/annotated_book/training/dropout/site_charts.py": {"training/dropout"},
    "book/annotated_book/decoding/beam_search/widget.js": {
        "decoding/beam_search",
        "results/questions",
        "training/label_smoothing",
    },
    "annotated/wmt14/catalogue.py": {"results/full_run", "results/questions"},
    "annotated/parsing/linear.py": {"results/parsing", "results/questions"},
    "annotated/model/attention.py": None,
    "annotated/assets/classroom/config.json": None,
}
"""A file of the repository, and the pages that run again after a change of it; None for at least twenty-five."""


@pytest.fixture(scope="module")
def executed(book: Path) -> dict[str, dict[str, str]]:
    """What each page of the built book read when it ran, by its path without suffix."""
    with sqlite3.connect(book.parent / ".executed" / "global.db") as connection:
        rows = connection.execute("select uri, data from nbcache order by created").fetchall()
    ours = [(Path(uri), data) for uri, data in rows if Path(uri).is_relative_to(BOOK)]  # an older checkout had others
    pages = {page_of(file, BOOK): json.loads(data).get("read") for file, data in ours}
    told = {page: read for page, read in pages.items() if read}  # one that failed ahead was run by Jupyter Book
    assert len(told) > 35 and len(told) >= len(pages) - 1, "chapters say what they read"
    return told


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """The repository's packages, to change bytes in."""
    root = tmp_path_factory.mktemp("repository")
    for package in ("annotated", "grader/annotated_grader", "book/annotated_book"):
        shutil.copytree(repository / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def test_a_byte_runs_the_pages_that_read_it(
    executed: dict[str, dict[str, str]], copy: Path, extension: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    part = extension("running.output_cache")
    kept = cache(part.digest)  # forty pages read the same files
    monkeypatch.setattr(part, "digest", kept)

    def outdated() -> set[str]:
        kept.cache_clear()
        return {page for page, read in executed.items() if not part.is_current(read, copy)}

    assert outdated() == set(), "nothing has changed since the book was built"
    for place, wanted in PLACES.items():
        file = copy / place
        before = file.read_bytes()
        file.write_bytes(before + b"\n")
        run = outdated()
        file.write_bytes(before)
        assert run == wanted if wanted is not None else len(run) >= 25, place


def test_what_was_opened_becomes_sources_and_folders_of_data(tmp_path: Path, extension: Callable[[str], Any]) -> None:
    package = tmp_path / "annotated" / "part"
    package.mkdir(parents=True)
    (package / "code.py").write_text("one = 1\n")
    (package / "data.json").write_text("{}")
    opened = [
        "annotated/part/__pycache__/code.cpython-311.pyc",
        "annotated/part/__pycache__/code.cpython-311.pyc.140012345678",
        "annotated/part/data.json",
        ".venv/lib/x.py",
        "_build/y",
    ]
    part = extension("running.output_cache")
    read = part.dependencies([str(tmp_path / name) for name in opened], time.time() + 1, tmp_path)
    assert set(read) == {"annotated/part/code.py", "annotated/part", "packages"}
    assert part.is_current(read, tmp_path)
    for name, text in (("code.py", "one = 2\n"), ("data.json", "{ }"), ("more.json", "")):
        kept = (package / name).read_text() if (package / name).exists() else None
        (package / name).write_text(text)
        assert not part.is_current(read, tmp_path), name
        (package / name).unlink() if kept is None else (package / name).write_text(kept)
    (package / "other.py").write_text("")  # another module: who imports it has opened it
    assert part.is_current(read, tmp_path)
    assert not part.is_current({}, tmp_path), "a record without traces says nothing"
    late = part.dependencies([str(package / "code.py")], time.time() - 60, tmp_path)
    assert not part.is_current(late, tmp_path), "it changed while the cells ran"
    start = max(file.stat().st_mtime for file in package.iterdir())
    os.utime(package, (start + 60, start + 60))  # as when Python makes __pycache__ in it
    assert part.is_current(part.dependencies([str(package / "data.json")], start, tmp_path), tmp_path)


def notebook(*cells: str) -> Any:
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


@pytest.fixture(scope="module")
def run(extension: Callable[[str], Any]) -> Any:
    """Run cells in a forked kernel: what they printed, what they read, and the error."""
    part = extension("running.parallel_execution")
    with pytest.MonkeyPatch.context() as patch, patch.context():
        patch.setattr(part, "IMPORTED_AHEAD", ("decimal",))
        with part.fork_server() as address:

            def run(*cells: str, timeout: int = 60) -> tuple[list[str], dict[str, str], Any]:
                result, read = part.execute(notebook(*cells), timeout, address)
                return ["".join(o.get("text", "") for o in cell.outputs) for cell in result.nb.cells], read, result.err

            yield run


def test_a_forked_kernel_has_what_was_imported_and_nothing_of_ours(run: Any) -> None:
    (said, folder), _, error = run(
        "import sys\nprint('decimal' in sys.modules, any(m.startswith('annotated') for m in sys.modules))",
        "import os\nprint(os.listdir(), any('page_kit' in path for path in sys.path))",
    )
    assert error is None
    assert said == "True False\n"
    assert folder == "[] False\n", "it runs in an empty folder, and finds no module of the extension"


def test_kernels_share_nothing(run: Any) -> None:
    run("import decimal\ndecimal.mine = 1", "import os\nos.environ['MINE'] = '1'")
    (said,), _, _ = run("import decimal, os\nprint(hasattr(decimal, 'mine'), 'MINE' in os.environ)")
    assert said == "False False\n"


def test_a_kernel_says_what_it_and_its_children_read(run: Any) -> None:
    _, read, _ = run("import annotated.checked")
    assert {"annotated/__init__.py", "annotated/checked.py"} <= set(read) and "annotated/storage.py" not in read
    _, read, _ = run(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import annotated.storage'], check=True)"
    )
    assert "annotated/storage.py" in read


def test_an_error_and_a_cell_that_hangs_are_reported(run: Any) -> None:
    assert "ZeroDivisionError" in str(run("1 / 0")[2])
    assert "timed out" in str(run("import time\nwhile True: time.sleep(1)", timeout=2)[2]).lower()
