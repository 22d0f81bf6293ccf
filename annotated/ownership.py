"""Ownership of files and folders: a command or function writes over what an earlier call of it wrote, and nothing else.

A folder that is filled file by file must be new, or hold nothing under the names that are written there, or carry the
mark of an earlier call. The mark is known by what is in it, never by its name, and is written before all else, so that
the folder of a call that was killed is known again. A folder that is replaced as a whole must be new or empty, or carry
the mark and hold nothing besides. A single file is replaced if it shows that we wrote it, or has nothing in it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TextIO

from annotated.locks import last_lock_holder
from annotated.storage import atomic_write, sha256

_MARK_BYTES = 1 << 26
"""A larger file is no mark of ours: none is read further than that."""

IsOurs = Callable[[Path], bool]
"""Whether a file, or a folder, shows by what is in it that we wrote it."""


def output_path(path: str | Path) -> Path:
    """A path to write to.

    Raises
    ------
    ValueError
        If it is '', which would be the present folder: a variable that is not set, most likely.
    """
    if not str(path):
        raise ValueError("the path to write to is empty: perhaps a variable is not set; '.' names the present folder")
    return Path(path)


def require_our_folder(folder: str | Path, names: Iterable[str], is_ours: IsOurs, *, whole: bool = False) -> Path:
    """Make sure that writing into a folder loses nothing of somebody else's; nothing is written yet.

    Parameters
    ----------
    folder
        Which may be missing.
    names
        All that is written at the top of it; patterns as 'source.tokens.*' too. Other names make no difference: the
        output of a batch system may lie there.
    is_ours
        Called with the folder: whether it carries the mark of an earlier call.
    whole
        The folder is replaced as a whole, so other names would be lost: they are refused.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If something would be lost; the message names it.
    ValueError
        If the path is ''.
    """
    folder, known = output_path(folder), [*names]
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(
            f"{folder}: a file stands where a folder is needed; name another folder, or move the file away"
        )
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    written = [name for name in there if any(fnmatchcase(name, pattern) for pattern in known)]
    foreign = [name for name in there if name not in written] if whole else []
    if written and not is_ours(folder):
        foreign = written + foreign
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        refused = "replaced" if whole else "written to"
        raise FileExistsError(
            f"{folder}: not {refused}, for it holds {foreign[0]}{more}; give the name of a folder that is new or empty"
        )
    return folder


def require_our_file(path: str | Path, is_ours: IsOurs = lambda path: False) -> Path:
    """Make sure that a file may be written: it is missing, has nothing in it, or shows that we wrote it.

    What is neither file nor folder, such as /dev/null or a pipe, may be written to.

    Parameters
    ----------
    is_ours
        Called with the path of a file that has something in it. By default it is nobody's: text has no mark.

    Raises
    ------
    FileExistsError
        If it would be lost.
    IsADirectoryError
        If it is a folder.
    ValueError
        If the path is ''.
    """
    path = output_path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    if path.is_file() and path.stat().st_size and not is_ours(path):
        raise FileExistsError(
            f"{path} is there already and holds something else: give another name, or move the file away"
        )
    return path


@contextlib.contextmanager
def new_texts(folder: str | Path, names: Iterable[str]) -> Iterator[dict[str, TextIO]]:
    """Text files to write in a folder, by name; all get their names when the block ends, or none of them.

    A file of such a name stays as it is: if what was written is the same, nothing is changed, and else all is refused.

    Raises
    ------
    FileExistsError
        If a file of that name holds something else.
    """
    folder = output_path(folder)
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(atomic_write(folder / name)) for name in names}
        yield files
        for name, file in files.items():
            file.flush()
            written = sha256(file.name)
            require_our_file(folder / name, lambda path, written=written: sha256(path) == written)  # type: ignore[misc]


def is_json_of(path: Path, *keys: str) -> bool:
    """Whether a file holds a JSON object that has these keys; False if it cannot be read."""
    try:
        if path.stat().st_size > _MARK_BYTES:
            return False
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and set(keys) <= set(content)


def is_lock(path: Path) -> bool:
    """Whether a file is that of an `exclusive_lock`, by the process that is written in it."""
    return last_lock_holder(path) is not None


def begins_with(path: Path, *beginnings: str) -> bool:
    """Whether the first bytes of a file are one of these texts; False if it cannot be read."""
    words = [one.encode() for one in beginnings]
    try:
        with path.open("rb") as file:
            return file.read(max(map(len, words))).startswith(tuple(words))
    except OSError:
        return False
