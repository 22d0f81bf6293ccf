"""Trainings at the same time: each has a CUDA stream of its own, and a few threads send the streams their work."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence

import torch

from annotated.speed.steps.cuda_graphs import CudaGraphs, GraphRecorder
from annotated_book.experiments.recorded_updates import Training

Start = Callable[[GraphRecorder | None], Training]
"""Makes a training; the stream on which it will run is the current one."""
_AHEAD = 100
"""Rounds that a thread may send before the device has done them."""


def train_concurrently(
    starts: Sequence[Start], device: torch.device, threads: int = 4, until: float = float("inf")
) -> list[Training]:
    """Make all trainings, and their updates until all are finished or the time is over.

    Those with more updates make proportionally more in a round, so that all end at about the same time.

    Parameters
    ----------
    until
        On the clock of `time.monotonic`; what is not finished then has to be made again.
    """
    streams = [torch.cuda.Stream(device) if device.type == "cuda" else None for _ in starts]
    both = []
    for start, stream in zip(starts, streams, strict=True):
        with _on(stream):
            both.append((start(None if stream is None else CudaGraphs(1, stream)), stream))
    _wait(device)
    threads = threads if device.type == "cuda" else 1  # a CPU's threads would share one generator of random numbers
    _in_threads([both[number::threads] for number in range(min(threads, len(both)))], until)
    _wait(device)
    return [training for training, _ in both]


Pair = tuple[Training, torch.cuda.Stream | None]


def _in_threads(shares: Sequence[Sequence[Pair]], until: float) -> None:
    failures: list[BaseException] = []

    def work(share: Sequence[Pair]) -> None:
        try:
            _advance_all(share, until)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(share,)) for share in shares]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def _advance_all(share: Sequence[Pair], until: float) -> None:
    rounds = min(training.training.updates for training, _ in share)
    for number in range(1, rounds + 1):
        for training, stream in share:
            with _on(stream):
                while training.done < training.training.updates * number // rounds:
                    training.advance()
        if number % _AHEAD == 0:
            for _, stream in share:
                if stream is not None:
                    stream.synchronize()
            if time.monotonic() > until:
                return


def _on(stream: torch.cuda.Stream | None) -> contextlib.AbstractContextManager[object]:
    return torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext()


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
