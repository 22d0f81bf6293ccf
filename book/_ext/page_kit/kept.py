"""What the environment keeps of each page: forgotten when it is read again, taken over from other processes."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def kept(env: Any, name: str) -> dict[str, Any]:
    """What is kept under a name, by page."""
    found: dict[str, Any] = env.__dict__.setdefault(name, {})
    return found


def keep(app: Sphinx, *names: str) -> None:
    """Keep these names in step with the pages that are read, in this process or beside it."""

    def forget(app: Sphinx, env: Any, docname: str) -> None:
        for name in names:
            kept(env, name).pop(docname, None)

    def merge(app: Sphinx, env: Any, docnames: Any, other: Any) -> None:
        for name in names:
            kept(env, name).update({page: found for page, found in kept(other, name).items() if page in docnames})

    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
