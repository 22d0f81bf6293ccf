"""The JavaScript of a widget: what all widgets share, and its own file, as one module.

Paper: none; how the widgets are put together
"""

from __future__ import annotations

from pathlib import Path

KIT = Path(__file__).parent
"""The folder of what widgets share."""


def esm(*files: str | Path) -> str:
    """The ES module of a widget: `common.js` and `files`, one after the other; a bare name is a file of this kit."""
    return "\n".join((KIT / file).read_text(encoding="utf-8") for file in ("common.js", *files))
