"""The bytes of one file from one source: over several connections, or whole; what breaks off is taken up again.

Paper: none; the paper names its corpora (section 5.1), not how to get them
"""

from __future__ import annotations

import errno
import random
import shutil
import threading

from annotated.data.download._part import CHUNK_BYTES, PartFile, Stopped
from annotated.data.download._sources import Answer, FolderSource, Interrupted, RangesRefused, SourceError, WebSource

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each new try of a connection that broke off without bringing anything."""

PROGRESS_BYTES = 1024
"""A connection that brings fewer before it breaks off has brought nothing."""

LEAST_TO_SHARE = 8
"""Chunks: a run of fewer is left to the connection that has it, for what is under way on it would be lost."""

_MAGIC = {
    ".tgz": (0, b"\x1f\x8b", "gzip"),
    ".gz": (0, b"\x1f\x8b", "gzip"),
    ".zip": (0, b"PK", "zip"),
    ".tar": (257, b"ustar", "tar"),
}


class Transfer:
    """One file from one source into its part file."""

    def __init__(
        self, source: FolderSource | WebSource, part: PartFile, name: str, size: int | None, pin: str | None
    ) -> None:
        self.source, self.part, self.name, self.size, self.pin = source, part, name, size, pin
        self._identity: str | None = None
        self._lock = threading.Lock()
        self._runs: list[_Run] = []
        self._idle: list[_Run] = []
        self._errors: list[BaseException] = []
        self._stop = threading.Event()

    # -- whole --

    def in_one(self) -> None:
        """The whole file as one stream, from its beginning."""
        self._stop.clear()
        failures = 0
        while True:
            try:
                with self.source.open() as answer:
                    self._stream(answer)
                return
            except Interrupted as error:
                failures += 1
                self._pause(error, failures)

    def _stream(self, answer: Answer) -> None:
        first = self._first_block(answer, is_range=False)
        self._begin(answer)
        size, received = self.part.size, 0
        buffer, block = bytearray(), first
        while block:
            buffer += block
            while len(buffer) >= CHUNK_BYTES:
                self.part.write(received // CHUNK_BYTES, buffer[:CHUNK_BYTES])
                del buffer[:CHUNK_BYTES]
                received += CHUNK_BYTES
            if size is not None and received + len(buffer) > size:
                raise SourceError(f"sends more than the {size:,} bytes that belong")
            block = answer.read()
        if size is not None and received + len(buffer) < size:
            raise Interrupted(f"ended after {received + len(buffer):,} bytes instead of {size:,}")
        if buffer:
            self.part.write(received // CHUNK_BYTES, buffer)

    # -- by ranges --

    def by_ranges(self, connections: int) -> None:
        """The missing chunks, over several connections."""
        self._probe()
        self._idle = _divided([_Run(first, stop) for first, stop in self.part.missing()], connections)
        threads = [
            threading.Thread(target=self._work, daemon=True, name=f"download-{number}")
            for number in range(min(connections, len(self._idle)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            # Not joined again: a silent server could keep a connection waiting, and a closed part takes no more.
            self._stop.set()
            self.part.close()
            raise
        if not self.part.complete:
            raise next((e for e in self._errors if not isinstance(e, Interrupted)), self._errors[-1])

    def _probe(self) -> None:
        """The first missing chunk, alone: it shows what the server is and has."""
        if self.size is not None and self.pin:
            self._prepare(self.size, self.pin)
        run = _Run(0, 1)
        if self.part.size is not None:
            missing = self.part.missing()
            if not missing:
                return
            run = _Run(missing[0][0], missing[0][0] + 1)
        self._fetch(run)
        if self.part.size is None:
            raise RangesRefused("does not say how long the file is")

    def _work(self) -> None:
        try:
            while (run := self._take()) is not None:
                self._fetch(run)
        except Interrupted as error:  # this connection gives up; the others may finish its run
            self._errors.append(error)
            self._put_back(run)
        except Stopped:
            pass
        except BaseException as error:
            self._errors.append(error)
            self._stop.set()

    def _take(self) -> _Run | None:
        """A run to fetch: the longest that nobody has, else half of the longest that somebody has."""
        with self._lock:
            self._runs = [run for run in self._runs if run.next < run.stop]
            if self._stop.is_set() or not (self._idle or self._runs):
                return None
            if self._idle:
                run = max(self._idle, key=len)
                self._idle.remove(run)
            else:
                longest = max(self._runs, key=len)
                if len(longest) < LEAST_TO_SHARE:
                    return None
                run = longest.halve()
            self._runs.append(run)
            return run

    def _put_back(self, run: _Run | None) -> None:
        with self._lock:
            if run is not None:
                self._runs.remove(run)
                self._idle.append(_Run(run.next, run.stop))

    def _fetch(self, run: _Run) -> None:
        """All chunks of a run, over as many connections as it takes, one after the other."""
        failures = 0
        while run.next < run.stop and not self._stop.is_set():
            before = run.received
            try:
                start, stop = self.part.bounds(run.next, run.stop)
                with self.source.open(start + len(run.buffer), stop) as answer:
                    self._read_run(run, answer)
            except Interrupted as error:
                failures = 1 if run.received >= before + PROGRESS_BYTES else failures + 1
                self._pause(error, failures)

    def _read_run(self, run: _Run, answer: Answer) -> None:
        if answer.start == 0:
            run.extend(self._first_block(answer, is_range=True))
        self._begin(answer)
        while run.next < run.stop and not self._stop.is_set():
            first, stop = self.part.bounds(run.next, run.next + 1)
            missing = stop - first - len(run.buffer)
            if missing > 0:
                block = answer.read(missing)
                if not block:
                    raise Interrupted("sent less than it was asked for")
                run.extend(block)
                continue
            self.part.write(run.next, run.buffer)
            with self._lock:
                run.buffer.clear()
                run.next += 1

    # -- both --

    def _first_block(self, answer: Answer, is_range: bool) -> bytes:
        """The beginning of the file, if it looks like what its name says."""
        block = b""
        while len(block) < 512 and (more := answer.read()):
            block += more
        suffix = next((s for s in _MAGIC if self.name.endswith(s)), None)
        if suffix is None:
            return block
        offset, magic, kind = _MAGIC[suffix]
        if block[offset : offset + len(magic)] == magic:
            return block
        start = block.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower()
        if start.startswith((b"<!doctype html", b"<html", b"<head")) or answer.content_type.startswith("text/html"):
            raise SourceError(
                f"sent a web page instead of the {kind} archive: an error page, a page to log in, or the page of a "
                "network that wants you to sign in; open the address in a browser to see which"
            )
        problem = f"sent something that is not a {kind} archive: it begins with {block[:8]!r}"
        raise RangesRefused(problem) if is_range else SourceError(problem)  # it may be another part of the file

    def _begin(self, answer: Answer) -> None:
        """See that the source has the file that is wanted, and open the part file for it.

        Chunks of a file with a known hash may come from anywhere; others only from this state of this source.
        """
        if answer.total is not None and self.size not in (None, answer.total):
            raise SourceError(f"has {answer.total:,} bytes where {self.size:,} belong")
        identity = self.pin or f"{self.source.url} {answer.version}"
        with self._lock:
            if self._identity not in (None, identity):
                raise SourceError("its file changed while it was being downloaded; try again")
            if self._identity is None or self.part.size is None:
                self._prepare(answer.total if self.size is None else self.size, identity)

    def _prepare(self, size: int | None, identity: str) -> None:
        """Open the part file, if the disk has room for what is missing."""
        self.part.begin(size, identity)
        self._identity = identity
        needed = (size or 0) - self.part.done
        free = shutil.disk_usage(self.part.path.parent).free
        if needed > free:
            raise OSError(errno.ENOSPC, f"{needed / 1e6:,.1f} MB more are needed, {free / 1e6:,.1f} MB are free")

    def _pause(self, error: Interrupted, failures: int) -> None:
        """Wait before the next try, longer each time; after the last, give up."""
        if failures > len(PAUSES):
            raise Interrupted(f"{error}, {failures} times in a row") from None
        self._stop.wait(max(error.wait, PAUSES[failures - 1] * random.uniform(0.75, 1.25)))


class _Run:
    """Chunks `next` to `stop` of a file, which one connection fetches; `buffer` holds the beginning of the next."""

    def __init__(self, first: int, stop: int) -> None:
        self.next, self.stop, self.received = first, stop, 0
        self.buffer = bytearray()

    def extend(self, block: bytes) -> None:
        self.buffer += block
        self.received += len(block)

    def halve(self) -> _Run:
        """Cut off the second half, which is returned."""
        middle, stop = (self.next + self.stop + 1) // 2, self.stop
        self.stop = middle
        return _Run(middle, stop)

    def __len__(self) -> int:
        return self.stop - self.next


def _divided(runs: list[_Run], connections: int) -> list[_Run]:
    """The same chunks in a run for each connection, if there are enough of them."""
    while runs and len(runs) < connections and len(longest := max(runs, key=len)) >= LEAST_TO_SHARE:
        runs.append(longest.halve())
    return runs
