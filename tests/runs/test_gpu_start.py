"""The start of a training run on a GPU: what has to be so before the first compilation, and what is refused.

There is no GPU here. Stand-ins answer, and raise, as the real calls do. They prove the order of our calls and our
words, and nothing about a GPU.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from annotated.config import TrainingConfig
from annotated.runs import dry_run
from annotated.runs.dry_run import rehearse
from tests.runs.conftest import SmallRun


class Reached(Exception):
    """The training began."""


class UnreadyCuda:
    """CUDA as torch has it before and after its first use: peaks can be reset only afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ready: bool) -> None:
        self.ready, self.reset = ready, list[int]()
        for name, answer in {
            "is_available": lambda: True,
            "device_count": lambda: 2,
            "is_initialized": lambda: self.ready,
            "reset_peak_memory_stats": self._reset,
        }.items():
            monkeypatch.setattr(torch.cuda, name, answer)

    def _reset(self, device: int | None = None) -> None:
        if not self.ready:
            raise RuntimeError(f"Invalid device argument {device}: did you call init?")
        self.reset.append(-1 if device is None else device)


def test_a_rehearsal_comes_before_the_first_use_of_cuda(
    small: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = UnreadyCuda(monkeypatch, ready=False)

    def train(*_: object, **__: object) -> None:
        raise Reached

    monkeypatch.setattr(dry_run, "train", train)
    with pytest.raises(Reached):
        rehearse(small.model, TrainingConfig(device="cuda"), small.data, updates=2, folder=tmp_path)
    assert not cuda.reset
    cuda.ready = True
    with pytest.raises(Reached):
        rehearse(small.model, TrainingConfig(device="cuda"), small.data, updates=2, folder=tmp_path)
    assert cuda.reset == [0, 1], "a second rehearsal in the process forgets the first one's peaks"
