"""Files of the repository that a process opens, modules and data, as it goes: what its results depend on.

A process that a traced one starts is traced too: Python imports this folder's `sitecustomize` first.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parents[4]) + os.sep
VARIABLE = "ANNOTATED_TRACE"
"""The file that the paths are appended to, a line each; children inherit it."""


def trace(file: str) -> None:
    """Append to a file the path of each file of the repository that this process opens from now on, each once."""
    seen: set[str] = set()
    log = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(path := arguments[0], str) and path.startswith(ROOT) and path not in seen:
            seen.add(path)
            os.write(log, f"{path}\n".encode())

    sys.addaudithook(note)
    os.environ[VARIABLE] = file
    start = os.path.join(os.path.dirname(__file__), "traced_start")
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != start]
    os.environ["PYTHONPATH"] = os.pathsep.join([start, *others])
