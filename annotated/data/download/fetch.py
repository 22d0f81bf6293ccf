"""Downloads that survive a bad line, a killed process and a false mirror, and that are checked before they count.

Several connections fetch parts of a file at once. What has come stays, whatever happens, and the next call fetches
the rest. A file gets its name only when its size and its hash are right.

Paper: section 5.1 (its corpora have to come from somewhere); the method is ours
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotated.data.download._part import PartFile, digest
from annotated.data.download._sources import FolderSource, RangesRefused, SourceError, WebSource, sources
from annotated.data.download._transfer import Transfer
from annotated.data.file_lock import take_lock

Progress = Callable[[int, int | None], None]


class DownloadError(RuntimeError):
    """A file could not be had, or not as it should be; the message says what each source did and what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download, and all that is known of it.

    Paper: none; the paper does not say how its corpora were fetched
    """

    name: str
    """Its name in the folder, and on a mirror."""
    urls: tuple[str, ...] = ()
    size: int | None = None
    """Bytes."""
    sha256: str | None = None
    md5: str | None = None
    alternatives: tuple[RemoteFile, ...] = ()
    """Other archives with the same files inside, for when this one cannot be had. They get this one's name."""

    @property
    def variants(self) -> tuple[RemoteFile, ...]:
        """This archive and its alternatives: a file that is one of them is right."""
        return (self, *self.alternatives)

    @property
    def is_pinned(self) -> bool:
        """Whether a hash is known, so that a wrong file cannot pass."""
        return bool(self.sha256 or self.md5)


@dataclass(frozen=True)
class Downloaded:
    """A file that is there and checked.

    Paper: none; the paper does not say how its corpora were fetched
    """

    path: Path
    sha256: str
    size: int
    """Bytes."""
    url: str
    """Where it came from; empty if it was there already."""
    pinned: bool
    """Whether it was compared with a known hash. If not, `sha256` is all there is to know it by the next time."""


