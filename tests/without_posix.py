"""Windows as our modules would see it, and what a user does first there: `python -m tests.without_posix FOLDER`.

Our modules, and no others, find `os`, `sys`, `signal`, `select`, `socket` and `time` as they are on Windows: what
typeshed says is missing there is missing, and names such as `os.name` say "nt". Paths and files stay those of this
system. On Windows itself nothing is changed. FOLDER gets `seen.json`, with what each step came to.
"""

from __future__ import annotations

import ast
import builtins
import errno
import importlib
import io
import json
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

OURS = ("annotated", "annotated_grader", "annotated_book")
NARROWED = ("os", "sys", "signal", "select", "socket", "time")
BLOCKED = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty")
BREAK = getattr(signal, "SIGBREAK", None) or signal.SIGUSR1
"""What stands for Windows' Ctrl-Break."""
INSTEAD: dict[str, dict[str, Any]] = {
    "os": {
        "name": "nt",
        "open": lambda path, *options: open_no_folder(path, *options),
        "kill": lambda *_: end_the_other(),
    },
    "sys": {"platform": "win32"},
    "signal": {"SIGBREAK": BREAK, "set_wakeup_fd": lambda file, **options: wake_up_by(file, **options)},
}
EXERCISE, SMALL = "ex05-1", "--model.d-model=16 --model.d-ff=24 --model.num-heads=2 --model.d-k=8 --model.d-v=8".split()
FACTORY = """
import annotated
def factory():
    return annotated.Transformer(annotated.tiny(vocab_size=24))
"""
ANSWER = """
import math
import torch
def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
"""


def open_no_folder(path: str | Path, *options: int) -> int:
    """`os.open`, which on Windows opens no folder."""
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "permission denied", str(path))
    return os.open(path, *options)


def end_the_other() -> None:
    """`os.kill`, which on Windows ends a process, whatever the signal: nothing here wants that."""
    raise AssertionError("a process was ended")


def wake_up_by(file: int, **options: bool) -> int:
    """`signal.set_wakeup_fd`, which on Windows takes a pipe that blocks."""
    os.set_blocking(file, False)
    return signal.set_wakeup_fd(file, **options)


def names_in_stub(module: str, platform: str) -> set[str]:
    """The names that a module of the standard library has on a platform, by the stubs that mypy brings."""
    import mypy

    stubs = Path(mypy.__file__).parent / "typeshed" / "stdlib"
    package = stubs / module / "__init__.pyi"
    stub = package if package.is_file() else stubs / f"{module}.pyi"
    known = {"sys": SimpleNamespace(platform=platform, version_info=sys.version_info)}
    found: set[str] = set()

    def look(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.If):
                look(node.body if eval(ast.unparse(node.test), known) else node.orelse)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                found.add(ast.unparse(node.target))
            elif isinstance(node, ast.Assign):
                found.update(map(ast.unparse, node.targets))
            elif isinstance(node, ast.ImportFrom):
                found.update(alias.asname or alias.name for alias in node.names)

    look(ast.parse(stub.read_text(encoding="utf-8")).body)
    return found


class Narrowed(ModuleType):
    """A module without the names that Windows lacks; what is set on it is set on the module itself."""

    def __init__(self, module: ModuleType) -> None:
        name = module.__name__
        missing = names_in_stub(name, "linux") - names_in_stub(name, "win32")
        vars(self).update(__name__=name, _module=module, _missing=missing, _instead=INSTEAD.get(name, {}))

    def __getattr__(self, name: str) -> Any:
        if name in self._instead:
            return self._instead[name]
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


def take_posix_away() -> None:
    """From here on, what our modules import is as it is on Windows."""
    if os.name == "nt":
        return
    narrowed = {name: Narrowed(importlib.import_module(name)) for name in NARROWED}
    plain_import = builtins.__import__

    def narrow_import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if (globals or {}).get("__name__", "").partition(".")[0] in OURS:
            if name in BLOCKED:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in narrowed:
                return narrowed[name]
        return plain_import(name, globals, locals, fromlist, level)

    builtins.__import__ = narrow_import


