"""Parsing of a command line by tyro: which command it names, and its options."""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import tyro

from annotated.cli.messages import in_one_line
from annotated.cli.values import values

HELP = {"-h", "--help", "-H", "--help-verbose"}
_NO_BREAKS = "10000"
"""Columns of a terminal on which no message is broken into lines."""


def parse(commands: Any, arguments: Sequence[str], description: str, least: int | None = None) -> Any:
    """The command that a command line names, with its options.

    Parameters
    ----------
    commands
        A union of `Annotated[Command, tyro.conf.subcommand(name)]`, where a command may be such a union again.
    least
        Of all numbers; None for no limit.

    Raises
    ------
    ValueError
        If there is no such command.
    SystemExit
        After --help, and after the message about a wrong option, which is on standard error.
    """
    named, command, below = _find(commands, arguments)
    if below:
        print(_listing(named, below, description))
        raise SystemExit(0)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), _columns(not HELP.intersection(arguments)):
            return tyro.cli(  # the one command: to read the options of all takes twice as long
                command.__origin__,
                prog=" ".join(["annotated", *named]),
                default=command.__metadata__[0].default,
                args=list(arguments[len(named) :]),
                registry=values(least),
            )
    except SystemExit:
        if said.getvalue():
            sys.stderr.write(f"annotated: {in_one_line(said.getvalue(), named, arguments)}\n")
        raise


_MEANT = {"report": ["info"], "bug": ["info"]}
"""Commands that people look for by other names."""


def _table(commands: Any) -> dict[str, Any]:
    """Commands by name; none for one that has no commands below it."""
    found = [one for one in get_args(commands) if hasattr(one, "__metadata__")]
    return {one.__metadata__[0].name: one for one in found}


def _find(commands: Any, arguments: Sequence[str]) -> tuple[list[str], Any, dict[str, Any]]:
    """The words that name a command, the command, and, if help is wanted for all below it, these by name.

    Raises
    ------
    ValueError
        If one of the words is missing, or names none.
    """
    named: list[str] = []
    found: Any = None
    for word in [*arguments, ""]:
        table = _table(commands)
        if not table or word in HELP:
            return named, found, table
        before = " ".join(["annotated", *named])
        if not word:
            raise ValueError(f"{before} needs one of {', '.join(table)}; {before} --help says more")
        if word not in table:
            kind = "option" if word.startswith("-") else "command"
            options = [] if named else ["--version"]
            near = (not named and _MEANT.get(word, [])) or difflib.get_close_matches(
                word, [*table, *options, "--help"], n=1
            )
            hint = f"did you mean {before} {near[0]}?" if near else f"there are {', '.join(table)}"
            raise ValueError(f"no {kind} {word!r} of {before}; {hint}")
        named.append(word)
        found = table[word]
        commands = found.__origin__
    raise AssertionError("the loop ends at the empty word")


def _listing(named: Sequence[str], table: dict[str, Any], description: str) -> str:
    """What is said by --help of commands below one: a line for each, so that a screen holds them all."""
    lines = [f"usage: {' '.join(['annotated', *named])} [-h] {{{','.join(table)}}}", ""]
    lines += [] if named else [description]
    width = max(map(len, table))
    for name, one in table.items():
        about = one.__metadata__[0].description or one.__origin__.__doc__ or ""
        sentence = re.split(r"[.:;](?:\s|$)", about.strip())[0]
        lines.append(f"  {name:<{width}}  {sentence}")
    return "\n".join(lines)


@contextlib.contextmanager
def _columns(unbroken: bool) -> Iterator[None]:
    """Let messages of tyro be as wide as they need, so that nothing of theirs is broken into lines."""
    before = os.environ.get("COLUMNS")
    try:
        if unbroken:
            os.environ["COLUMNS"] = _NO_BREAKS
        yield
    finally:
        if before is None:
            os.environ.pop("COLUMNS", None)
        else:
            os.environ["COLUMNS"] = before
