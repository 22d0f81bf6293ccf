"""Downloader of archives: one stream a file, resumed where it broke off, and checked by hash before it counts.

What has come stays in a part file, whatever happens, and the next call asks only for the rest (`Range: bytes=N-`). A
file gets its name only when its size and its hash are right.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import re
import shutil
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotated import storage
from annotated.locks import exclusive_lock
from annotated.wmt14.http_response import HttpResponse, Interrupted, SourceError, WrongContent

DownloadProgress = Callable[[int, int | None], None]

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each new try of a stream that broke off without bringing anything."""

PROGRESS_BYTES = 1024
"""A stream that brings fewer before it breaks off has brought nothing."""

BLOCK_BYTES = 1 << 20
"""What is written at a time, and told to `progress`; a process that is killed loses no more."""


class DownloadError(RuntimeError):
    """A file could not be had, or not as it should be; the message says what each source did and what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download, and all that is known of it."""

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
    """A file that is there and checked."""

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
    timeout: float = 30.0,
    progress: DownloadProgress | None = None,
) -> Downloaded:
    """Bring a file into a folder, unless it is there already, and check it.

    The mirrors are tried in turn, then the file's own URLs; its `alternatives` likewise. An interrupted download goes
    on where it was: on any mirror if the file's hash is known, else only where the server names the same state of the
    file (ETag or date, and length). A second call for the same folder waits for the first.

    Parameters
    ----------
    file
        What to fetch.
    folder
        Where to; made if it is not there.
    mirrors
        Base URLs (http, https, file) or plain folders that hold the file by its name.
    timeout
        Seconds of silence after which a stream counts as broken off.
    progress
        Called with the bytes that are there and the size of the file, if known.

    Raises
    ------
    DownloadError
        If no source gives the file, or if what they give is not the file.
    DiskFull
        If the disk is full. What has come stays, and the same call goes on from there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder / ".download.lock"):
        found, problems = _present(file, folder / file.name)
        if found:
            _remove(_parts(found.path))
            return found
        for url, variant in _places(file, mirrors):
            try:
                return _Transfer(url, variant, folder / file.name, timeout, progress).run()
            except SourceError as error:
                problems.append(f"{url}: {error}")
    raise DownloadError(_no_source(file, folder, problems))


def _places(file: RemoteFile, mirrors: Sequence[str]) -> list[tuple[str, RemoteFile]]:
    """Where to look, and for which variant: on the mirrors first, and nowhere else until all of them were asked."""
    bases = [base if base.endswith("/") else base + "/" for base in mirrors]
    places = [(base, variant) for variant in file.variants for base in bases]
    places += [(url, variant) for variant in file.variants for url in variant.urls]
    return [(_address(url, variant.name), variant) for url, variant in places]


def _address(url: str, name: str) -> str:
    """The URL of a file; an address that ends in '/', or a folder, holds it by its name."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme in ("http", "https"):
        return url + urllib.parse.quote(name) if url.endswith("/") else url
    if "://" in url and parts.scheme != "file":
        raise DownloadError(
            f"{url}: {parts.scheme} is not known here; give an http, https or file address, or a folder"
        )
    path = Path(urllib.request.url2pathname(parts.path)) if parts.scheme == "file" else Path(url).expanduser()
    return (path / name if url.endswith("/") or path.is_dir() else path).absolute().as_uri()


def _present(file: RemoteFile, target: Path) -> tuple[Downloaded | None, list[str]]:
    """The file, if it is there and right; else what is wrong with it, if it is there."""
    problems = []
    for variant in file.variants if target.is_file() else ():
        try:
            return _checked(variant, target, ""), []
        except WrongContent as error:
            problems.append(f"{target}: is there, but {error}")
    return None, problems[:1]


def _checked(file: RemoteFile, path: Path, url: str) -> Downloaded:
    """What was downloaded, if it has the right size and hash."""
    size = path.stat().st_size
    if file.size not in (None, size):
        raise WrongContent(f"has {size:,} bytes where {file.size:,} belong")
    sha256 = storage.sha256(path)
    if file.sha256 and sha256 != file.sha256.lower():
        raise WrongContent(f"its SHA-256 is {sha256}, not {file.sha256}")
    if file.md5 and (md5 := _md5(path)) != file.md5.lower():
        raise WrongContent(f"its MD5 is {md5}, not {file.md5}")
    return Downloaded(path, sha256, size, url, file.is_pinned)


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _no_source(file: RemoteFile, folder: Path, problems: Sequence[str]) -> str:
    if not problems:
        return f"{file.name}: nobody is known to have this file; name a mirror, or put it into {folder} yourself"
    tried = "".join(f"\n  {problem}" for problem in problems)
    return (
        f"{file.name} could not be downloaded:{tried}.\nWhat has come so far is kept in {folder}: run the same command "
        f"again to go on, name another mirror, or put the file into {folder} yourself"
    )


