"""Outputs of chapters, kept until something changes that their cells read: a file of the repository, or a package.

Jupyter Book finds outputs by a notebook's cells. Here they are found only if, besides, every file that the kernel
opened is as it was when the cells ran (`tracing`), and so are the packages. A change in the grader, which no chapter
imports, runs nothing again; one in a chapter's charts runs that chapter; one in the model those that import it.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import myst_nb.core.execute.cache
from jupyter_cache.cache.main import JupyterCacheBase
from sphinx.application import Sphinx

from annotated_book.pages import BOOK, page_of
from page_kit.running.tracing import ROOT

PACKAGES = ("torch", "numpy", "altair", "vl-convert-python", "tokenizers", "anywidget", "pandas")
KEPT = 400
"""Notebooks in the cache; the one that was not used for longest goes first."""
_OF_OTHERS = ("_build", "build")


def stands_alone(path: Path) -> bool:
    """Whether a file is no part of its folder's data: code, and what the build reads of a page, its text and panel."""
    of_a_page = re.fullmatch(rf"{re.escape(path.parent.name)}\.md|quiz[\w-]*\.yaml|live\.(js|css)", path.name)
    return path.suffix in (".py", ".pyc") or of_a_page is not None


def _files(path: Path) -> list[Path]:
    """A file alone; of a folder its data, because who reads one file of them may have listed them."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    return sorted(file for file in path.iterdir() if file.is_file() and not stands_alone(file))


def digest(path: Path) -> str:
    """What a file or a folder of data is at the moment; '' if it is gone."""
    parts = (file.name.encode() + file.read_bytes() for file in _files(path))
    return _digest(*parts) if path.exists() else ""


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]


def dependencies(opened: Iterable[str], since: float, root: Path = Path(ROOT)) -> dict[str, str]:
    """The digests of what a kernel depends on by the paths that it opened: files of code, and folders of data.

    What changed `since` it started, a time in seconds, has none: nobody knows which of its versions was read.

    A compiled module stands for its source. Folders that begin with a dot, or hold what was built, are left out.
    """
    found: set[Path] = set()
    for path in map(Path, opened):
        inside = path.relative_to(root)
        if inside.parts[0].startswith(".") or inside.parts[0] in _OF_OTHERS:
            continue
        if path.parent.name == "__pycache__":  # also as it is being written, under a name that ends in a number
            found.add(path.parent.parent / f"{path.name.partition('.')[0]}.py")
        else:
            found.add(path if stands_alone(path) else path.parent)
    # Of a folder its files: the first import there makes __pycache__, which is a change of the folder.
    late = {path for path in found if any(file.stat().st_mtime > since for file in _files(path))}
    known = {path: "" if path in late else digest(path) for path in sorted(found)}
    return {path.relative_to(root).as_posix(): now for path, now in known.items()} | {"packages": packages()}


@cache
def packages() -> str:
    """A digest of the versions of Python and of the packages whose results pages show."""
    return _digest(f"{platform.python_version()} {[(name, version(name)) for name in PACKAGES]}".encode())


def is_current(read: dict[str, str], root: Path = Path(ROOT)) -> bool:
    """Whether everything is as it was when it was read."""
    rest = {path: now for path, now in read.items() if path != "packages"}
    return read.get("packages") == packages() and all(
        then and digest(root / path) == then for path, then in rest.items()
    )


class OutputCache(JupyterCacheBase):
    """A cache of executed notebooks that knows what they read."""

    def match_cache_notebook(self, nb: Any) -> Any:
        """The record of a notebook with these cells.

        Raises
        ------
        KeyError
            If there is none, or if a file that its kernel read has changed.
        """
        record = super().match_cache_notebook(nb)
        if not is_current(record.data.get("read", {})):
            raise KeyError("what the cells read has changed")
        return record


def reads(folder: Path) -> dict[str, dict[str, str]]:
    """What each chapter in a cache read, by its path; of several versions of it, the last one."""
    records = OutputCache(folder).list_cache_records() if folder.is_dir() else []
    return {record.uri: record.data.get("read", {}) for record in sorted(records, key=lambda record: record.created)}


def pages_that_read(changed: Iterable[str], folder: Path, root: Path = Path(ROOT)) -> set[str]:
    """The pages whose cells read one of these files of the repository, as their last execution in a cache tells."""
    names = {Path(path) for path in changed}
    places = {(path if stands_alone(path) else path.parent).as_posix() for path in names}
    book = root / "book" / BOOK.name
    return {
        page_of(Path(uri), book)
        for uri, read in reads(folder).items()
        if read.keys() & places and Path(uri).is_relative_to(book)
    }


def choose_cache(app: Sphinx, config: Any) -> None:
    """Keep outputs beside the build; `make clean` removes them."""
    place = Path(app.outdir).parent / ".executed"
    config.nb_execution_cache_path = str(place)
    OutputCache(place).change_cache_limit(KEPT)


def setup(app: Sphinx) -> None:
    """Let MyST-NB ask this cache, before it reads its configuration."""
    myst_nb.core.execute.cache.get_cache = OutputCache
    app.connect("config-inited", choose_cache)
