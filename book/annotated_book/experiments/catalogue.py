"""Catalogue of the trainings that chapters show in tables: rows, each with its seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.model import Transformer
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import learning_rate
from annotated_book.experiments.runs_file import RUNS
from annotated_book.experiments.settings import Size
from annotated_book.results.since_2017.parts import PARTS, RATE_SEARCH, Part
from annotated_book.results.versions import trained

SHORT = Size(16, 1000, 1024, 100, 0.3, 20, "pre", validations=20)
"""The model of the small Table 3, one million tokens and the same highest rate."""


@dataclass(frozen=True)
class ChapterTraining:
    """One training."""

    chapter: str
    row: str
    seed: int
    training: TrainingConfig
    model: Callable[[], Transformer]
    optimizer: Callable[[Transformer], Optimizer]
    rate: Callable[[int], float]
    """The learning rate of an update, from its number, counted from 1."""
    run: str
    """Name of its record in the chapter's file of runs."""

    @property
    def name(self) -> str:
        """As messages have it."""
        return f"{self.chapter}/{self.row} with seed {self.seed}"

    def file(self, out: Path) -> Path:
        """The file with its record, under the folder of all chapters."""
        return out / self.chapter / RUNS


def since_2017_experiments(seed: int) -> list[ChapterTraining]:
    """Parts of chapter 34, its base among them, and the rates at which its model of 2017 was tried."""
    return [_part(name, part, seed) for name, part in {**PARTS, **RATE_SEARCH}.items()]


def _part(name: str, part: Part, seed: int) -> ChapterTraining:
    training, config = SHORT.training("base", seed), SHORT.model("base")
    return ChapterTraining(
        "since_2017",
        name,
        seed,
        training,
        lambda: part.model(config),
        lambda model: part.optimizer(model, training),
        lambda update: part.rate(update, training, config.d_model),
        f"{name}-{seed}",
    )


def versions_experiments(seed: int) -> list[ChapterTraining]:
    """Versions of chapter 32."""
    return [_version(row, seed) for row in trained.ROWS]


def _version(row: str, seed: int) -> ChapterTraining:
    training, width = trained.version_training(row, seed, SHORT), SHORT.model("base").d_model
    return ChapterTraining(
        "versions",
        row,
        seed,
        training,
        lambda: trained.version_model(row, SHORT),
        lambda model: make_optimizer(model, training),
        lambda update: learning_rate(update, width, training.warmup, training.learning_rate_scale),
        f"{row}-{seed}",
    )


EXPERIMENTS: dict[str, Callable[[int], list[ChapterTraining]]] = {
    "since_2017": since_2017_experiments,
    "versions": versions_experiments,
}
"""By the name of a chapter's folder: its trainings with one seed."""
