"""Lines of text files, plain or compressed, as a stream; each way in which a file can be broken has its message."""

from __future__ import annotations

import codecs
import gzip
import re
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import BinaryIO

import zstandard

_CHUNK_BYTES = 1 << 16
_LONGEST_LINE = 1 << 24
_MARK = codecs.BOM_UTF8
_LARGEST_WINDOW = 1 << 31
_FOREIGN = (
    (rb"\x1f\x8b", "gzip data", "name it so: mv {0} {0}.gz"),
    (rb"\x28\xb5\x2f\xfd", "Zstandard data", "name it so: mv {0} {0}.zst"),
    (rb"BZh[1-9]1AY&SY", "bzip2 data", "unpack it: bzip2 -dc {0} > {1}"),
    (rb"\xfd7zXZ", "xz data", "unpack it: xz -dc {0} > {1}"),
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it (unzip {0}), or save it as CSV in UTF-8"),
    (rb"PAR1", "a Parquet table", "convert it: python3 -c 'import pandas, sys; print(end=pandas.read_parquet("
     "sys.argv[1]).to_json(orient=\"records\", lines=True, force_ascii=False))' {0} > {1}.jsonl"),
    (rb"%PDF-", "a PDF", "save its text in UTF-8, one sentence a line"),
    (rb"\{\\rtf|\xd0\xcf\x11\xe0", "a document of an office program", "save it as plain text, or as CSV, in UTF-8"),
    (rb"ARROW1|SQLite format 3|(?s:.{257}ustar)", "a data base or an archive", "take the text out of it, in UTF-8"),
)  # fmt: skip
"""What is no text by its first bytes: a pattern, its name, and what to do."""
_MAGIC = {".gz": (b"\x1f\x8b", "gzip"), ".zst": (b"\x28\xb5\x2f\xfd", "Zstandard")}


class CorpusError(ValueError):
    """A corpus cannot be found or read; the message names the file, the line, and what to do."""


class _Truncated(Exception):
    """The compressed data end before their end mark."""


def read_lines(path: str | Path) -> Iterator[str]:
    r"""Lines of a UTF-8 file, without line ends ("\n", "\r\n", "\r\r\n"), in constant memory.

    Only "\n" ends a line: other characters that Unicode counts as line breaks stay inside it. A byte-order mark at
    the beginning is dropped, and so is one at the beginning of a later line, where `cat` has joined two files.

    Parameters
    ----------
    path
        Plain text, or compressed if the name ends in .gz or .zst. A .zst file decides itself how much of its text
        the decompressor must keep: 8 MB as a rule, up to 128 MB for `zstd --ultra`, up to 2 GB for `zstd --long`.

    Raises
    ------
    CorpusError
        If the file is missing, unreadable, not what its name says, truncated, or not UTF-8.
    """
    path = Path(path)
    yield from decoded_lines(raw_lines(path), str(path), path.name)


def decoded_lines(lines: Iterable[bytes], name: str, file: str = "FILE") -> Iterator[str]:
    """Lines of a file or a stream as text.

    Parameters
    ----------
    lines
        With or without their line ends.
    name, file
        What messages call the text, and a file of it in the commands that they give.

    Raises
    ------
    CorpusError
        If a line is not UTF-8, or the text is none; after the lines before it have been given out.
    """
    letters, number, line = False, 0, ""
    for number, raw in enumerate(lines, start=1):
        if number == 1:
            _require_text(raw, name, file)
            if raw.count(0) > len(raw) / 4:  # letters of ASCII in UTF-16 without a mark: UTF-8 by the letter
                raise CorpusError(f"{name}, line 1: a quarter of its bytes are zero; {encoding_advice(raw, file)}")
        try:
            line = raw.removeprefix(_MARK).rstrip(b"\r\n").decode("utf-8")
        except UnicodeDecodeError as error:
            advice = encoding_advice(raw, file)
            if letters:
                advice = "lines before it are, so this line is in another encoding, and not the file: mend it"
            raise CorpusError(
                f"{name}, line {number}: byte {raw[error.start]:#04x} at position {error.start + 1} of the line is not "
                f"UTF-8; {advice}"
            ) from None
        letters = letters or not line.isascii()
        yield line
    if number == 1 and "\r" in line:
        raise CorpusError(f"{name}: its lines end as on old Macs; convert it: tr '\\r' '\\n' < {file} > {file}.txt")


