"""Downloader of archives: one stream a file, resumed where it broke off, and checked by hash before it counts.

What has come stays in a part file, whatever happens, and the next call asks only for the rest (`Range: bytes=N-`). A
file gets its name only when its size and its hash are right. Certificates are always checked. A server that is silent,
or that only trickles, counts as broken off.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import random
import re
import shutil
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from pathlib import Path

from annotated import storage

Progress = Callable[[int, int | None], None]

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each new try of a stream that broke off without bringing anything."""

PROGRESS_BYTES = 1024
"""A stream that brings fewer before it breaks off has brought nothing."""

LEAST_RATE = 100
"""Bytes a second: a server that sends fewer, over the whole time limit, is as good as silent."""

BLOCK_BYTES = 1 << 20
"""What is written at a time, and told to `progress`; a process that is killed loses no more."""

_BUSY = {408, 425, 429, 500, 502, 503, 504}
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_LONGEST_WAIT = 60.0
_MAGIC = {
    ".tgz": (0, b"\x1f\x8b", "gzip"),
    ".gz": (0, b"\x1f\x8b", "gzip"),
    ".zip": (0, b"PK", "zip"),
    ".tar": (257, b"ustar", "tar"),
}


class DownloadError(RuntimeError):
    """A file could not be had, or not as it should be; the message says what each source did and what to do."""


class SourceError(Exception):
    """This source cannot give the file; another may."""


class WrongContent(SourceError):
    """What came is not what was asked for; the whole file, asked for once more, may be. `spoilt`: so may the part."""

    def __init__(self, message: str, spoilt: bool = False) -> None:
        super().__init__(message)
        self.spoilt = spoilt


