"""Pictures with transparency: the same pixels when colours are few, nearly the same when they are many."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

from annotated_book.viz.png import transparent_png

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def written(pixels: NDArray[np.uint8], kinds: list[int]) -> bytes:
    """A PNG of `[h, w, 4]`, each row by its own filter: minus nothing, left, up, their mean, or Paeth's choice."""
    height, width, _ = pixels.shape
    padded = np.pad(pixels.astype(int), ((1, 0), (1, 0), (0, 0)))
    here, left, up, corner = padded[1:, 1:], padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    far = [np.abs(left + up - corner - one) for one in (left, up, corner)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), left, np.where(far[1] <= far[2], up, corner))
    stored = [here, here - left, here - up, here - (left + up) // 2, here - paeth]
    rows = b"".join(bytes([kind]) + (stored[kind][y] % 256).astype(np.uint8).tobytes() for y, kind in enumerate(kinds))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def read(png: bytes) -> NDArray[np.uint8]:
    """The pixels of a PNG with a palette and no filters."""
    parts, at = {}, len(SIGNATURE)
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        name, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + data)
        parts[name], at = data, at + size + 12
    width, height, *kind = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert kind == [8, 3, 0, 0, 0]
    colours = np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)
    palette = np.concatenate([colours, np.frombuffer(parts[b"tRNS"], np.uint8)[:, None]], axis=1)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return palette[rows[:, 1:]]


def on(pixels: NDArray[np.uint8], ground: int, kinds: list[int]) -> bytes:
    """The picture, laid on a grey from 0 (black) to 255 (white)."""
    opacity = pixels[..., 3:] / 255
    flat = np.full(pixels.shape, 255, np.uint8)
    flat[..., :3] = (pixels[..., :3] * opacity + ground * (1 - opacity)).round()
    return written(flat, kinds)


def through(pixels: NDArray[np.uint8], kinds: list[int]) -> NDArray[np.uint8]:
    return read(transparent_png(on(pixels, 0, kinds), on(pixels, 255, kinds)))


def test_few_colours_stay_by_any_filter() -> None:
    colours = np.array([[59, 131, 214, 255], [217, 115, 26, 128], [0, 0, 0, 0]], np.uint8)
    pixels = colours[np.arange(30 * 40).reshape(30, 40) // 7 % 3]
    found = through(pixels, [0, 1, 2, 3, 4] * 6)
    assert np.abs(found.astype(int) - pixels).max() <= 1
    np.testing.assert_array_equal(found[..., 3], pixels[..., 3])


def test_many_colours_become_near_ones() -> None:
    ramp = np.arange(64 * 64).reshape(64, 64)
    full = np.full_like(ramp, 255)
    pixels = np.stack([ramp % 256, ramp // 16, full // 6, full], axis=2).astype(np.uint8)
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 2000
    found = through(pixels, [1] * 64)
    assert np.abs(found.astype(int) - pixels).max() <= 32
    assert len(np.unique(found.reshape(-1, 4), axis=0)) > 50


def test_a_palette_is_much_smaller() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 3, (60, 60, 1)).astype(np.uint8) * np.array([40, 50, 60, 100], np.uint8)
    pixels[..., 3] = 255
    png = on(pixels, 0, [0] * 60)
    assert len(transparent_png(png, on(pixels, 255, [0] * 60))) < len(png) / 5


def test_files_that_are_not_read_are_refused() -> None:
    png = written(np.zeros((2, 50, 4), np.uint8), [0, 0])
    with pytest.raises(ValueError, match="not a PNG"):
        transparent_png(b"GIF89a", png)
    with pytest.raises(ValueError, match="kind"):
        transparent_png(png.replace(b"\x08\x06\x00\x00\x00", b"\x08\x02\x00\x00\x00"), png)
    with pytest.raises(ValueError, match="size"):
        transparent_png(png, written(np.zeros((3, 50, 4), np.uint8), [0, 0, 0]))


def test_half_transparent_marks_of_vl_convert_keep_their_colour() -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="drawing needs the extra `book`")
    spec = {
        "data": {"values": [{}]},
        "width": 40,
        "height": 40,
        "mark": {"type": "rect", "color": "#d9731a", "opacity": 0.5},
        "encoding": {"x": {"value": 0}, "x2": {"value": 40}, "y": {"value": 0}, "y2": {"value": 40}},
    }
    pictures = (vl_convert.vegalite_to_png({**spec, "background": c}, vl_version="6.4") for c in ("black", "white"))
    found = read(transparent_png(*pictures))
    middle = found[found.shape[0] // 2, found.shape[1] // 2]
    assert np.abs(middle.astype(int) - [0xD9, 0x73, 0x1A, 128]).max() <= 2
