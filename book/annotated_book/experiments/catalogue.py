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
from annotated_book.experiments.settings import SIZES, Size
from annotated_book.results.since_2017.parts import PARTS, RATE_SEARCH, Part
from annotated_book.results.table_3.records import run_name
from annotated_book.results.table_3.rows import ROWS
from annotated_book.results.versions import trained

SIZE = SIZES["d32-pre-6000x1024-w400-r0.6-l20"].on_gpu()
"""The size that the pilot of Table 3 has chosen."""
SHORT = Size(16, 1000, 1024, 100, 0.3, 20, "pre", validations=20)
"""The same model, one million tokens and the same highest rate, for the parts of chapter 34 and the versions of 32."""


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

    def weights(self, out: Path) -> Path:
        """Where its weights are until the test set has been translated."""
        return out / self.chapter / "weights" / f"{self.run}.pt"


def capturable_adam(model: Transformer, training: TrainingConfig) -> Optimizer:
    """The paper's Adam, on a GPU such that its steps can be recorded."""
    optimizer = make_optimizer(model, training)
    if model.output_weight.is_cuda:
        for group in optimizer.param_groups:
            group["capturable"] = True
    return optimizer


def table_3_experiment(row: str, seed: int, size: Size = SIZE) -> ChapterTraining:
    """A row of Table 3, as `annotated_book.experiments.make_runs.make_row` makes it."""
    training, config = size.training(row, seed), size.model(row)
    return ChapterTraining(
        "table_3",
        row,
        seed,
        training,
        lambda: Transformer(config),
        lambda model: capturable_adam(model, training),
        lambda update: learning_rate(update, config.d_model, training.warmup, training.learning_rate_scale),
        run_name(row, seed, size),
    )


def table_3_experiments(seed: int) -> list[ChapterTraining]:
    """All rows of Table 3 with one seed."""
    return [table_3_experiment(row, seed) for row in ROWS]


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
        lambda model: part.optimizer(model, training, model.output_weight.is_cuda),
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
        lambda model: capturable_adam(model, training),
        lambda update: learning_rate(update, width, training.warmup, training.learning_rate_scale),
        f"{row}-{seed}",
    )


EXPERIMENTS: dict[str, Callable[[int], list[ChapterTraining]]] = {
    "table_3": table_3_experiments,
    "since_2017": since_2017_experiments,
    "versions": versions_experiments,
}
"""By the name of a chapter's folder: its trainings with one seed."""
