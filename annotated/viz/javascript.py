"""The JavaScript of a widget: what all widgets share, and its own file, as one module.

Paper: none; how the widgets are put together
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def esm(*names: str) -> str:
    """The ES module of a widget, from `common.js` and the files `names` beside it, one after the other."""
    return "\n".join((_HERE / file).read_text(encoding="utf-8") for file in ("common.js", *names))
