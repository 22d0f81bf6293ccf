"""What a stranger who has only the wheels tries first: README's Python, a translation, a training, an exercise.

`python -P tests/wheels_alone.py`, with a Python that has them; it needs nothing of the checkout but README.md.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
PAIRS = 60


def annotated(*arguments: str, stdin: str = "", ends: int = 0) -> str:
    """What the command prints; the end of everything if its exit status is another."""
    command = [sys.executable, "-P", "-m", "annotated", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", env=environment)
    print("annotated", *arguments, flush=True)
    if done.returncode != ends:
        raise SystemExit(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def see_that_packages_are_installed() -> None:
    """None is the checkout's own."""
    for name, folder in (("annotated", ""), ("annotated_grader", "grader"), ("annotated_book", "book")):
        place = Path(str(importlib.import_module(name).__file__)).resolve()
        if place.parent == CHECKOUT / folder / name:
            raise SystemExit(f"{name} is the checkout's, {place}: try it with a Python that has the wheels")


def run_the_blocks_of_the_readme() -> dict[str, Any]:
    """Run README's Python, block after block; the names that it leaves."""
    names: dict[str, Any] = {}
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "README.md", "exec"), names)
    return names


def pairs(name: str, numbers: Sequence[int]) -> str:
    """A file of pairs: a number and its digits backwards."""
    Path(name).write_text("".join(f"count {n}\tzähle {str(n)[::-1]}\n" for n in numbers), encoding="utf-8")
    return name


def try_everything() -> None:
    """In the present folder, which fills."""
    see_that_packages_are_installed()
    assert "translator" in run_the_blocks_of_the_readme()
    assert annotated("translate", stdin="The cat sleeps.\n") == "Die Katze schläft.\n"
    files = (
        pairs("train.tsv", range(100, 100 + PAIRS)),
        pairs("valid.tsv", range(200, 208)),
        pairs("test.tsv", range(300, 308)),
    )
    text = [
        word
        for option, file in zip(("train", "valid", "test"), files, strict=True)
        for word in (f"--data.{option}", file)
    ]
    annotated("train", "run", *text, "--training.updates", "2")
    assert "BLEU" in annotated("evaluate", "run")
    annotated("exercise", "start", "ex05-1")
    assert "0 of" in annotated("exercise", "check", "ex05-1.ipynb", ends=1)
    assert "ex05-1" in annotated("exercise", "list")
    annotated("doctor", "--list")
    assert "table3" in annotated("--help")  # which the book's wheel brings


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try_everything()
        os.chdir(CHECKOUT)
