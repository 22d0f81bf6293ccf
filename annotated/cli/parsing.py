"""Parsing of a command line by tyro, with the messages of wrong options in this program's own form."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import sys
from collections.abc import Sequence
from typing import Any

import tyro

_VALUE_ERROR = "Value error"
_WRAPPED = re.compile(r"Error parsing (?:__\S+: )?")
"""How tyro begins such a message; before what a configuration refuses comes the name of a field of its own."""


_FRAME = set("─-╭╮╰╯│|+ ")
"""What the frame of a message is made of, on terminals with and without such characters."""
_AFTER = ("Argument helptext", "For full helptext")
"""How what follows the message begins."""


def parse(commands: Any, arguments: Sequence[str], description: str) -> Any:
    """The command that a command line names, with its options.

    Raises
    ------
    SystemExit
        After --help, and after the message about a wrong option, which is on standard error.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(commands, prog="annotated", description=description, args=list(arguments))
    except SystemExit:
        sys.stderr.write(_in_our_form(said.getvalue()))
        raise


def _in_our_form(message: str) -> str:
    """A value that a configuration refuses is one line, as every error is; other messages stay in their box."""
    if _VALUE_ERROR not in message.partition("\n")[0]:
        return message
    inside = [
        line.strip("│| ") for line in message.splitlines() if not set(line) <= _FRAME and _VALUE_ERROR not in line
    ]
    said = " ".join(itertools.takewhile(lambda line: not line.startswith(_AFTER), inside))
    return f"annotated: {_WRAPPED.sub('', said)}\n"
