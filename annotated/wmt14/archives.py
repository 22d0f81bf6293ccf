"""Archives: wanted files out of them, and nothing else; no name in an archive decides where anything is written."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import io
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import IO

from annotated.storage import DiskFull, fsync, translate_disk_full

LARGEST_RATIO = 50
"""Text shrinks to a third or a quarter, the most monotonous to a tenth. What swells by more than this is no corpus."""

_FREE_BYTES = 1 << 26
_BLOCK_BYTES = 1 << 20
_NAMES_SHOWN = 30
_ADVICE = "Nothing of {} was taken out: free several times its size, then run the same command again"
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile, NotImplementedError)


class ArchiveError(RuntimeError):
    """An archive is damaged, unsafe, or lacks what is wanted; the message names the archive and says what to do."""


def extract(
    archive: Path,
    members: Mapping[str, str],
    folder: Path,
    *,
    largest: int | None = None,
    advice: str = "If one of these is the file, write its name into a catalogue of your own",
) -> dict[str, Path]:
    """Take some files out of an archive: all of them, or none.

    The archive is read once, to its end, so that its own checksums are checked too. If the process is killed while
    the files are renamed, some are there, each with all its bytes, and the next call brings the others.

    Parameters
    ----------
    archive
        A tar file, plain or compressed by gzip, or a zip file; what it is, its first bytes say, and not its name.
    members
        For each wanted name inside the archive, the plain file name to give it. A member that is itself a .gz file
        stays one.
    folder
        Where the files go; made if it is not there. Files of these names are replaced.
    largest
        Most bytes that the archive may unfold to; by default fifty times its own size, and at least 64 MiB.
    advice
        What to do about an archive without a wanted member: the end of the message.

    Returns
    -------
    The path of each member, by its name in the archive.

    Raises
    ------
    ArchiveError
        If the archive is damaged, unfolds to too much, or lacks a member (the message lists what it holds), or if a
        wanted member is a link or a device, or if the archive cannot be read.
    DiskFull
        If the disk is full; nothing was taken out.
    ValueError
        If a file name of `members` is not a plain name.
    """
    for name in members.values():
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name:
            raise ValueError(f"{name!r} is not a plain file name: it must not lead out of {folder}")
    partial = folder / f".partial-{archive.name}"
    shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
    try:
        with translate_disk_full(folder, _ADVICE.format(archive.name)):
            partial.mkdir(parents=True)
            _take(archive, {name.removeprefix("./"): file for name, file in members.items()}, partial, largest, advice)
            for name in members.values():  # all are whole by now: of a damaged archive nothing gets its name
                fsync(partial / name)
                (partial / name).replace(folder / name)
    except _DAMAGE as error:
        raise ArchiveError(
            f"{archive}: damaged or incomplete ({str(error) or type(error).__name__}); delete it and download it again"
        ) from None
    except DiskFull:
        raise
    except OSError as error:
        raise ArchiveError(
            f"{error.filename or archive}: {error.strerror or error}; download it again, or see who may read"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {member: folder / name for member, name in members.items()}


def _take(archive: Path, wanted: Mapping[str, str], partial: Path, largest: int | None, advice: str) -> None:
    """Write the wanted members into an empty folder."""
    largest = max(_FREE_BYTES, LARGEST_RATIO * archive.stat().st_size) if largest is None else largest
    held: list[str] = []
    with open(archive, "rb") as file:
        kind = _zip_contents if file.read(2) == b"PK" else _tar_contents
        file.seek(0)
        with contextlib.closing(kind(file, archive, largest)) as contents:
            for name, content in contents:
                held.append(name)
                if (inside := name.removeprefix("./")) not in wanted:
                    continue
                if isinstance(content, str):
                    raise ArchiveError(
                        f"{archive}: {name} is {content} there and not a file; this is not the archive it should be"
                    )
                with content, open(partial / wanted[inside], "wb") as made:
                    shutil.copyfileobj(content, made, _BLOCK_BYTES)
    if missing := wanted.keys() - {name.removeprefix("./") for name in held}:
        raise ArchiveError(_lacks(archive, [name for name in wanted if name in missing], held, advice))


_Contents = Generator[tuple[str, IO[bytes] | str], None, None]
"""Names of all that an archive holds, each with its bytes, to be read before the next, or with what it is instead."""


def _tar_contents(file: IO[bytes], archive: Path, largest: int) -> _Contents:
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    limited = _Limited(gzip.GzipFile(fileobj=file) if is_packed else file, archive, largest)
    empty = True
    with tarfile.open(fileobj=io.BufferedReader(limited, _BLOCK_BYTES), mode="r|", bufsize=_BLOCK_BYTES) as tar:
        for info in tar:
            empty = False
            stream = tar.extractfile(info) if info.isreg() else None
            other = "a link" if info.issym() or info.islnk() else "a folder" if info.isdir() else "a device"
            yield info.name, stream or other
    while limited.read(_BLOCK_BYTES):  # what follows the end of the tar file, and the checksum of gzip
        pass
    if empty:
        raise tarfile.ReadError("nothing in it")


def _zip_contents(file: IO[bytes], archive: Path, largest: int) -> _Contents:
    with zipfile.ZipFile(file) as packed:
        if sum(info.file_size for info in packed.infolist()) > largest:
            raise _too_large(archive, largest)
        for info in packed.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                yield info.filename, "a folder"
            elif kind not in (0, stat.S_IFREG):
                yield info.filename, "a link" if kind == stat.S_IFLNK else "a device"
            elif info.flag_bits & 1:
                yield info.filename, "encrypted"
            else:
                yield info.filename, packed.open(info)


class _Limited(io.RawIOBase):
    """A stream that fails when it has given too much."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, archive: Path, largest: int) -> None:
        self._stream, self._archive, self._largest, self._given = stream, archive, largest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        self._given += len(block)
        if self._given > self._largest:
            raise _too_large(self._archive, self._largest)
        return len(block)


def _too_large(archive: Path, largest: int) -> ArchiveError:
    size = archive.stat().st_size
    return ArchiveError(
        f"{archive}: unfolds to more than {largest / 1e6:,.0f} MB, from {size / 1e6:,.1f} MB; that is "
        "no text corpus. If it is yours and in order, unpack it yourself and name the files"
    )


def _lacks(archive: Path, missing: list[str], held: list[str], advice: str) -> str:
    near = [name for wanted in missing for name in difflib.get_close_matches(wanted, held, n=3, cutoff=0.5)]
    shown = list(dict.fromkeys([*near, *held]))[:_NAMES_SHOWN]
    more = f", and {len(held) - len(shown)} more" if len(held) > len(shown) else ""
    return f"{archive}: does not hold {', '.join(missing)}. It holds {', '.join(shown) or 'nothing'}{more}. {advice}"
