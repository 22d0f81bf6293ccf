"""Mounts of the sandbox: the files that a Python in it needs, and those that it must not see.

It needs the interpreter, the standard library, the installed packages and the system's shared libraries. It must see
neither the grader's checks and solutions nor anything else of the machine.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy
import safetensors
import torch

import annotated

PACKAGE = Path(annotated.__file__).resolve().parent
"""The library's own folder."""
_HERE = Path(__file__).resolve().parent
_GRADER = _HERE.parent
_BESIDE_THE_WORKER = tuple(
    f"{name}.py"
    for name in ("worker", "codec", "interpreter", "cells", "plots", "names", "doors", "confine", "seccomp")
)
_PRIVATE = ("cli",)
"""Parts of the library that an answer never sees. Of the grader it sees nothing: checks, solutions, wrong answers."""
_PACKAGES = ("site-packages", "dist-packages")
ENVIRONMENT = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Of a process that serves answers."""
_INSIDE, _LIBRARY = "/grader", "/library"


@dataclass(frozen=True)
class SandboxPaths:
    """Paths on this machine.

    Attributes
    ----------
    python
        The interpreter, and not a link to it.
    needed
        Files and folders to be read; `empty` are folders among them that are shown empty.
    private
        What must not be readable, where it exists.
    sites
        Folders of installed packages.
    library
        Whether the answer may import the library.
    """

    python: str
    needed: tuple[str, ...]
    empty: tuple[str, ...]
    private: tuple[str, ...]
    sites: tuple[str, ...]
    library: bool

    def worker(self, level: str) -> str:
        """The worker's path as the worker's process sees it."""
        return f"{_INSIDE}/worker.py" if level == "bubblewrap" else str(_HERE / "worker.py")

    def package(self, level: str) -> str:
        """The library's folder as the worker sees it; empty if the answer may not import it."""
        return "" if not self.library else f"{_LIBRARY}/annotated" if level == "bubblewrap" else str(PACKAGE)

    def bubblewrap_mounts(self) -> list[str]:
        """Bubblewrap's arguments for the file system, all of it read-only."""
        binds = {path: path for path in self.needed}
        binds |= {str(_HERE / name): f"{_INSIDE}/{name}" for name in _BESIDE_THE_WORKER}
        empty = list(self.empty)
        if self.library:
            binds[str(PACKAGE)] = f"{_LIBRARY}/annotated"
            empty += [f"{_LIBRARY}/annotated/{name}" for name in _PRIVATE if (PACKAGE / name).is_dir()]
        arguments = []
        for parent in _parents(binds.values()):
            arguments += ["--perms", "0755", "--dir", parent]  # else bubblewrap makes them for its own user only
        for source, target in binds.items():
            arguments += ["--ro-bind", source, target]
        for path in empty:
            arguments += ["--perms", "0755", "--tmpfs", path, "--remount-ro", path]
        return arguments

    def landlock_rules(self) -> tuple[list[str], list[str]]:
        """The same for Landlock, which knows no exceptions below an allowed folder: paths to read, folders to list."""
        files = [*self.needed, "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"]
        files += ["/proc/cpuinfo", "/sys/devices/system/cpu"]  # torch asks what the processor can do
        files += [str(_HERE / name) for name in _BESIDE_THE_WORKER]
        hidden = {*self.empty}
        if self.library:
            files.append(str(PACKAGE))
            hidden |= {str(PACKAGE / name) for name in _PRIVATE}
            hidden.discard(str(PACKAGE))
        readable: list[str] = []
        listable: list[str] = []
        for path in files:
            _without(path, hidden, readable, listable)
        return readable, listable


@cache
def sandbox_paths(library: bool = False) -> SandboxPaths:
    """The paths for the Python that runs this."""
    base = {"base": sys.base_prefix, "platbase": sys.base_prefix}
    python = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    standard = [sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib")]
    sites = [os.path.realpath(os.path.dirname(os.path.dirname(str(m.__file__)))) for m in (torch, numpy, safetensors)]
    sites += [os.path.realpath(path) for path in site.getsitepackages() if os.path.isdir(path)]
    sites = list(dict.fromkeys(sites))
    system = [p for p in ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache") if os.path.exists(p)]
    shared = [os.path.join(sys.base_prefix, "lib")] if sys.base_prefix not in ("/usr", "/") else []
    needed = _outermost([*system, *shared, *standard, *sites, python])
    # Packages of another environment, and library and grader where they are installed among the packages.
    others = [Path(folder, name) for folder in {*standard, "/usr/lib/python3"} for name in _PACKAGES]
    empty = [str(path) for path in others if path.is_dir() and os.path.realpath(path) not in sites]
    ours = [Path(folder, name) for folder in sites for name in ("annotated", "annotated_grader")]
    empty += [str(path) for path in ours if path.is_dir()]
    exercises = [str(place / "exercises" / "README.md") for place in (_GRADER.parents[1], _GRADER)]
    private = [str(_GRADER / "exercise" / "run.py"), *exercises]
    return SandboxPaths(python, tuple(needed), tuple(dict.fromkeys(empty)), tuple(private), tuple(sites), library)


def bubblewrap_arguments(where: SandboxPaths, environment: Mapping[str, str], scratch: int, info: int) -> list[str]:
    """Bubblewrap's arguments up to the command that it runs.

    Parameters
    ----------
    scratch
        Bytes that /tmp may hold, in memory.
    info
        A descriptor on which bubblewrap says which process it started.
    """
    arguments = ["--die-with-parent", "--new-session", "--clearenv", "--info-fd", str(info)]
    arguments += [f"--unshare-{space}" for space in ("ipc", "pid", "net", "uts", "cgroup-try")]
    if os.getuid() == 0:
        # Not user 0 of a user namespace, who is user 0 outside too: Linux would let it write /proc/sys, and no limit of
        # processes would hold. The worker becomes another user instead, before it does anything else.
        arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        arguments += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    arguments += ["--size", str(scratch), "--perms", "1777", "--tmpfs", "/tmp"]  # before binds that lie in /tmp
    arguments += where.bubblewrap_mounts()
    arguments += ["--proc", "/proc", "--dev", "/dev", "--size", str(2**20), "--tmpfs", "/dev/shm"]
    for place in ("/dev", "/proc", "/"):
        arguments += ["--remount-ro", place]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--chdir", "/tmp", "--"]


def _outermost(paths: Iterable[str]) -> list[str]:
    """Paths without those that lie in another of them; links such as /lib stay."""
    unique = list(dict.fromkeys(os.path.normpath(path) for path in paths))
    return [p for p in unique if not any(p != other and p.startswith(other + os.sep) for other in unique)]


def _parents(paths: Iterable[str]) -> list[str]:
    """All folders above these paths, from the top."""
    return sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"})


def _without(path: str, hidden: set[str], readable: list[str], listable: list[str]) -> None:
    """Add a path, or where something below it is hidden, its entries one by one."""
    if path in hidden:
        return
    if not any(other.startswith(path + os.sep) for other in hidden):
        readable.append(path)
        return
    listable.append(path)
    for name in _entries(path):
        _without(os.path.join(path, name), hidden, readable, listable)


def _entries(path: str) -> Iterator[str]:
    with os.scandir(path) as entries:
        yield from sorted(entry.name for entry in entries)
