"""JavaScript of the widgets: the modules that one imports and its own file, put together as one module."""

from __future__ import annotations

import re
from pathlib import Path

KIT = Path(__file__).parent
"""The folder of what widgets share."""

_IMPORT = re.compile(r'^import \{\s*\w+(?:,\s*\w+)*\s*\} from "(\.[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.MULTILINE)
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)


def esm(file: Path) -> str:
    """One ES module from a file and all that it imports, for an anywidget may not import by itself.

    Each file stands once, after those that it needs. Their top-level names share one scope, so they must differ; an
    import has braces and no `as`. Lines that are comments are left out.

    Raises
    ------
    ValueError
        If files import one another in a circle, or an import is written in another way.
    """
    parts: dict[Path, str] = {}
    _add(file.resolve(), parts, ())
    *needed, own = parts.values()
    return "\n".join([*(_EXPORT.sub("", part) for part in needed), own])


def classic_script(file: Path) -> str:
    """The same as one classic script, which also runs from the file system; its exports are for tests."""
    return f'(() => {{\n"use strict";\n{_EXPORT.sub("", esm(file))}}})();\n'


def _add(file: Path, parts: dict[Path, str], waiting: tuple[Path, ...]) -> None:
    if file in parts:
        return
    if file in waiting:
        raise ValueError(f"a circle of imports: {' -> '.join(path.name for path in (*waiting, file))}")
    source = file.read_text(encoding="utf-8")
    for found in _IMPORT.finditer(source):
        _add((file.parent / found[1]).resolve(), parts, (*waiting, file))
    source = _IMPORT.sub("", source)
    if re.search(r"^import\b", source, re.MULTILINE):
        raise ValueError(f'{file.name}: write imports as `import {{ a, b }} from "./file.js";`')
    parts[file] = _COMMENT.sub("", source)
