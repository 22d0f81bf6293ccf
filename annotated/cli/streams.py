"""Standard streams of a command that were closed by its caller, as `annotated translate <&-` does."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any

_NAMES = {"stdin": "standard input", "stdout": "standard output"}
_STDERR = 2


class ClosedStream(io.TextIOBase):
    """What stands for a standard stream that is closed: whoever uses it gets an error that says so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self, *arguments: Any) -> Any:
        raise OSError(errno.EBADF, f"{self._name} is closed")

    read = readline = write = _refuse  # type: ignore[assignment]
    buffer = property(_refuse)


def replace_closed_streams() -> None:
    """Put something in the place of standard streams that are None, and keep files from getting their numbers."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)
    for name, words in _NAMES.items():
        if getattr(sys, name) is None:
            setattr(sys, name, ClosedStream(words))
    if sys.stderr is None:  # nobody reads messages: they go nowhere
        sys.stderr = os.fdopen(os.dup(_STDERR), "w", encoding="utf-8")


def escape_what_the_output_lacks() -> None:
    """Print what standard output cannot encode as escapes such as \\u221a: pipes on Windows are not in UTF-8."""
    with contextlib.suppress(AttributeError):
        if sys.stdout.errors in ("strict", "surrogateescape"):  # the second where the locale is C
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def write_text_in_utf_8() -> None:
    """For commands whose output is text, which goes into files and other programs as it came out of them."""
    with contextlib.suppress(AttributeError):
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]


def flush_output() -> None:
    """Write what was printed, so that a reader who has left, or a full disk, is noticed now and not after the end.

    Raises
    ------
    OSError
        If it cannot be written; what is left of it is dropped.
    """
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()
        raise


def drop_output() -> None:
    """Let standard output go nowhere: Python writes out what is left of it at the end."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
