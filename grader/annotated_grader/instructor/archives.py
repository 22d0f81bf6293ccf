"""Archives: what a zip file of a student holds, without unpacking it; nothing in it is believed."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from dataclasses import dataclass

from annotated_grader.exercise.submission import BadSubmission, most_bytes, read_bytes

MOST_ENTRIES = 1000
_LONGEST_NAME = 500
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compressions of which zipfile never unpacks more than it is asked for."""


@dataclass(frozen=True)
class Member:
    """One entry, by its name and its place in the list of entries: two may have one name."""

    name: str
    number: int


def members(data: bytes) -> list[Member]:
    """The entries of an archive.

    Raises
    ------
    BadSubmission
        If it cannot be read, or if one entry is no accident, such as a path that leads outside.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except Exception as error:  # whatever strangers' bytes do to a parser
        raise BadSubmission(f"the archive cannot be read: {str(error)[:200] or type(error).__name__}") from None
    if len(entries) > MOST_ENTRIES:
        raise BadSubmission(f"the archive has {len(entries):,} entries, more than {MOST_ENTRIES:,}")
    for entry in entries:
        if reason := _why_not(entry):
            raise BadSubmission(f"the archive has {reason}")
    return [Member(entry.filename, number) for number, entry in enumerate(entries) if not entry.is_dir()]


def read_member(data: bytes, member: Member) -> bytes:
    """The bytes of one entry.

    Raises
    ------
    BadSubmission
        If the archive is no longer the one that was listed.
    Exception
        Whatever zipfile and its decompression raise.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len(entries) <= member.number or entries[member.number].filename != member.name:
            raise BadSubmission("the archive was changed while it was read")
        if reason := _why_not(entries[member.number]):
            raise BadSubmission(f"the archive has {reason}")
        with archive.open(entries[member.number]) as file:
            return read_bytes(file, member.name)


def _why_not(entry: zipfile.ZipInfo) -> str:
    """What is wrong with an entry; empty if nothing is."""
    shown, name = repr(entry.filename[:80]), entry.filename.replace("\\", "/")
    if len(name) > _LONGEST_NAME:
        return f"a name of {len(name):,} characters"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/"):
        return f"a path that leads outside: {shown}"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return f"a symbolic link: {shown}"
    if entry.file_size > (most := most_bytes(name)):
        return f"an entry of {entry.file_size:,} bytes, more than {most:,}"
    if entry.compress_type not in _BOUNDED:
        return f"an entry in a compression other than deflate: {shown}"
    return ""
