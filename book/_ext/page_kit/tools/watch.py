"""A preview that follows its author: a chapter is built, and built again in seconds whenever a file is saved.

    make watch CHAPTER=attention/masks

Most of a build's time goes into imports. This process has made them, and each build is a fork of it. When a module
changes that it has imported, it starts itself anew.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
WATCHED = ("book", "annotated", "grader", "exercises", "_config.yml")
BEFORE_FORK = ("jupyter_book.cli.main", "jupyter_book.sphinx", "myst_nb.sphinx_", "sphinx_book_theme", "torch")


def saved(folders: tuple[str, ...] = WATCHED, root: Path = ROOT) -> dict[Path, int]:
    """When each watched file was last changed, in nanoseconds."""
    files = (
        file for name in folders for file in ([root / name] if (root / name).is_file() else (root / name).rglob("*"))
    )
    return {file: file.stat().st_mtime_ns for file in files if "__pycache__" not in file.parts and file.is_file()}


def build(chapter: str) -> int:
    """Build the chapter in a fork; its exit status."""
    place = ROOT / "build" / "chapters" / chapter
    place.mkdir(parents=True, exist_ok=True)
    (place / "_toc.yml").write_text(f"format: jb-book\nroot: {chapter}\n", encoding="utf-8")
    options = ["--config", ROOT / "_config.yml", "--toc", place / "_toc.yml", "--path-output", place]
    if (child := os.fork()) == 0:
        from jupyter_book.cli.main import main

        main(["build", str(ROOT / "book" / "annotated_book"), "--all", "-q", *map(str, options)])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def prepare() -> None:
    """Import what every build needs."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    parts: tuple[str, ...] = import_module("page_kit").PARTS
    for module in (*BEFORE_FORK, *(f"page_kit.{part}" for part in parts)):
        import_module(module)


def follow(chapter: str) -> None:
    """Build the chapter now and after each change, until Ctrl-C."""
    before = saved()
    prepare()
    while True:
        start = time.monotonic()
        status = build(chapter)
        outcome = f"built in {time.monotonic() - start:.1f} seconds" if status == 0 else "not built"
        print(f"{outcome}: build/chapters/{chapter}/_build/html/{chapter}.html; waiting for changes, Ctrl-C ends")
        while (now := saved()) == before:
            time.sleep(0.3)
        changed = {path for path, _ in now.items() ^ before.items()}
        if any(path.suffix == ".py" for path in changed):
            os.execv(sys.executable, [sys.executable, __file__, chapter])
        before = now


if __name__ == "__main__":
    try:
        follow(sys.argv[1])
    except KeyboardInterrupt:
        print()
