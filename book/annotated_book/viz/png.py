"""Small PNG pictures with transparency: a palette of 256 colours in place of four bytes a pixel.

vl-convert draws half-transparent marks on no background in wrong colours: it cuts each of red, green and blue off at
the opacity. On an opaque background its colours are right. So a picture is drawn on black and on white, and what
lies before both is worked out here.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGBA = (8, 6, 0, 0, 0)  # bits, colour type, compression, filters, not interlaced


def transparent_png(on_black: bytes, on_white: bytes) -> bytes:
    """The picture that gives the first file when it lies on black and the second when it lies on white.

    Parameters
    ----------
    on_black, on_white
        Opaque pictures of one size, 8 bits a channel with opacity, not interlaced, as vl-convert writes them.

    Returns
    -------
    bytes
        A PNG with a palette of at most 256 colours, close to the picture's commonest.

    Raises
    ------
    ValueError
        If a file is no such PNG, or the sizes differ.
    """
    (width, height, black), (other, height2, white) = _pixels(on_black), _pixels(on_white)
    if (width, height) != (other, height2):
        raise ValueError(f"the pictures differ in size: {width} x {height} and {other} x {height2}")
    # On black a pixel is opacity * colour, on white that plus 1 - opacity.
    shown = black[:, :3].astype(np.float64)
    opacity = (255 - (white[:, :3] - shown).mean(1, keepdims=True)).round().clip(0, 255)
    colour = (255 * shown / np.maximum(opacity, 1)).round().clip(0, 255)
    palette, index = _palette(np.concatenate([colour, opacity], axis=1).astype(np.uint8))
    rows = np.zeros((height, width + 1), np.uint8)  # filter 0, then one byte a pixel
    rows[:, 1:] = index.reshape(height, width)
    made = _SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    made += _chunk(b"PLTE", palette[:, :3].tobytes()) + _chunk(b"tRNS", palette[:, 3].tobytes())
    return made + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _pixels(png: bytes) -> tuple[int, int, NDArray[np.uint8]]:
    """Width, height, and `[height * width, 4]`."""
    if not png.startswith(_SIGNATURE):
        raise ValueError("these bytes are not a PNG picture")
    at, header, packed = len(_SIGNATURE), b"", b""
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        header = data if name == b"IHDR" else header
        packed += data if name == b"IDAT" else b""
        at += size + 12
    width, height, *kind = struct.unpack(">IIBBBBB", header)
    if tuple(kind) != _RGBA:
        raise ValueError(f"the PNG must be of kind {_RGBA} (bits, colours, ...), not {tuple(kind)}")
    return width, height, _unfiltered(zlib.decompress(packed), width, height)


def _unfiltered(data: bytes, width: int, height: int) -> NDArray[np.uint8]:
    """Pixels of rows that are stored as they are, or as differences to the left, above, or a mixture of both."""
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + 4 * width)
    out = np.zeros((height + 1, width, 4), np.uint8)  # with a row above the first
    for y, kind in enumerate(rows[:, 0].tolist()):
        line = rows[y, 1:].reshape(width, 4)
        if kind > 2:
            out[y + 1] = _by_pixel(kind, line.tolist(), out[y].tolist())
        else:
            out[y + 1] = (line, line.cumsum(0, dtype=np.uint8), line + out[y])[kind]
    return out[1:].reshape(-1, 4)


def _by_pixel(kind: int, line: list[list[int]], above: list[list[int]]) -> list[list[int]]:
    """A row of filter 3, the mean of left and up, or 4, the neighbour nearest to left + up - corner."""
    row: list[list[int]] = []
    left = corner = [0, 0, 0, 0]
    for pixel, up in zip(line, above, strict=True):
        now = []
        for value, a, b, c in zip(pixel, left, up, corner, strict=True):
            if kind == 3:
                guess = (a + b) // 2
            else:
                guess = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            now.append((value + guess) % 256)
        row.append(now)
        left, corner = now, up
    return row


def _palette(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """At most 256 colours `[n, 4]`, and for each pixel which it is: the common ones, as close together as needed."""
    pixels = pixels * (pixels[:, 3:] > 0)  # what cannot be seen has no colour
    # As whole numbers, whose order is that of their four bytes: sorting them takes a tenth of sorting rows.
    numbers = np.ascontiguousarray(pixels).view(">u4").reshape(-1).astype(np.uint32)
    numbers, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    colours = numbers.astype(">u4").view(np.uint8).reshape(-1, 4)
    colours, seen = colours[np.argsort(-counts, kind="stable")], _as_seen(colours)
    for tolerance in (0, 2, 4, 8, 16, 32, 64):
        kept: list[NDArray[np.uint8]] = []
        left, left_seen = colours, _as_seen(colours)
        while len(left) and len(kept) <= 256:
            kept.append(left[0])
            far = np.abs(left_seen - left_seen[0]).max(1) > tolerance
            left, left_seen = left[far], left_seen[far]
        if len(kept) <= 256:
            break
    palette = np.array(kept[:256])
    nearest = [np.square(_as_seen(palette) - colour).sum(1).argmin() for colour in seen]
    return palette, np.array(nearest, np.uint8)[which.reshape(-1)]


def _as_seen(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Colours times their opacity, and the opacity."""
    opacity = colours[:, 3:].astype(np.float64)
    return np.concatenate([colours[:, :3] * opacity / 255, opacity], axis=1)
