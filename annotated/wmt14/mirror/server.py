"""Server of a mirror, on this machine, that can be told to misbehave as real ones do."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import re
import socket
import struct
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

FaultKind = Literal[
    "404",
    "503",
    "html",
    "stall",
    "reset",
    "truncate",
    "wrong bytes",
    "no ranges",
    "wrong range",
    "lies about ranges",
    "slow",
    "redirect",
]
"""What can go wrong:

- '404', '503' (with a Retry-After of 0 s): that answer
- 'html': a web page with status 200, as hotels send it
- 'stall': silence after some bytes
- 'reset': the connection is reset after some bytes
- 'truncate': the connection is closed early, as if all had come
- 'wrong bytes': as many bytes as should come, with one wrong in the middle of the file
- 'no ranges': the whole file with status 200, whatever part was asked for
- 'wrong range': status 206 with another part, and it says so
- 'lies about ranges': status 206 with the right header, and the bytes of another part
- 'slow': all right, at `rate` bytes a second
- 'redirect': sent on to the same file without a fault
"""

_BLOCK_BYTES = 1 << 16
_WEB_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to the network.</body></html>"
)


@dataclass(frozen=True)
class Fault:
    """One way to misbehave, for one file."""

    kind: FaultKind
    times: int | None = None
    """Only for the first so many requests of the file; None for all."""
    after: int = 1000
    """Bytes of an answer that come before the line goes silent, is reset or ends."""
    rate: float = 1e6
    """Bytes a second of 'slow', for each connection."""


@dataclass(frozen=True)
class Request:
    """A request that the mirror has answered."""

    name: str
    start: int
    """First byte that was asked for."""
    status: int
    sent: int
    """Bytes of the file that were sent, or at least given to the network."""


class Mirror:
    """Serves a folder at 127.0.0.1 while its `with` block lasts.

    Parameters
    ----------
    folder
        What to serve.
    faults
        By file name, or '*' for all other files: a `Fault`, or only its kind.

    Raises
    ------
    ValueError
        If there is no such kind of fault.
    """

    def __init__(self, folder: Path, faults: Mapping[str, Fault | FaultKind] | None = None) -> None:
        self.folder = Path(folder)
        self.faults = {name: _fault(given) for name, given in (faults or {}).items()}
        self._answered: dict[int, Request] = {}  # by the place in the order in which they came
        self._came = itertools.count()
        self._asked: dict[str, int] = {}
        self._answering = 0
        self._lock = threading.Condition()
        self._closing = threading.Event()
        self._server: http.server.ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Its base URL, with a port that was free.

        Raises
        ------
        RuntimeError
            If it does not run.
        """
        if self._server is None:
            raise RuntimeError("the mirror does not run: use it as `with Mirror(folder) as mirror:`")
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    @property
    def requests(self) -> list[Request]:
        """All that was answered, in the order in which it was asked; complete when the `with` block has ended."""
        with self._lock:
            return [self._answered[place] for place in sorted(self._answered)]

    def sent(self, name: str) -> int:
        """Bytes of a file that were sent, over all requests."""
        return sum(request.sent for request in self.requests if request.name == name)

    def __enter__(self) -> Mirror:
        mirror = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                with mirror._counted():
                    mirror._answer(self)

        self._closing.clear()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="mirror").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()  # wakes those who are silent on purpose
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        with self._lock:  # the reader may have its last byte before the answer is written down
            self._lock.wait_for(lambda: self._answering == 0, timeout=10)

    # -- answers --

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1
                self._lock.notify_all()

    def _next_fault(self, name: str, is_redirected: bool) -> Fault | None:
        fault = None if is_redirected else self.faults.get(name, self.faults.get("*"))
        with self._lock:
            asked = self._asked[name] = self._asked.get(name, 0) + 1
        return fault if fault is not None and (fault.times is None or asked <= fault.times) else None

    def _answer(self, handler: _Handler) -> None:
        place = next(self._came)  # a reader that breaks off asks again before the first answer has ended
        parts = urllib.parse.urlsplit(handler.path)
        name = urllib.parse.unquote(parts.path).lstrip("/")
        fault = self._next_fault(name, parts.query == "again")
        path = self.folder / name
        start, stop, sent = 0, 0, 0
        if "/" in name or not path.is_file() or (fault and fault.kind == "404"):
            status = handler.refuse(404, {})
        elif fault and fault.kind == "503":
            status = handler.refuse(503, {"Retry-After": "0"})
        elif fault and fault.kind == "redirect":
            status = handler.refuse(302, {"Location": f"{parts.path}?again"})
        elif fault and fault.kind == "html":
            status = handler.begin(200, {"Content-Type": "text/html", "Content-Length": str(len(_WEB_PAGE))})
            handler.wfile.write(_WEB_PAGE)
        else:
            size = path.stat().st_size
            start, stop, status = handler.asked_for(size, fault is not None and fault.kind == "no ranges")
            if status == 416:
                handler.refuse(416, {"Content-Range": f"bytes */{size}"})
            else:
                sent = self._send(handler, path, start, stop, status, fault)
        with self._lock:
            self._answered[place] = Request(name, start, status, sent)

    def _send(self, handler: _Handler, path: Path, start: int, stop: int, status: int, fault: Fault | None) -> int:
        size, kind = path.stat().st_size, fault.kind if fault else ""
        headers = {"Content-Length": str(stop - start), "ETag": f'"{size}-{path.stat().st_mtime_ns}"'}
        shift = 0
        if status == 206:
            if kind in ("wrong range", "lies about ranges"):
                shift = min(size // 2, size - stop) or -(start // 2)
            told = shift if kind == "wrong range" else 0
            headers["Content-Range"] = f"bytes {start + told}-{stop + told - 1}/{size}"
        handler.begin(status, headers)
        sent, began = 0, time.monotonic()
        with open(path, "rb") as file:
            file.seek(start + shift)
            while sent < stop - start and not self._closing.is_set():
                most = _BLOCK_BYTES
                if fault and kind in ("stall", "reset", "truncate"):
                    most = min(most, fault.after - sent)
                    if most <= 0:
                        self._break_off(handler, kind)
                        return sent
                if fault and kind == "slow":
                    most = min(most, max(1, int(fault.rate / 20)))
                    self._closing.wait(max(0.0, began + sent / fault.rate - time.monotonic()))
                block = bytearray(file.read(min(most, stop - start - sent)))
                middle = size // 2 - (start + sent)
                if kind == "wrong bytes" and 0 <= middle < len(block):
                    block[middle] ^= 0xFF
                try:
                    handler.wfile.write(block)
                except OSError:  # the reader has gone
                    return sent
                sent += len(block)
        return sent

    def _break_off(self, handler: _Handler, kind: str) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.flush()
        if kind == "stall":
            self._closing.wait(60)
        elif kind == "reset":  # closing with this option sends a reset
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()


def _fault(given: Fault | FaultKind) -> Fault:
    fault = given if isinstance(given, Fault) else Fault(given)
    if fault.kind not in get_args(FaultKind):
        raise ValueError(f"there is no fault {fault.kind!r}; there are: {', '.join(get_args(FaultKind))}")
    return fault


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def begin(self, status: int, headers: Mapping[str, str]) -> int:
        self.send_response(status)
        for name, value in {"Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        return status

    def refuse(self, status: int, headers: Mapping[str, str]) -> int:
        return self.begin(status, {"Content-Length": "0", **headers})

    def asked_for(self, size: int, ignores_ranges: bool) -> tuple[int, int, int]:
        """First byte, one past the last, and the status to answer."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or ignores_ranges:
            return 0, size, 200
        start, stop = int(asked[1]), min(size, int(asked[2]) + 1 if asked[2] else size)
        return (start, stop, 206) if start < stop else (0, 0, 416)

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # a reader that goes away is no news
            super().handle()