def raw_lines(path: Path, *, once: bool = False) -> Iterator[bytes]:
    r"""Lines of a file as bytes, without "\n": for those who decode many at once.

    Parameters
    ----------
    once
        Whether the file is read this once, so that it may be a pipe.

    Raises
    ------
    CorpusError
        As `read_lines`, but for the decoding.
    """
    number = 0
    try:
        if not once and not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            raise CorpusError(f"{path}: a pipe or a device, and text is read more than once: write it to a file first")
        with open(path, "rb") as file:
            for raw in _split(path, _chunks(path, file)):
                number += 1
                yield raw
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file; check the path, or download the corpus first") from None
    except IsADirectoryError:
        raise CorpusError(f"{path}: a folder, not a file; name the file inside it") from None
    except _Truncated:
        raise CorpusError(
            f"{path}: incomplete: its compressed data break off after line {number}; download or copy the file again"
        ) from None
    except (zlib.error, zstandard.ZstdError, gzip.BadGzipFile) as error:
        raise CorpusError(f"{path}: damaged after line {number} ({error}); download or copy the file again") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror or error})") from None


def _require_text(beginning: bytes, name: str, file: str) -> None:
    """Raise `CorpusError` if a text begins as other data do; `file` is what the command in the message names."""
    for pattern, called, advice in _FOREIGN:
        if re.match(pattern, beginning):
            made = file.rpartition(".")[0] if file.endswith((".bz2", ".xz", ".parquet")) else f"{file}.txt"
            raise CorpusError(f"{name}: {called}, not text; {advice.format(quote(file), quote(made))}")


def encoding_advice(raw: bytes, name: str) -> str:
    """How to convert text whose line `raw` is not UTF-8: every second byte of UTF-16 is zero in most languages."""
    marks = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    marked = next((coding for mark, coding in marks.items() if raw.startswith(mark)), None)
    if marked or raw.count(0) > len(raw) / 4:
        coding = marked or ("utf-16be" if raw.startswith(b"\0") else "utf-16le")
        return f"it looks like {coding.upper()}, so convert it: iconv -f {coding} -t utf-8 {name}"
    controls = re.search(rb"[\x80-\x9f]", raw)  # no letters of Latin-1
    known, coding = ("Windows-1252", "windows-1252") if controls else ("Latin-1", "latin1")
    return (
        f"if it is in {known}, convert it: iconv -f {coding} -t utf-8 {name}; else with the name of its own encoding, "
        "such as gb18030, shift_jis or koi8-r"
    )


def _split(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines out of chunks. A last line without a line end counts, unless the chunks end with an error."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > _LONGEST_LINE:  # a binary file, most likely: do not collect it in memory
            raise CorpusError(f"{path}: a line of over {_LONGEST_LINE:,} bytes; is this text, one sentence a line?")
    if rest:
        yield rest


def _chunks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The decompressed bytes of a file."""
    if path.suffix not in _MAGIC:
        beginning = file.peek(16)  # type: ignore[attr-defined]
        _require_text(beginning, str(path), str(path))
        yield from iter(lambda: file.read1(_CHUNK_BYTES), b"")  # type: ignore[attr-defined]
        return
    magic, name = _MAGIC[path.suffix]
    beginning = file.read(len(magic))
    file.seek(0)
    if not beginning:
        return
    if not magic.startswith(beginning):
        raise CorpusError(f"{path}: not {name} data, whatever its name says; rename the file, or download it again")
    yield from _gzip_chunks(file) if path.suffix == ".gz" else _zstandard_chunks(file)


def _gzip_chunks(file: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as unpacked:
        try:
            yield from iter(lambda: unpacked.read1(_CHUNK_BYTES), b"")
        except EOFError:
            raise _Truncated from None


def _zstandard_chunks(file: BinaryIO) -> Iterator[bytes]:
    """All frames of a Zstandard file. The library's own reader takes a truncated frame for a complete one."""
    frame = None
    while packed := file.read(_CHUNK_BYTES):
        while packed:
            frame = frame or zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
            yield frame.decompress(packed)
            packed = frame.unused_data
            if frame.eof:
                frame = None
    if frame is not None:
        raise _Truncated
