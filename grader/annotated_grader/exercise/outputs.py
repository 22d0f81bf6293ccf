"""Outputs: cut out of a notebook while it is read, so that pictures and long logs cost nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

MOST_WITH_OUTPUTS = 500 * 2**20
"""Bytes of a notebook that are read at all."""
_CHUNK = 2**20
_LONGEST_TEXT = 32 * 2**20
_CUT = (b'"outputs"', b'"attachments"')
"""Keys of a cell whose values say nothing about an answer."""
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("|\\?\Z)|[\[\]{}]', re.S)
"""A text, which may break off at the end, or a bracket."""
_END_OF_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)


def without_outputs(file: IO[bytes], most: int) -> bytes:
    """A notebook's bytes without its outputs, up to a bound; what is no notebook comes as it is.

    Parameters
    ----------
    most
        Bytes that may be left; one more at most is given back, from which the reader sees that there are more.
    """
    kept = bytearray()
    for part in _Cutter().parts(file):
        kept += part
        if len(kept) > most:
            break
    return bytes(kept[: most + 1])


class _Cutter:
    """A scan of JSON by its texts and brackets, a piece of the file at a time."""

    def __init__(self) -> None:
        self.depth = 0
        self.cut_at: int | None = None
        """The depth of brackets around the value that is being cut."""
        self.key, self.gap = b"", b""
        """The text before, and what has followed it."""

    def parts(self, file: IO[bytes]) -> Iterator[bytes]:
        """What is left of the file, piece by piece."""
        rest, read = b"", 0
        while piece := file.read(_CHUNK):
            read += len(piece)
            part, end = self.scan(rest + piece)
            yield part
            rest = (rest + piece)[end:]
            while self.cut_at is not None and rest:  # in the middle of a text
                rest = self.skip_text(file, rest)
                part, end = self.scan(rest)
                yield part
                rest = rest[end:]
            if len(rest) > _LONGEST_TEXT or read > MOST_WITH_OUTPUTS:  # a text without an end
                break
        yield rest

    def scan(self, data: bytes) -> tuple[bytes, int]:
        """What is left of these bytes, and how far they could be read: a text may break off."""
        kept, start, end = bytearray(), 0, 0
        until = len(data)
        for token in _TOKEN.finditer(data):
            if token[1] is not None and token[1] != b'"':
                until = token.start()
                break
            self.gap += data[end : token.start()].strip()
            end, text = token.end(), token[0]
            if self.cut_at is None:
                opens = text in b"[{" and self.key in _CUT and self.gap == b":"
                if opens:
                    kept += data[start : token.start()] + (b"[]" if text == b"[" else b"{}")
                    self.cut_at = self.depth
            self.key, self.gap = text if text.startswith(b'"') else b"", b""
            self.depth += (text in b"[{") - (text in b"]}")
            if self.cut_at is not None and self.depth <= self.cut_at and text in b"]}":
                self.cut_at, start = None, end
        self.gap += data[end:until].strip()[:2]
        if self.cut_at is None:
            kept += data[start:until]
        return bytes(kept), until

    def skip_text(self, file: IO[bytes], rest: bytes) -> bytes:
        """Read to the end of a text that is cut, without keeping it; what follows it."""
        rest = rest[1:]
        while not (closed := _END_OF_TEXT.match(rest)):
            piece = file.read(_CHUNK)
            if not piece:
                return b""
            odd = (len(rest) - len(rest.rstrip(b"\\"))) % 2
            rest = (b"\\" if odd else b"") + piece
        return rest[closed.end() :]
