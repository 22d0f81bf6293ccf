"""Isolation levels: how strangers' code is closed in, and which level works on this machine.

Three levels. `bubblewrap`: namespaces of its own (no network, no other processes, a file system with Python in it and
nothing more), another user, limits, and a filter of system calls. `landlock`: the same limits and filter, and a kernel
rule that only Python's files can be read, and files made only in a folder that is deleted afterwards; for machines that
forbid namespaces. It hides the contents of files, and not their names, sizes and times, and bounds neither the number
of files in that folder nor, where root grades, of threads. `none`: limits only, where there is neither; for code that
you trust.

A folder's answers are served by copies of one process that has torch, each within walls of its own that bubblewrap
built for it (`lending`, `template`). They share what that process was when it had loaded torch, such as the places of
the libraries in memory and the seed of Python's hashes, and nothing that any of them did.

No level hides where the interpreter and its packages lie on the grading machine: an answer that imports them can read
their paths, and /proc/self/mountinfo has them too. None of these paths is a secret, and no check depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from annotated_grader.sandbox.process import GraderBroken, Level, Process, SandboxLimits

LEVELS: tuple[Level, ...] = ("bubblewrap", "landlock", "none")
"""From the strongest to none at all."""


class NotIsolated(RuntimeError):
    """Strangers' code would run without isolation."""


@dataclass(frozen=True)
class Availability:
    """Whether a level works here, found out by running it; if not, the reason."""

    level: Level
    works: bool
    reason: str = ""


@cache
def available(level: Level) -> Availability:
    """Start a process at this level, and see whether it is as closed as it must be."""
    try:
        Process(level, SandboxLimits(), probe=True).close()
    except (GraderBroken, OSError) as error:
        return Availability(level, False, str(error))
    return Availability(level, True)


def best_level(trust: bool = False) -> Level:
    """The strongest level that works here.

    Raises
    ------
    NotIsolated
        If it is `none` and the code is not trusted.
    """
    reasons = []
    for level in LEVELS[:-1]:
        found = available(level)
        if found.works:
            return level
        reasons.append(f"{level}: {found.reason}")
    if trust:
        return "none"
    raise NotIsolated(
        f"this machine cannot isolate strangers' code ({'; '.join(reasons)}). Install bubblewrap (Debian: apt install "
        "bubblewrap), or grade on a Linux machine of its own; --trust runs the code as you, with all that you can do"
    )
