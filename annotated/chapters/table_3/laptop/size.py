"""Size of the rows of Table 3 that a reader trains: the chapter's rule, the classroom's text, one budget for all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotated.chapters.table_3.size import Size
from annotated.config import ModelConfig


@dataclass(frozen=True)
class ClassroomSize(Size):
    """A scale for all rows, and how much of the classroom's text they see.

    The rule of `annotated.chapters.table_3.rows` but for one width: the vocabulary is the classroom's own, for 2,312
    entries would be more than its few thousand words can fill.
    """

    vocab_size: int = 1000
    train_pairs: int = 60_000
    valid_pairs: int = 1000

    def model(self, row: str) -> ModelConfig:
        """The scaled model of a row, with the classroom's vocabulary."""
        return super().model(row).replace(vocab_size=self.vocab_size)

    def to_dict(self) -> dict[str, Any]:
        """The size as a dictionary that JSON can hold."""
        return asdict(self)


LAPTOP = ClassroomSize(
    divisor=16, updates=1000, batch_tokens=1024, warmup=300, learning_rate_scale=0.6, max_length=64, norm="pre",
    validations=5,
)  # fmt: skip
"""d_model 32 in base. On one core of a shared machine a run of base took two minutes and one of C1 less than one; by
the time of an update, A4 takes three and big, the longest, 15."""
SMOKE = ClassroomSize(
    divisor=16, updates=20, batch_tokens=256, warmup=5, learning_rate_scale=0.6, max_length=64, norm="pre",
    validations=2, vocab_size=500, train_pairs=2000, valid_pairs=100,
)  # fmt: skip
"""Seconds a run: a try of the machinery, not a measurement."""
