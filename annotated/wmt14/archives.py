"""Wanted files out of an archive, and nothing else: no name in the archive decides where anything is written."""

from __future__ import annotations

import contextlib
import difflib
import errno
import gzip
import io
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import IO

LARGEST_RATIO = 50
"""Text shrinks to a third or a quarter, the most monotonous to a tenth. What swells by more than this is no corpus."""

_FREE_BYTES = 1 << 26
_BLOCK_BYTES = 1 << 20
_NAMES_SHOWN = 30
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile, NotImplementedError)


class ArchiveError(RuntimeError):
    """An archive is damaged, unsafe, or lacks what is wanted; the message names the archive and says what to do."""


def extract(archive: Path, members: Mapping[str, str], folder: Path, *, largest: int | None = None) -> dict[str, Path]:
    """Take some files out of an archive: all of them, or none.

    The archive is read once, to its end, so that its own checksums are checked too. A file that is there has all its
    bytes; if the process is killed between two renames, some are there, and the next call brings the others.

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

    Returns
    -------
    The path of each member, by its name in the archive.

    Raises
    ------
    ArchiveError
        If the archive is damaged, unfolds to too much, or lacks a member (the message lists what it holds), if a
        wanted member is a link or a device, or if the disk is full.
    ValueError
        If a file name of `members` is not a plain name.
    """
    for name in members.values():
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name:
            raise ValueError(f"{name!r} is not a plain file name: it must not lead out of {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".partial-{archive.name}"
    shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
    partial.mkdir()
    try:
        _take(archive, members, partial, largest)
        for name in members.values():
            os.replace(partial / name, folder / name)
    except _DAMAGE as error:
        raise ArchiveError(
            f"{archive}: damaged or incomplete ({str(error) or type(error).__name__}); delete it and download it again"
        ) from None
    except OSError as error:
        raise _named(error, archive, folder) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return {member: folder / name for member, name in members.items()}


def _take(archive: Path, members: Mapping[str, str], partial: Path, largest: int | None) -> None:
    """Write the wanted members into an empty folder."""
    largest = max(_FREE_BYTES, LARGEST_RATIO * archive.stat().st_size) if largest is None else largest
    wanted = {_plain(name): file for name, file in members.items()}
    held: list[str] = []
    found = set()
    with contextlib.closing(_contents(archive, largest)) as contents:
        for name, stream, obstacle in contents:
            held.append(name)
            if _plain(name) not in wanted:
                continue
            if stream is None:
                raise ArchiveError(
                    f"{archive}: {name} is {obstacle} there and not a file; this is not the archive it should be"
                )
            with open(partial / wanted[_plain(name)], "wb") as file:
                shutil.copyfileobj(stream, file, _BLOCK_BYTES)
                file.flush()
                os.fsync(file.fileno())
            found.add(_plain(name))
    if missing := [name for name in members if _plain(name) not in found]:
        raise ArchiveError(_lacks(archive, missing, held))


def _plain(name: str) -> str:
    return name.removeprefix("./")


_Content = tuple[str, IO[bytes] | None, str]
"""Name, stream of the bytes, and what it is if it has none."""


def _contents(archive: Path, largest: int) -> Generator[_Content, None, None]:
    """All that an archive holds, in order; each stream is to be read before the next one is asked for."""
    with open(archive, "rb") as file:
        beginning = file.read(4)
        file.seek(0)
        if beginning.startswith(b"PK"):
            yield from _zip_contents(archive, file, largest)
        elif beginning.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield from _tar_contents(archive, _Limited(unpacked, largest, archive))
        else:
            yield from _tar_contents(archive, _Limited(file, largest, archive))


def _tar_contents(archive: Path, file: _Limited) -> Generator[_Content, None, None]:
    empty = True
    with tarfile.open(fileobj=io.BufferedReader(file, _BLOCK_BYTES), mode="r|", bufsize=_BLOCK_BYTES) as tar:
        for info in tar:
            empty = False
            if info.isreg():
                yield info.name, tar.extractfile(info), ""
            elif info.issym() or info.islnk():
                yield info.name, None, "a link"
            else:
                yield info.name, None, "a folder" if info.isdir() else "a device"
    while file.read(_BLOCK_BYTES):  # what follows the end of the tar file, and the checksum of gzip
        pass
    if empty:
        raise tarfile.ReadError("nothing in it")


def _zip_contents(archive: Path, file: IO[bytes], largest: int) -> Generator[_Content, None, None]:
    with zipfile.ZipFile(file) as packed:
        if sum(info.file_size for info in packed.infolist()) > largest:
            raise _too_large(archive, largest)
        for info in packed.infolist():
            kind = info.external_attr >> 16
            if info.is_dir():
                yield info.filename, None, "a folder"
            elif stat.S_IFMT(kind) not in (0, stat.S_IFREG):
                yield info.filename, None, "a link" if stat.S_ISLNK(kind) else "a device"
            elif info.flag_bits & 1:
                yield info.filename, None, "encrypted"
            else:
                with packed.open(info) as stream:
                    yield info.filename, stream, ""


class _Limited(io.RawIOBase):
    """A stream that breaks off with an error when it gives more than it should: a bomb goes off here."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, largest: int, archive: Path) -> None:
        self._stream, self._largest, self._archive, self._given = stream, largest, archive, 0

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


def _lacks(archive: Path, missing: list[str], held: list[str]) -> str:
    near = [name for wanted in missing for name in difflib.get_close_matches(wanted, held, n=3, cutoff=0.5)]
    shown = list(dict.fromkeys([*near, *held]))[:_NAMES_SHOWN]
    more = f", and {len(held) - len(shown)} more" if len(held) > len(shown) else ""
    return (
        f"{archive}: does not hold {', '.join(missing)}. It holds {', '.join(shown) or 'nothing'}{more}. If one of "
        "these is the file, write its name into a catalogue of your own"
    )


def _named(error: OSError, archive: Path, folder: Path) -> ArchiveError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        free = shutil.disk_usage(folder).free
        return ArchiveError(
            f"{folder}: the disk is full ({free / 1e6:,.0f} MB are free); nothing of {archive.name} was taken out. "
            "Free several times the size of the archive, then run the same command again"
        )
    return ArchiveError(
        f"{error.filename or archive}: {error.strerror or error}; download it again, or see who may read"
    )