def broken_modules() -> dict[str, str]:
    """Which of our modules cannot be imported, and why."""
    broken: dict[str, str] = {}
    for package in map(importlib.import_module, OURS):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            parts = found.name.split(".")
            if "tests" in parts or parts[-1] == "__main__" or parts[-1] == "torchtext_pipeline":
                continue  # programs, and what needs an environment of its own
            try:
                importlib.import_module(found.name)
            except Exception as error:
                broken[found.name] = f"{type(error).__name__}: {error}"
    return broken


def command(*arguments: str, given: str = "", of_the_process: bool = False) -> tuple[int, str, str]:
    """Status, output and messages of a command, in pipes such as Windows has: not in UTF-8."""
    from annotated.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(text), encoding="cp1252") for text in (given.encode(), b"", b"")]
    streams[2].reconfigure(errors="backslashreplace")
    before = sys.stdin, sys.stdout, sys.stderr, sys.argv
    try:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = *streams, ["annotated", *arguments]  # type: ignore[assignment]
        status = main(None if of_the_process else arguments)
        out, messages = (
            stream.buffer.getvalue().decode(stream.encoding) for stream in streams[1:] if not stream.flush()
        )
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = before
    return status, out, messages


def name_of_break() -> str | None:
    """The signal that a training run takes Ctrl-Break for."""
    from annotated.runs.signals import GracefulStop

    with GracefulStop() as stop:
        signal.raise_signal(BREAK)
    return stop.name


def steps(folder: Path) -> dict[str, Callable[[], Any]]:
    """What a user does first; each gives something that JSON can hold."""
    pairs = [f"a sentence of {n} words\tein Satz von {n} Worten\n" for n in range(40)]
    (folder / "text.tsv").write_text("".join(pairs), encoding="utf-8")
    (folder / "mine.py").write_text(FACTORY, encoding="utf-8")
    text = [f"--data.train={folder / 'text.tsv'}", f"--data.valid={folder / 'text.tsv'}"]
    train = ["train", str(folder / "run"), *text, *SMALL, "--quiet"]
    notebook, answer = folder / f"{EXERCISE}.ipynb", folder / "answer.py"
    answer.write_text(ANSWER, encoding="utf-8")
    return {
        "modules": broken_modules,
        "version": lambda: command("--version", of_the_process=True),
        "translate": lambda: command("translate", given="The cat sleeps.\n"),
        "train": lambda: command(*train, "--training.updates=2"),
        "resume": lambda: command(*train, "--training.updates=4"),
        "break": name_of_break,
        "list": lambda: command("exercise", "list"),
        "start": lambda: command("exercise", "start", EXERCISE, str(folder)),
        "check": lambda: command("exercise", "check", str(notebook)),
        "check an answer": lambda: command("exercise", "check", str(answer), "--exercise", EXERCISE),
        "doctor": lambda: command(
            "doctor", f"{folder / 'mine.py'}:factory", "--only", "attention-shape", "shift", "schedule"
        ),
        "grade": lambda: command(
            "exercise", "grade", str(folder), "--out", str(folder / "grades"), "--exercise", EXERCISE
        ),
    }


def main(folder: Path) -> None:
    """Take every step, and write what each came to and how long it took."""
    os.environ["ANNOTATED_PROGRESS"] = str(folder / "progress.json")
    take_posix_away()
    seen: dict[str, Any] = {}
    for name, step in steps(folder).items():
        began = time.process_time()
        try:
            seen[name] = step()
        except Exception as error:  # what a user would see as a traceback
            seen[name] = f"{type(error).__name__}: {error}"
        print(f"{name}: {time.process_time() - began:.1f} s", flush=True)
    (folder / "seen.json").write_text(json.dumps(seen, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