class Interrupted(SourceError):
    """The stream broke off, and the same source may well give the rest; `wait`: the seconds that it asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


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
    progress: Progress | None = None,
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
    with storage.exclusive_lock(folder / ".download.lock"):
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
        raise WrongContent(f"has {size:,} bytes where {file.size:,} belong", spoilt=True)
    sha256 = storage.sha256(path)
    if file.sha256 and sha256 != file.sha256.lower():
        raise WrongContent(f"its SHA-256 is {sha256}, not {file.sha256}", spoilt=True)
    if file.md5 and (md5 := _md5(path)) != file.md5.lower():
        raise WrongContent(f"its MD5 is {md5}, not {file.md5}", spoilt=True)
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

    def __init__(self, url: str, file: RemoteFile, target: Path, timeout: float, progress: Progress | None) -> None:
        self.url, self.file, self.target, self.timeout = url, file, target, timeout
        self._pin = file.sha256 or file.md5
        self._part = self._named(self._pin) if self._pin else next(iter(_parts(target)), self._named(""))
        self._size = file.size
        self._progress = progress or (lambda done, size: None)

    def run(self) -> Downloaded:
        """The file; if what comes is not the file, the whole of it is asked for once more."""
        with storage.translate_disk_full(self.target, self._advice):
            for ranges in (True, False):
                try:
                    return self._attempt(ranges)
                except WrongContent as error:
                    _remove([self._part] if error.spoilt else ())
                    if not ranges:
                        raise
        raise AssertionError("the second attempt returns or raises")

    def _attempt(self, ranges: bool) -> Downloaded:
        """The file, over as many streams as it takes, one after the other."""
        failures = 0
        while True:
            before = _size(self._part)
            try:
                if not (self._pin and before and before == self.file.size):  # else only the check was missing
                    # The last byte comes again: so there is an answer, which tells the state and the length of the file.
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
        found = _checked(self.file, self._part, self.url)
        storage.fsync(self._part)
        os.replace(self._part, self.target)
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
        return (
            f"{done / 1e6:,.1f} MB of the file are there and stay. Free {((self._size or 0) - done) / 1e6:,.1f} MB, "
            "then run the same command again: it fetches only the rest"
        )


def _parts(target: Path) -> list[Path]:
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    return [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class HttpResponse:
    """A stream of a file's bytes, from `start` on or, if the server cannot do that, from the beginning.

    Raises
    ------
    Interrupted
        If the server is busy or cannot be reached just now.
    WrongContent
        If it answers with another part of the file.
    SourceError
        If it does not have the file, or is not who it should be.
    """

    def __init__(self, url: str, start: int, timeout: float) -> None:
        headers = {"User-Agent": "annotated-attention", "Accept-Encoding": "identity"}
        headers |= {"Range": f"bytes={start}-"} if start else {}
        local = urllib.parse.urlsplit(url).hostname in _LOCAL
        opener = urllib.request.build_opener(_NeverToLess, *([urllib.request.ProxyHandler({})] if local else []))
        try:
            self._stream = opener.open(urllib.request.Request(url, headers=headers), timeout=timeout)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _translated(error, url, timeout) from None
        answer = self._stream.headers
        length = answer.get("Content-Length", "")
        self.start, self.total = 0, int(length) if length.isdigit() else None
        self.version = answer.get("ETag") or answer.get("Last-Modified") or ""
        self._stop, self._timeout, self._is_page = self.total, timeout, answer.get_content_type() == "text/html"
        if self._stream.status == 206:
            self._read_range(start, answer.get("Content-Range", ""))
        self._position, self._since, self._seen = self.start, time.monotonic(), 0

    def _read_range(self, start: int, said: str) -> None:
        given = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", said.strip())
        if not given or int(given[1]) != start:
            self._stream.close()
            raise WrongContent(f"was asked for the bytes from {start} on and says that it sends {said or 'others'}")
        self.start, self._stop = start, int(given[2]) + 1
        self.total = None if given[3] == "*" else int(given[3])

    def __enter__(self) -> HttpResponse:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self) -> bytes:
        """The next bytes; none at the end.

        Raises
        ------
        Interrupted
            If the stream ends early, breaks off, or is silent for the time limit.
        """
        most = BLOCK_BYTES if self._stop is None else min(BLOCK_BYTES, self._stop - self._position)
        try:
            # As much as one packet brings, and not a full block: that is how a trickle is noticed.
            block = self._stream.read1(most) if most else b""
        except TimeoutError:
            raise Interrupted(f"silent for {self._timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"broke off after {self._position:,} bytes ({_reason(error)})") from None
        if most and not block and self._stop is not None:
            raise Interrupted(f"ended after {self._position:,} bytes instead of {self._stop:,}")
        self._position += len(block)
        self._seen += len(block)
        elapsed = time.monotonic() - self._since
        if elapsed > self._timeout:
            if self._seen < LEAST_RATE * elapsed:
                raise Interrupted(f"only {self._seen:,} bytes in {elapsed:.0f} s")
            self._since, self._seen = time.monotonic(), 0
        return block

    def first_block(self, name: str) -> bytes:
        """The beginning of the file, if it looks like what its name says."""
        block = b""
        while len(block) < 512 and (more := self.read()):
            block += more
        suffix = next((suffix for suffix in _MAGIC if name.endswith(suffix)), None)
        if suffix is None:
            return block
        offset, magic, kind = _MAGIC[suffix]
        if block[offset : offset + len(magic)] == magic:
            return block
        start = block.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower()
        if self._is_page or start.startswith((b"<!doctype html", b"<html", b"<head")):
            raise WrongContent(
                f"sent a web page instead of the {kind} archive: an error page, a page to log in, or the page of a "
                "network that wants you to sign in; open the address in a browser to see which"
            )
        raise WrongContent(f"sent something that is not a {kind} archive: it begins with {block[:8]!r}")


class _NeverToLess(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but not from https to anything less."""

    def redirect_request(
        self, req: urllib.request.Request, fp: object, code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise ssl.SSLCertVerificationError(f"redirected from https to {newurl}, where nobody's name is checked")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _translated(error: Exception, url: str, timeout: float) -> SourceError:
    """What went wrong while a connection was opened."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        said = f"answered {error.code} {error.reason}".strip()
        if error.code == 416:
            return WrongContent(f"{said}: its file is shorter than it should be")
        if error.code not in _BUSY:
            return SourceError(said)
        wait = error.headers.get("Retry-After", "")
        return Interrupted(said, min(float(wait), _LONGEST_WAIT) if wait.isdigit() else 0.0)
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return SourceError(f"its certificate is not to be trusted ({_reason(cause)}); the check is never left out")
    if isinstance(cause, TimeoutError):
        return Interrupted(f"silent for {timeout:g} s")
    if isinstance(cause, OSError | http.client.HTTPException) and not url.startswith("file:"):
        return Interrupted(f"cannot be reached ({_reason(cause)})")
    return SourceError(_reason(cause))


def _reason(error: BaseException | str) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
