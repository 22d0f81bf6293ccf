"""Archives: what a zip file holds, without unpacking it; nothing in it is believed.

A student's archive is small. That of a class is what a learning platform makes: large, and with students' archives in
it. So an archive is never read whole: it is opened where it lies, and its entries are read one by one.
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from annotated_grader.exercise.submission import BadSubmission, most_bytes, read_bytes

MOST_ENTRIES = 20_000
_LONGEST_NAME = 500
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions of which zipfile never unpacks more than it is asked for."""
Source = Callable[[], BinaryIO]
"""Opens an archive."""


@dataclass(frozen=True)
class Member:
    """One entry, by its name and its place in the list of entries: two may have one name.

    Attributes
    ----------
    shown
        Its name as its maker wrote it, with `/` between folders.
    refused
        Why it will not be read; empty if it may be.
    """

    name: str
    number: int
    shown: str = ""
    refused: str = ""


def members(source: Source) -> list[Member]:
    """The entries of an archive.

    Raises
    ------
    BadSubmission
        If it cannot be read, or if the path of one entry leads outside, which is no accident.
    """
    try:
        with source() as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except BadSubmission:
        raise
    except Exception as error:  # whatever strangers' bytes do to a parser
        raise BadSubmission(f"the archive cannot be read: {str(error)[:200] or type(error).__name__}") from None
    if len(entries) > MOST_ENTRIES:
        raise BadSubmission(f"the archive has {len(entries):,} entries, more than {MOST_ENTRIES:,}")
    for entry in entries:
        if reason := _is_attack(entry):
            raise BadSubmission(f"the archive has {reason}")
    return [
        Member(entry.filename, number, _shown(entry), _why_not(entry))
        for number, entry in enumerate(entries)
        if not entry.is_dir() and not _shown(entry).endswith("/")
    ]


def read_member(source: Source, member: Member) -> bytes:
    """The bytes of one entry.

    Raises
    ------
    BadSubmission
        If it is refused, or if the archive is no longer the one that was listed.
    Exception
        Whatever zipfile and its decompression raise.
    """
    with source() as file, zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) <= member.number or entries[member.number].filename != member.name:
            raise BadSubmission("the archive was changed while it was read")
        if reason := _is_attack(entries[member.number]) or _why_not(entries[member.number]):
            raise BadSubmission(f"the archive has {reason}")
        with archive.open(entries[member.number]) as opened:
            return read_bytes(opened, member.name)


def member_as_source(source: Source, member: Member) -> Source:
    """An archive that lies in another one."""
    return lambda: io.BytesIO(read_member(source, member))


def _shown(entry: zipfile.ZipInfo) -> str:
    """The name of an entry. macOS writes UTF-8 without saying so, and some Windows programs write backslashes."""
    name = entry.filename
    if not entry.flag_bits & 0x800 and not name.isascii():
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _is_attack(entry: zipfile.ZipInfo) -> str:
    """What is wrong with an entry that no honest program writes; empty if nothing is."""
    shown, name = repr(entry.filename[:80]), entry.filename.replace("\\", "/")
    if len(name) > _LONGEST_NAME:
        return f"a name of {len(name):,} characters"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/"):
        return f"a path that leads outside: {shown}"
    return ""


def _why_not(entry: zipfile.ZipInfo) -> str:
    """Why an entry is not read; empty if it may be. Its neighbours are."""
    shown = repr(entry.filename[:80])
    if stat.S_ISLNK(entry.external_attr >> 16):
        return f"a symbolic link: {shown}"
    if entry.file_size > (most := most_bytes(entry.filename)):
        return f"an entry of {entry.file_size:,} bytes, more than {most:,}"
    if entry.compress_type not in _BOUNDED:
        return f"an entry in a compression other than deflate: {shown}"
    return ""
