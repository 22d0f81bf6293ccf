"""Monitor of a training run, from outside: it reads the files of the run's folder and writes nothing there.

A monitor may be made before the training begins, while it runs, or after it has ended, in any process, as often as one
likes: the same folder gives the same picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from annotated.runs.checkpoint import newest_update
from annotated.runs.launch import last_words, running
from annotated.runs.log import LOG, LogReader

Phase = Literal["empty", "preparing", "training", "stopped", "finished", "died"]


@dataclass(frozen=True)
class TrainingStatus:
    """How a training run stands. What is not known yet is None."""

    phase: Phase
    """'empty': no training run was here. 'preparing': a process has the folder, and has made no update yet. 'training'.
    'stopped': by a signal or `max_seconds`, with a checkpoint saved. 'finished'. 'died': the process is gone without a
    word."""
    pid: int | None
    """Of the process that trains."""
    update: int
    """Updates made, as far as the log says."""
    updates: int | None
    """Updates in all."""
    epoch: int | None
    loss: float | None
    """Label-smoothed, nats per target token, mean over the last stretch of the log."""
    valid_loss: float | None
    """Not smoothed, nats per target token."""
    bleu: float | None
    learning_rate: float | None
    gradient_norm: float | None
    """Of the last update of that stretch, before any clipping."""
    tokens_per_second: float | None
    seconds_left: float | None
    """An estimate, from the speed of the last stretch; None unless it is training."""
    elapsed: float | None
    """Seconds of training, over all processes of the run."""
    samples: tuple[tuple[str, str], ...]
    """Source and translation, as of the last validation."""
    lost: int
    """Updates that died with the process, as far as the log says: those since the last checkpoint. A run that goes on
    makes them again."""
    last_words: str
    """The end of what it said on its console, if it died."""


class TrainingMonitor:
    """Follows the training of a folder; each `poll` reads only what was appended to the log since the last one.

    Parameters
    ----------
    folder
        Of the run; it need not exist yet.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.records: list[dict[str, Any]] = []
        """All records of the log so far."""
        self._reader = LogReader(self.folder / LOG)
        self._latest: dict[str, dict[str, Any]] = {}
        self._since_start: set[str] = set()

    @property
    def start(self) -> dict[str, Any]:
        """The record of the run's last start: what trains, on what; empty before there is one."""
        return self._latest.get("start", {})

    def poll(self) -> TrainingStatus:
        """Look again.

        Raises
        ------
        ValueError
            If the log is damaged.
        """
        pid = running(self.folder)  # before the log: a training run that ends in between has written its end
        self._read()
        phase = self._phase(pid)
        if phase == "died" and (pid := running(self.folder)) is not None:  # it has just begun
            self._read()
            phase = self._phase(pid)
        train, valid = self._latest.get("train", {}), self._latest.get("valid", {})
        update = max((record.get("update", 0) for record in self._latest.values()), default=0)
        return TrainingStatus(
            phase=phase,
            pid=pid if phase in ("preparing", "training") else None,
            update=update,
            updates=self._updates(),
            epoch=train.get("epoch"),
            loss=train.get("loss"),
            valid_loss=valid.get("valid_loss"),
            bleu=valid.get("bleu"),
            learning_rate=train.get("learning_rate"),
            gradient_norm=train.get("gradient_norm"),
            tokens_per_second=train.get("tokens_per_second"),
            seconds_left=train.get("seconds_left") if phase == "training" else None,
            elapsed=max((record.get("elapsed", 0.0) for record in (train, valid)), default=None) or None,
            samples=tuple(
                (one["source"], one["translation"]) for one in self._latest.get("samples", {}).get("samples", ())
            ),
            # By the folder, not the log: a process may die between a checkpoint and the line about it.
            lost=max(0, update - newest_update(self.folder)) if phase == "died" else 0,
            last_words=last_words(self.folder) if phase == "died" else "",
        )

    def _read(self) -> None:
        part = self._reader.read()
        if part.again:
            self.records, self._latest, self._since_start = [], {}, set()
        for record in part.new:
            kind = record.get("kind", "")
            if kind == "start":
                self._since_start = set()
            self._since_start.add(kind)
            self._latest[kind] = record
        self.records += part.new

    def _phase(self, pid: int | None) -> Phase:
        end = self._latest["end"] if "end" in self._since_start else None
        if end is not None and end.get("finished"):
            return "finished"
        if pid is not None:
            # After an end that another process has not followed by a start yet, the new one is preparing.
            return "training" if "train" in self._since_start and end is None else "preparing"
        if end is not None:
            return "stopped"
        return "died" if self.records or last_words(self.folder) else "empty"

    def _updates(self) -> int | None:
        start = self._latest.get("start")
        return None if start is None else start["configuration"]["training"]["updates"]
