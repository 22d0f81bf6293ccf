"""`flock`, where there is one: a lock on an open file that ends with the process that holds it, however it ends.

Paper: none; what several processes need who share a folder
"""

from __future__ import annotations

from typing import IO, Any


def take_lock(file: IO[Any], *, shared: bool = False, wait: bool = False) -> bool:
    """Take the lock of an open file, which goes when the file is closed.

    Parameters
    ----------
    file
        Its descriptor carries the lock; a process that is forked meanwhile has a share in it.
    shared
        Others may hold it too, if they share it.
    wait
        Until it is free.

    Returns
    -------
    bool
        False if somebody has it. True on Windows, where nothing keeps others out.

    Raises
    ------
    OSError
        If the file system knows no locks.

    Paper: none; what several processes need who share a folder
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def release_lock(file: IO[Any]) -> None:
    """Let go at once, also where a forked process has a share in it.

    Paper: none; what several processes need who share a folder
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_UN)
