"""Errors of a training that come from elsewhere, as sentences that say what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import torch.distributed as dist

from annotated.runs.checkpoint import CHECKPOINTS, disk_full_advice
from annotated.storage import translate_disk_full


class PeerLostError(RuntimeError):
    """Another process of the training is gone or silent; all begin again from the last checkpoint."""


_SIGNS = ("gloo/", "NCCL", "TCPStore", "Connection closed by peer", "Connection reset by peer", "Broken pipe")
"""What is written in an error of an exchange: torch raises RuntimeError for many of them."""


@contextlib.contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn a disk that is full, and an exchange that fails, into errors that say what to do.

    Parameters
    ----------
    folder
        Of the run.

    Raises
    ------
    DiskFull
        For any file that cannot be written because there is no space.
    PeerLostError
        If another process of this training has ended, or does not answer in time.
    """
    try:
        with translate_disk_full(folder / "log.jsonl", disk_full_advice(folder / CHECKPOINTS)):
            yield
    except RuntimeError as error:
        if not is_of_an_exchange(error):
            raise
        last = str(error).strip().splitlines()[0]
        raise PeerLostError(
            "another process of this training is gone, or did not answer in time (the reason stands in its own "
            "output). Nothing is lost but the updates since the last checkpoint: torchrun starts all processes again "
            "from there, if it has restarts left (--max-restarts), and so does the same command. What this process "
            f"saw: {last}"
        ) from error


def is_of_an_exchange(error: RuntimeError) -> bool:
    """Whether an error comes from processes talking to each other."""
    backend_error = getattr(dist, "DistBackendError", None)
    if backend_error is not None and isinstance(error, backend_error):
        return True
    return type(error) is RuntimeError and any(sign in str(error) for sign in _SIGNS)