def download(
    file: RemoteFile,
    folder: Path,
    *,
    mirrors: Sequence[str] = (),
    connections: int = 4,
    timeout: float = 30.0,
    progress: Progress | None = None,
) -> Downloaded:
    """Bring a file into a folder, unless it is there already, and check it.

    The mirrors are tried in turn, then the file's own URLs; its `alternatives` likewise. An interrupted download
    goes on where it was, at the cost of at most one chunk (1 MiB) a connection, on another mirror too if the file's
    hash is known.

    Parameters
    ----------
    file
        What to fetch.
    folder
        Where to; made if it is not there.
    mirrors
        Base URLs (http, https, file) or plain folders that hold the file by its name.
    connections
        Parts of the file to fetch at once, where the server allows it.
    timeout
        Seconds of silence after which a connection counts as broken.
    progress
        Called with the bytes that are there and the size of the file, if known. It may be called from any thread,
        but never from two at once.

    Raises
    ------
    DownloadError
        If no source gives the file, if what they give is not the file, or if the disk is full. What has come stays,
        and the same call goes on from there.

    Paper: section 5.1 (the corpora); the method is ours
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file.name
    with _only_one_here(folder, file.name):
        found, problems = _present(file, target)
        if found:
            return found
        bases = [base if base.endswith("/") else base + "/" for base in mirrors]
        with contextlib.closing(PartFile(target, progress)) as part:
            for source, variant in _places(file, bases, timeout):
                try:
                    return _from(source, variant, part, connections)
                except SourceError as error:
                    problems.append(f"{source.url}: {error}")
    raise DownloadError(_no_source(file, folder, problems))


def _places(
    file: RemoteFile, bases: Sequence[str], timeout: float
) -> list[tuple[FolderSource | WebSource, RemoteFile]]:
    """Where to look, and for which variant: on the mirrors first, and nowhere else until all of them were asked."""
    try:
        return [(source, variant) for variant in file.variants for source in sources(variant.name, bases, timeout)] + [
            (source, variant) for variant in file.variants for source in sources(variant.name, variant.urls, timeout)
        ]
    except SourceError as error:
        raise DownloadError(str(error)) from None


def _present(file: RemoteFile, target: Path) -> tuple[Downloaded | None, list[str]]:
    """The file, if it is there and right; else what is wrong with it, if it is there."""
    if not target.is_file():
        return None, []
    problems = []
    for variant in file.variants:
        try:
            found = _checked(variant, target, "")
        except SourceError as error:
            problems.append(f"{target}: is there, but {error}")
            continue
        PartFile(target).remove()  # a process that was killed at the very end may have left something
        return found, []
    return None, problems[:1]


def _checked(file: RemoteFile, path: Path, url: str) -> Downloaded:
    """What was downloaded, if it has the right size and hash."""
    size = path.stat().st_size
    if file.size not in (None, size):
        raise SourceError(f"has {size:,} bytes where {file.size:,} belong")
    sha256 = digest(path)
    if file.sha256 and sha256 != file.sha256.lower():
        raise SourceError(f"its SHA-256 is {sha256}, not {file.sha256}")
    if file.md5 and (md5 := digest(path, "md5")) != file.md5.lower():
        raise SourceError(f"its MD5 is {md5}, not {file.md5}")
    return Downloaded(path, sha256, size, url, file.is_pinned)


def _from(source: FolderSource | WebSource, file: RemoteFile, part: PartFile, connections: int) -> Downloaded:
    """The file from one source: by ranges if it has them; if they lie, whole, once more, over one connection."""
    transfer = Transfer(source, part, file.name, file.size, file.sha256 or file.md5)
    try:
        try:
            transfer.by_ranges(connections if source.parallel else 1)
            return _completed(part, file, source.url)
        except RangesRefused:
            transfer.in_one()
        except _WrongBytes:  # of this source, or of an earlier one: which, only a clean start can tell
            part.clear()
            transfer.in_one()
        return _completed(part, file, source.url)
    except _WrongBytes as error:
        part.clear()
        raise SourceError(str(error)) from None
    except OSError as error:
        raise DownloadError(_disk_trouble(error, part)) from None


class _WrongBytes(SourceError):
    """All came, but it is not the file."""


def _completed(part: PartFile, file: RemoteFile, url: str) -> Downloaded:
    try:
        found = _checked(file, part.path, url)
    except SourceError as error:
        raise _WrongBytes(str(error)) from None
    part.finish()
    return Downloaded(part.target, found.sha256, found.size, url, found.pinned)


def _no_source(file: RemoteFile, folder: Path, problems: Sequence[str]) -> str:
    if not problems:
        return f"{file.name}: nobody is known to have this file; name a mirror, or put it into {folder} yourself"
    tried = "".join(f"\n  {problem}" for problem in problems)
    return (
        f"{file.name} could not be downloaded:{tried}.\nWhat has come so far is kept in {folder}: run the same command "
        f"again to go on, name another mirror, or put the file into {folder} yourself"
    )


def _disk_trouble(error: OSError, part: PartFile) -> str:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{part.path}: cannot be written ({error.strerror or error}); choose a folder that can"
    missing = (part.size or 0) - part.done
    return (
        f"{part.target}: the disk is full ({error.strerror or error}); {part.done / 1e6:,.1f} MB of the file are there "
        f"and stay. Free {missing / 1e6:,.1f} MB, then run the same command again: it fetches only the rest"
    )


@contextlib.contextmanager
def _only_one_here(folder: Path, name: str) -> Iterator[None]:
    """One download of a file at a time in a folder; a second one waits, and then finds it done."""
    path = folder / f".{name}.lock"
    while True:
        with open(path, "a", encoding="utf-8") as file:
            with contextlib.suppress(OSError):  # some network file systems know no locks
                take_lock(file, wait=True)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    try:
                        yield
                    finally:
                        with contextlib.suppress(OSError):  # Windows keeps files that are open
                            path.unlink()
                    return
        time.sleep(0.01)  # the one before has removed this lock file: take the new one
