"""HTTP responses as streams of a file's bytes, with a name for every way in which a server fails.

Certificates are always checked. A server that is silent, or that only trickles, counts as broken off. `file:` addresses
are read in the same way, from their beginning.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message

READ_BYTES = 1 << 18
"""What is read at a time, at most."""

LEAST_RATE = 100
"""Bytes a second: a server that sends fewer, over the whole time limit, is as good as silent."""

_BUSY = {408, 425, 429, 500, 502, 503, 504}
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_LONGEST_WAIT = 60.0
_MAGIC = {
    ".tgz": (0, b"\x1f\x8b", "gzip"),
    ".gz": (0, b"\x1f\x8b", "gzip"),
    ".zip": (0, b"PK", "zip"),
    ".tar": (257, b"ustar", "tar"),
}


class SourceError(Exception):
    """This source cannot give the file; another may."""


class WrongContent(SourceError):
    """What came is not what was asked for; the whole file, asked for once more, may be."""


class Interrupted(SourceError):
    """The stream broke off, and the same source may well give the rest; `wait`: the seconds that it asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


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
        most = READ_BYTES if self._stop is None else min(READ_BYTES, self._stop - self._position)
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