class _Transfer:
    """One file from one source, by way of a part file whose name says of which content it is the beginning."""

    def __init__(
        self, url: str, file: RemoteFile, target: Path, timeout: float, progress: DownloadProgress | None
    ) -> None:
        self.url, self.file, self.target, self.timeout = url, file, target, timeout
        self._pin = file.sha256 or file.md5
        self._part = self._named(self._pin) if self._pin else next(iter(_parts(target)), self._named(""))
        self._size = file.size
        self._progress = progress or (lambda done, size: None)

    def run(self) -> Downloaded:
        """The file; if what comes is not the file, the whole of it is asked for once more."""
        with storage.translate_disk_full(self.target, self._advice):
            try:
                return self._attempt(ranges=True)
            except WrongContent:  # of this source, or of an earlier one: which, only the whole from here can tell
                return self._attempt(ranges=False)

    def _attempt(self, ranges: bool) -> Downloaded:
        """The file, over as many streams as it takes, one after the other."""
        failures = 0
        while True:
            before = _size(self._part)
            try:
                if not (self._pin and before and before == self.file.size):  # else only the check was missing
                    # The last byte comes again: so there is an answer, which tells state and length of the file.
                    self._stream(max(0, before - 1) if ranges else 0)
                return self._finish()
            except Interrupted as error:
                failures = 1 if _size(self._part) >= before + PROGRESS_BYTES else failures + 1
                if failures > len(PAUSES):
                    raise SourceError(f"{error}, {failures} times in a row") from None
                time.sleep(max(error.wait, PAUSES[failures - 1] * random.uniform(0.75, 1.25)))

    def _stream(self, start: int) -> None:
        """What one stream brings."""
        self._make_room()
        with HttpResponse(self.url, start, self.timeout) as response:
            first = b"" if response.start else response.first_block(self.file.name)
            if self.file.size is not None and response.total not in (None, self.file.size):
                raise SourceError(f"has {response.total:,} bytes where {self.file.size:,} belong")
            if not self._pin:
                self._part = self._named(f"{self.url} {response.version} {response.total}")
            _remove(part for part in _parts(self.target) if part != self._part)
            if response.start <= _size(self._part):
                self._size = response.total if self.file.size is None else self.file.size
                self._make_room()
                self._append(first, response)
                return
        self._stream(0)  # what had come was of another state of the file

    def _append(self, block: bytes, response: HttpResponse) -> None:
        """Write to the part file what is not in it yet: a stream may begin before its end."""
        position = response.start
        with open(self._part, "ab", buffering=BLOCK_BYTES) as file:
            done = told = file.tell()
            self._progress(done, self._size)
            while block or (block := response.read()):
                position += len(block)
                file.write(block[max(0, len(block) - max(0, position - done)) :])
                done = max(done, position)
                if done >= told + BLOCK_BYTES:
                    told = done
                    self._progress(done, self._size)
                block = b""
            if done > told:
                self._progress(done, self._size)
        if position < (self._size or 0):
            raise Interrupted(f"ended after {position:,} bytes instead of {self._size:,}")

    def _finish(self) -> Downloaded:
        """Check the whole file, force it to the disk and give it its name: from here on it is there, or it is not."""
        try:
            found = _checked(self.file, self._part, self.url)
        except WrongContent:
            self._part.unlink()
            raise
        storage.fsync(self._part)  # not `atomic_write`: the part file outlives this process, to be resumed
        storage.rename(self._part, self.target)
        storage.fsync(self.target.parent)
        return replace(found, path=self.target)

    def _named(self, content: str) -> Path:
        return self.target.with_name(f".{self.target.name}.{hashlib.sha256(content.encode()).hexdigest()[:8]}.part")

    def _make_room(self) -> None:
        """See whether the disk has room for what is missing."""
        if (self._size or 0) - _size(self._part) > shutil.disk_usage(self.target.parent).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _advice(self) -> str:
        done = _size(self._part)
        missing = "some space" if self._size is None else f"{(self._size - done) / 1e6:,.1f} MB"
        return (
            f"{done / 1e6:,.1f} MB of the file are there and stay. Free {missing}, then run the same command again: it "
            "fetches only the rest"
        )


def _parts(target: Path) -> list[Path]:
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    return [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
