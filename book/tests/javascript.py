"""JavaScript of the library at work without a browser: the node that Playwright brings runs its modules."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import BOOK

PACKAGE = BOOK
RANDOM = PACKAGE / "viz" / "random_numbers.js"


def node() -> str:
    """The program; without one the test is skipped, and says so."""
    found = find_spec("playwright")
    carried = Path(found.origin or "").parent / "driver" if found else Path()
    program = shutil.which("node", path=str(carried)) or shutil.which("node")
    if not program:
        message = "no node: Playwright, of the extra `dev`, brings one; JavaScript is not tested"
        warnings.warn(message, stacklevel=2)
        pytest.skip(message)
    return program


def evaluate(module: Path, function: str, data: Any = None) -> Any:
    """What a function makes of a module's names and of data.

    `evaluate(file, "({ count }, sizes) => count(sizes)", {"d_model": 8})` calls what the file exports as `count`. The
    function may be async. What goes in and comes out is JSON, so infinities come back as None.
    """
    code = f"""import {{ readFileSync }} from "node:fs";
        const names = await import({json.dumps(module.resolve().as_uri())});
        const answer = await ({function})(names, JSON.parse(readFileSync(0, "utf-8")));
        process.stdout.write(JSON.stringify(answer ?? null));"""
    command = [node(), "--no-warnings", "--input-type=module", "--eval", code]
    done = subprocess.run(
        command, input=json.dumps(data), capture_output=True, text=True, timeout=900, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
