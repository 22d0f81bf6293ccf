"""Where a file can be had from: web servers and folders, with a name for every way in which they fail.

Certificates are always checked. A server that is silent, or that only trickles, counts as broken off.

Paper: none; the paper names its corpora (section 5.1), not how to get them
"""

from __future__ import annotations

import http.client
import os
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

BLOCK_BYTES = 1 << 18
LEAST_RATE = 100
"""Bytes a second: a server that sends fewer, over the whole time limit, is as good as silent."""

_BUSY = {408, 425, 429, 500, 502, 503, 504}
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_LONGEST_WAIT = 60.0


class SourceError(Exception):
    """This source cannot give the file; another may."""


class Interrupted(SourceError):
    """The connection broke off; the same source may well give the rest.

    `wait` is the time in seconds that the server asked for, or 0.
    """

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class RangesRefused(SourceError):
    """The server gives another part of the file than it was asked for; the whole file may do."""


@dataclass
class Answer:
    """An opened stream of bytes `start` to `stop` of a file. Closes with the `with` block."""

    stream: BinaryIO | http.client.HTTPResponse
    start: int
    stop: int | None
    """One past the last byte that will come; None if the server does not say."""
    total: int | None
    """Bytes of the whole file; None if the server does not say."""
    version: str = ""
    """What the server calls this state of the file (its ETag or date), to know it again."""
    content_type: str = ""
    timeout: float = 30.0

    def __post_init__(self) -> None:
        self._position, self._since, self._seen = self.start, time.monotonic(), 0

    def read(self, most: int = BLOCK_BYTES) -> bytes:
        """The next bytes, at most `most`; none at the end.

        Raises
        ------
        Interrupted
            If the stream ends early, breaks off, or is silent for `timeout` seconds.
        """
        if self.stop is not None:
            most = min(most, self.stop - self._position)
        if not most:
            return b""
        try:
            # As much as one packet brings, and not a full block: that is how a trickle is noticed.
            block = self.stream.read1(most) if hasattr(self.stream, "read1") else self.stream.read(most)
        except TimeoutError:
            raise Interrupted(f"silent for {self.timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"broke off after {self._position:,} bytes ({_reason(error)})") from None
        if not block and self.stop is not None:
            raise Interrupted(f"ended after {self._position:,} bytes instead of {self.stop:,}")
        self._position += len(block)
        self._notice_a_trickle(len(block))
        return block

    def _notice_a_trickle(self, size: int) -> None:
        self._seen += size
        elapsed = time.monotonic() - self._since
        if elapsed > self.timeout:
            if self._seen < LEAST_RATE * elapsed:
                raise Interrupted(f"only {self._seen:,} bytes in {elapsed:.0f} s")
            self._since, self._seen = time.monotonic(), 0

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.close()


@dataclass(frozen=True)
class FolderSource:
    """A file in a folder of this machine, or of a disk that it can see."""

    path: Path
    parallel = False

    @property
    def url(self) -> str:
        """Its address."""
        return self.path.absolute().as_uri()

    def open(self, start: int = 0, stop: int | None = None) -> Answer:
        """Bytes `start` to `stop` of the file.

        Raises
        ------
        SourceError
            If there is no such file, or it cannot be read.
        """
        try:
            file = open(self.path, "rb")  # noqa: SIM115 (the answer closes it)
            size = os.fstat(file.fileno()).st_size
            file.seek(start)
        except OSError as error:
            raise SourceError(error.strerror or str(error)) from None
        return Answer(
            file,
            start,
            size if stop is None else min(stop, size),
            size,
            version=str(os.fstat(file.fileno()).st_mtime_ns),
        )


@dataclass(frozen=True)
class WebSource:
    """A file on a web server."""

    url: str
    timeout: float = 30.0
    parallel = True

    def open(self, start: int = 0, stop: int | None = None) -> Answer:
        """Bytes `start` to `stop` of the file, or with no `stop` the whole file.

        Raises
        ------
        Interrupted
            If the server is busy or cannot be reached just now.
        RangesRefused
            If it answers with another part of the file.
        SourceError
            If it does not have the file, or is not who it should be.
        """
        headers = {"User-Agent": "annotated-attention", "Accept-Encoding": "identity"}
        if stop is not None:
            headers["Range"] = f"bytes={start}-{stop - 1}"
        try:
            response = self._opener().open(urllib.request.Request(self.url, headers=headers), timeout=self.timeout)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _named(error, self.timeout) from None
        try:
            return self._answer(response, start, stop)
        except BaseException:
            response.close()
            raise

    def _opener(self) -> urllib.request.OpenerDirector:
        local = urllib.parse.urlsplit(self.url).hostname in _LOCAL
        proxies = [urllib.request.ProxyHandler({})] if local else []
        return urllib.request.build_opener(_NeverToLess, *proxies)

    def _answer(self, response: http.client.HTTPResponse, start: int, stop: int | None) -> Answer:
        headers = response.headers
        length = headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
        version = headers.get("ETag") or headers.get("Last-Modified") or ""
        kind = headers.get("Content-Type", "")
        if stop is None:
            return Answer(response, 0, total, total, version, kind, self.timeout)
        if response.status != 206:
            raise RangesRefused("does not give parts of files")
        given = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", "").strip())
        if not given or int(given[1]) != start or int(given[2]) + 1 > stop:
            raise RangesRefused(
                f"was asked for bytes {start}-{stop - 1} and says that it sends "
                f"{headers.get('Content-Range') or 'others'}"
            )
        whole = None if given[3] == "*" else int(given[3])
        return Answer(response, start, int(given[2]) + 1, whole, version, kind, self.timeout)


class _NeverToLess(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but not from https to anything less."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: object,
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise ssl.SSLCertVerificationError(f"redirected from https to {newurl}, where nobody's name is checked")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _named(error: Exception, timeout: float) -> SourceError:
    """Our word for what went wrong while a connection was opened."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        said = f"answered {error.code} {error.reason}".strip()
        if error.code == 416:
            return RangesRefused(f"{said}: its file is shorter than it should be")
        if error.code not in _BUSY:
            return SourceError(said)
        wait = error.headers.get("Retry-After", "")
        return Interrupted(said, min(float(wait), _LONGEST_WAIT) if wait.isdigit() else 0.0)
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return SourceError(f"its certificate is not to be trusted ({_reason(cause)}); the check is never left out")
    if isinstance(cause, TimeoutError):
        return Interrupted(f"silent for {timeout:g} s")
    if isinstance(cause, OSError | http.client.HTTPException):
        return Interrupted(f"cannot be reached ({_reason(cause)})")
    return SourceError(str(cause))


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def sources(name: str, urls: Sequence[str], timeout: float) -> list[FolderSource | WebSource]:
    """The sources of a file, in the order of `urls`; a URL that ends in '/', or a folder, holds it by its name.

    Raises
    ------
    SourceError
        If an address is of a kind that is not known.
    """
    return [_source(url, name, timeout) for url in urls]


def _source(url: str, name: str, timeout: float) -> FolderSource | WebSource:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme in ("http", "https"):
        return WebSource(url + urllib.parse.quote(name) if url.endswith("/") else url, timeout)
    if "://" in url and parts.scheme != "file":
        raise SourceError(f"{url}: {parts.scheme} is not known here; give an http, https or file address, or a folder")
    path = Path(urllib.request.url2pathname(parts.path)) if parts.scheme == "file" else Path(url).expanduser()
    return FolderSource(path / name if url.endswith("/") or path.is_dir() else path)
