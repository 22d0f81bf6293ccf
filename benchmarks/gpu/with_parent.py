"""Command that ends with its parent: `python with_parent.py PARENT COMMAND ...`, on Linux even if that is killed.

The kernel keeps the request over `execv`, so the command needs to know nothing of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Become the command; SIGTERM comes when the parent is gone, so that torchrun can end its own processes."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)  # it was gone before the request was made
    os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
