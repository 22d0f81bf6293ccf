"""A file that is on its way: the chunks that have come, and a journal that says which.

Each chunk is written in its place and then entered in the journal with its checksum. A process may die at any
moment, and so may the machine: the next one reads the journal, checks the chunks it names, and fetches only the rest.

Paper: none; the paper names its corpora (section 5.1), not how to get them
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


class Stopped(Exception):
    """The part file has been closed: whoever still has a chunk for it comes too late."""


class PartFile:
    """The part file and the journal of a file that is being downloaded; safe to write to from several threads."""

    def __init__(self, target: Path, progress: Callable[[int, int | None], None] | None = None) -> None:
        self.target = target
        self.path = target.with_name(f".{target.name}.part")
        self.journal = target.with_name(f".{target.name}.journal")
        self.size: int | None = None
        self._progress = progress
        self._lock = threading.Lock()
        self.done = 0
        """Bytes of the file that are there."""
        self._done: dict[int, int] = {}
        self._file: BinaryIO | None = None
        self._log: BinaryIO | None = None
        self._header: dict[str, object] = {}

    # -- opening and closing --

    def begin(self, size: int | None, identity: str) -> None:
        """Go on with what is there, if it belongs to the same file; else begin anew.

        Parameters
        ----------
        size
            Bytes of the whole file; None if nobody knows.
        identity
            The file's hash, or where and when it comes from: chunks of another identity are not kept.
        """
        header: dict[str, object] = {"size": size, "chunk": CHUNK_BYTES, "identity": identity}
        if self._file is not None and header == self._header:
            return
        self.close()
        self.size, self._header, self._done = size, header, {}
        if size is not None and self._read_header() == header:
            self._done = dict(self._intact())
        else:
            self.remove()
        self.done = sum(self._length(index) for index in self._done)
        self._file = open(self.path, "r+b" if self.path.exists() else "w+b", buffering=0)  # noqa: SIM115
        fresh = self.journal.with_name(self.journal.name + ".new")
        lines = [json.dumps(header), *(f"{index} {crc:08x}" for index, crc in sorted(self._done.items()))]
        with open(fresh, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.journal)
        self._log = open(self.journal, "ab", buffering=0)  # noqa: SIM115
        self._report()

    def clear(self) -> None:
        """Forget all that has come, and begin anew."""
        size, identity = self.size, str(self._header.get("identity", ""))
        self.close()
        self.remove()
        self.begin(size, identity)

    def close(self) -> None:
        """Close the files; what is in them stays. Later writes of other threads raise `Stopped`."""
        with self._lock:
            for file in (self._file, self._log):
                if file is not None:
                    file.close()
            self._file = self._log = None

    def finish(self) -> None:
        """Force the whole file to the disk, and give it its name: from here on it is there, or it is not."""
        with self._lock:
            assert self._file is not None
            os.fsync(self._file.fileno())
        self.close()
        os.replace(self.path, self.target)
        _fsync_folder(self.target.parent)
        self.remove()

    def remove(self) -> None:
        """Remove the part file and its journal."""
        self.path.unlink(missing_ok=True)
        self.journal.unlink(missing_ok=True)

    # -- chunks --

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.size is not None and len(self._done) == self._chunks()

    def missing(self) -> list[tuple[int, int]]:
        """Runs of missing chunks, each as the first chunk and one past the last."""
        runs: list[tuple[int, int]] = []
        for index in range(self._chunks()):
            if index in self._done:
                continue
            if runs and runs[-1][1] == index:
                runs[-1] = (runs[-1][0], index + 1)
            else:
                runs.append((index, index + 1))
        return runs

    def bounds(self, first: int, stop: int) -> tuple[int, int]:
        """Bytes of a run of chunks: the first, and one past the last."""
        end = stop * CHUNK_BYTES
        return first * CHUNK_BYTES, end if self.size is None else min(end, self.size)

    def write(self, index: int, data: bytes | bytearray) -> None:
        """Put a chunk in its place and enter it in the journal.

        Raises
        ------
        Stopped
            If the part file has been closed.
        """
        crc = zlib.crc32(data)
        with self._lock:
            if self._file is None or self._log is None:
                raise Stopped
            self._file.seek(index * CHUNK_BYTES)
            rest = memoryview(data)
            while rest:  # an unbuffered file may take less than it is given
                rest = rest[self._file.write(rest) :]
            self._log.write(f"{index} {crc:08x}\n".encode())
            self.done += 0 if index in self._done else len(data)
            self._done[index] = crc
            self._report()

    def _chunks(self) -> int:
        return -(-(self.size or 0) // CHUNK_BYTES)

    def _length(self, index: int) -> int:
        first, stop = self.bounds(index, index + 1)
        return stop - first

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.done, self.size)

    # -- the journal of an earlier process --

    def _read_header(self) -> object:
        try:
            with open(self.journal, encoding="utf-8") as file:
                return json.loads(file.readline())
        except (OSError, ValueError):
            return None

    def _intact(self) -> Iterator[tuple[int, int]]:
        """Chunks that the journal names and that are as it says: after a power failure they may not be."""
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            for line in self.journal.read_text(encoding="utf-8", errors="replace").split("\n")[1:-1]:
                words = line.split()
                if len(words) != 2 or not words[0].isdigit() or int(words[0]) >= self._chunks():
                    continue
                index = int(words[0])
                file.seek(index * CHUNK_BYTES)
                data = file.read(self._length(index))
                if len(data) == self._length(index) and f"{zlib.crc32(data):08x}" == words[1]:
                    yield index, zlib.crc32(data)


def digest(path: Path, algorithm: str = "sha256") -> str:
    """The hash of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def _fsync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
