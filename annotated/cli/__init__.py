"""The command line: `annotated data|preflight|dry-run|train|finish|evaluate|translate|average|export|info|...`.

Each command is a dataclass whose fields are its options; `program` reads them with tyro and runs them. Nothing here
needs torch before a command runs, and Ctrl-C is caught before anything else is imported.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotated.cli.interrupts import INTERRUPTED, CommandInterrupts

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status.

    0: done. 1: it failed while running. 2: the command or its input was wrong. 128 + n: ended by signal n.

    Parameters
    ----------
    arguments
        None takes those of the process, which ends when this returns.
    """
    with CommandInterrupts(until_exit=arguments is None):
        from annotated.cli.program import run

        return run(arguments)
    return INTERRUPTED
