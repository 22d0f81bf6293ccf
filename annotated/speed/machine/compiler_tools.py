"""Tools that torch.compile calls at run time: a compiler, Python's headers, and on a GPU Triton."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

WITHOUT_COMPILING = "--training.no-compile (compile=False) trains the same model, more slowly"


def missing_compiler_tools(kind: str) -> list[str]:
    """What `torch.compile` will not find here, and how to get each; none if all is there.

    Parameters
    ----------
    kind
        Of the device: 'cpu', or 'cuda', where Triton builds its launcher from C the first time that a kernel runs. It
        looks for a compiler, and for the headers, just as this function does (triton/runtime/build.py).
    """
    missing = list(filter(None, (_missing_place(),)))
    if kind != "cuda":
        if not any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "clang++", "c++")):
            missing.append("no C++ compiler: apt-get install build-essential")
        return missing
    if find_spec("triton") is None:
        missing.append("no Triton: pip install triton (PyTorch's builds with CUDA bring the right one)")
    if sys.platform != "win32":  # where Triton brings a compiler of its own
        missing += filter(None, (_missing_c_compiler(), _missing_headers()))
    return missing


def _missing_place() -> str | None:
    """Compiled code is written to a folder and loaded from there, which some containers forbid for /tmp."""
    folder = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or tempfile.gettempdir()).absolute()
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    forbidden = hasattr(os, "ST_NOEXEC") and os.statvfs(there).f_flag & os.ST_NOEXEC
    if os.access(there, os.W_OK | os.X_OK) and not forbidden:
        return None
    why = "mounted noexec" if forbidden else "not to be written to"
    return f"no place for compiled code: {there} is {why}: set TORCHINDUCTOR_CACHE_DIR to a folder of your own"


def _missing_c_compiler() -> str | None:
    given = os.environ.get("CC")
    if given is not None:
        return None if shutil.which(given) else f"no C compiler: CC is {given!r}, which is no program here"
    if shutil.which("gcc") or shutil.which("clang"):
        return None
    return "no C compiler, neither gcc nor clang, and CC names none: apt-get install gcc libc6-dev"


def _missing_headers() -> str | None:
    scheme = sysconfig.get_default_scheme()
    # Debian's own scheme names a folder under /usr/local, where the headers are not.
    include = Path(sysconfig.get_paths("posix_prefix" if scheme == "posix_local" else scheme)["include"])
    if (include / "Python.h").is_file():
        return None
    number = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"no Python.h in {include}: apt-get install python{number}-dev (a Python of uv or conda has it)"
