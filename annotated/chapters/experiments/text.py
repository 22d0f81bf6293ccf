"""Text that the trainings of the chapters read: the short real sentences of the small Table 3."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from annotated.chapters.experiments.catalogue import SIZE
from annotated.chapters.experiments.stream import Stream
from annotated.chapters.table_3.text import short_pairs
from annotated.chapters.table_3.training import LONGEST_POOL
from annotated.config import DataConfig, TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import TokenBatches, evaluation_batches
from annotated.data.buckets import by_length
from annotated.data.store import TokenStore
from annotated.data.tokenizer import Tokenizer
from annotated.runs.dataset import prepare_data
from annotated.speed.machine.distributed import Processes


@dataclass(frozen=True)
class ShortSentences:
    """Encoded pairs of three sets, and the test set as texts."""

    train: TokenStore
    valid: TokenStore
    tokenizer: Tokenizer
    test: list[tuple[str, str]]

    @classmethod
    def open(cls, folder: Path) -> ShortSentences:
        """A folder that `annotated.chapters.table_3.text.prepared_text` made."""
        with tempfile.TemporaryDirectory() as scratch:
            data = prepare_data(DataConfig(prepared=str(folder)), Path(scratch), Processes(), None)
            test = short_pairs(folder / "test.tsv", data.tokenizer, SIZE.max_length)
            return cls(data.train, data.valid, data.tokenizer, test)

    def batches(self, training: TrainingConfig) -> TokenBatches:
        """The batches of a training, as `annotated.runs.train` takes them."""
        return TokenBatches(
            self.train, training.batch_tokens, seed=training.seed, pool_pairs=LONGEST_POOL, layout="packed"
        )

    def valid_batches(self, training: TrainingConfig) -> Iterator[Batch]:
        """Every pair of the validation set once."""
        return evaluation_batches(self.valid, training.batch_tokens)

    def stream(self, training: TrainingConfig, device: torch.device) -> Stream:
        """The batches of a training on a device."""
        batches = self.batches(training)
        return Stream.of(self.train, [batches.next_pairs() for _ in range(training.updates)], device)

    def valid_stream(self, device: torch.device) -> Stream:
        """The validation set on a device, in two large batches: nothing is kept for a gradient."""
        order = by_length(self.valid.source_lengths, self.valid.target_lengths, None)
        return Stream.of(self.valid, np.array_split(order, 2), device)
