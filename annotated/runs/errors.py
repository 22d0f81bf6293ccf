"""Errors of a training run as sentences that say what to do: a full disk, a lost process, a loss that is not finite."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch.distributed as dist

from annotated.data.batch import Batch
from annotated.runs.checkpoint import CHECKPOINTS, disk_full_advice
from annotated.storage import translate_disk_full, write_json


class NonFiniteLoss(RuntimeError):
    """The loss or a gradient became infinite or NaN; the message names update, epoch and sentences."""


class FirstUpdateTooLarge(RuntimeError):
    """The first update of a start does not fit into memory; fewer tokens at a time may."""

    def __init__(self, tokens: int) -> None:
        super().__init__(f"{tokens} tokens at a time may fit")
        self.tokens = tokens


class PeerLostError(RuntimeError):
    """Another process of the training is gone or silent; all begin again from the last checkpoint."""


_SIGNS = (
    "gloo/", "NCCL", "TCPStore", "Connection closed by peer", "Connection reset by peer", "Broken pipe",
    "Application timeout caused pair closure",  # gloo's, of an exchange that was waited for later
)  # fmt: skip
"""What is written in an error of an exchange: torch raises RuntimeError for many of them."""


@contextlib.contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
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


def non_finite(
    update: int, epoch: int, batches: Sequence[Batch], losses: Sequence[float], norm: float, folder: Path, rank: int
) -> NonFiniteLoss:
    """The error for an update that cannot be made; the sentences are written to `nonfinite_batch.json` too.

    Parameters
    ----------
    batches, losses
        The micro-batches of this process, and the summed loss of each.
    norm
        The gradient's norm.
    """
    guilty = [batch for batch, loss in zip(batches, losses, strict=True) if not math.isfinite(loss)]
    named = guilty or list(batches)
    pairs = [
        {"pair": index, "source": source[:s].tolist(), "target": target[:t].tolist()}
        for batch in named
        for index, source, target, s, t in zip(
            batch.indices, batch.source, batch.target_out, batch.source_lengths, batch.target_lengths, strict=True
        )
    ]
    path = folder / ("nonfinite_batch.json" if rank == 0 else f"nonfinite_batch.rank{rank}.json")
    write_json(path, {"update": update, "epoch": epoch, "losses": [str(loss) for loss in losses], "pairs": pairs})
    shown = ", ".join(str(pair["pair"]) for pair in pairs[:10]) + (", ..." if len(pairs) > 10 else "")
    longest = max(pairs, key=lambda pair: max(len(pair["source"]), len(pair["target"])))
    what = f"the loss is {sum(losses)}" if guilty else f"the gradient's norm is {norm}"
    return NonFiniteLoss(
        f"update {update} (epoch {epoch}): {what}. The batch has {len(pairs)} sentence pairs, {shown} of the training "
        f"data (counted from 0, as encoded); the longest is pair {longest['pair']} with {len(longest['source'])} "
        f"source and {len(longest['target'])} target tokens. All of it is in {path}. The update was not made. Try a "
        "smaller learning_rate_scale, a longer warmup, clip_norm, or precision bf16 or fp32 in the place of fp16; the "
        "last checkpoint is good"
    )
