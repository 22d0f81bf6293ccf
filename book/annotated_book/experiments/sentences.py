"""Sentences that the runs read: short real ones for what is recorded, the classroom's for what a reader trains.

Either is prepared once, by whoever comes first; the others wait.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotated.analysis.real_text import data_folder
from annotated.config import DataConfig, TrainingConfig, base
from annotated.locks import exclusive_lock
from annotated.storage import atomic_write
from annotated_book.experiments.settings import ClassroomSize, Size

if TYPE_CHECKING:
    from annotated.data import Batch, TokenBatches, Tokenizer
    from annotated.data.store import TokenStore

WORK = Path("build/table_3")
"""Prepared text, checkpoints and locks; nothing of it is recorded."""
LONGEST_POOL = 300_000
"""Pairs: more than the text has, so that all of it is shuffled and bucketed together."""
TEST_PAIRS = 100
"""A prepared corpus has a test set; in the classroom's nothing is measured on it."""


def prepared_text(size: Size, work: Path = WORK) -> Path:
    """The folder of the real text for `DataConfig.prepared`.

    One vocabulary for both sides, divided as all widths are.

    Raises
    ------
    FileNotFoundError
        If there is no real text.
    """
    from annotated.wmt14 import PreparationOptions, prepare_files

    source, vocabulary = data_folder(), base().vocab_size // size.divisor
    folder = work / f"text-{vocabulary}-{size.max_length}"
    options = PreparationOptions(vocab_size=vocabulary, max_length=size.max_length)
    with exclusive_lock(work / f"{folder.name}.lock"):
        train, valid, test = (source / name for name in ("train.tsv.zst", "valid.tsv", "test.tsv"))
        if not (folder / "train").is_dir():
            print(f"table_3: preparing the text of {source} in {folder}: some minutes, once", file=sys.stderr)
        prepare_files({"train": train}, valid, test, folder, options, jobs=1, quiet=True)
    return folder


def classroom_text(size: ClassroomSize, folder: Path, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of the classroom's text for `DataConfig.prepared`: the same sentences and vocabulary everywhere."""
    from annotated.wmt14 import PreparationError, PreparedCorpus

    prepared = folder / "text"
    with exclusive_lock(folder / "text.lock"):
        try:
            PreparedCorpus.open(prepared)
        except PreparationError:
            say(f"preparing {size.train_pairs:,} classroom sentences in {prepared}, once")
            _prepare_classroom(size, prepared)
    return prepared


def _prepare_classroom(size: ClassroomSize, prepared: Path) -> None:
    from annotated.classroom import classroom_pairs
    from annotated.wmt14 import PreparationOptions, prepare_files

    counts = {"train": size.train_pairs, "valid": size.valid_pairs, "test": TEST_PAIRS}
    files = {split: prepared / "sentences" / f"{split}.tsv" for split in counts}
    for split, count in counts.items():
        with atomic_write(files[split]) as file:
            file.writelines(f"{one.source}\t{one.target}\n" for one in classroom_pairs(split, count))  # type: ignore[arg-type]
    options = PreparationOptions(vocab_size=size.vocab_size, max_length=size.max_length)
    prepare_files({"train": files["train"]}, files["valid"], files["test"], prepared, options, jobs=1, quiet=True)


def short_pairs(path: Path, tokenizer: Tokenizer, max_length: int) -> list[tuple[str, str]]:
    """The pairs of a file whose sides have at most `max_length` tokens, the end mark included."""
    from annotated.data import read_pairs

    pairs = list(read_pairs(str(path)))
    lengths = [[len(ids) + 1 for ids in tokenizer.encode_batch(list(side))] for side in zip(*pairs, strict=True)]
    return [pair for pair, *both in zip(pairs, *lengths, strict=True) if max(both) <= max_length]


@dataclass(frozen=True)
class ShortSentences:
    """Encoded pairs of three sets, and the test set as texts."""

    train: TokenStore
    valid: TokenStore
    tokenizer: Tokenizer
    test: list[tuple[str, str]]

    @classmethod
    def open(cls, folder: Path, max_length: int) -> ShortSentences:
        """A folder that `prepared_text` made; of the test set, pairs of at most so many tokens."""
        from annotated.runs.dataset import prepare_data
        from annotated.speed.machine.distributed import Processes

        with tempfile.TemporaryDirectory() as scratch:
            data = prepare_data(DataConfig(prepared=str(folder)), Path(scratch), Processes(), None)
            test = short_pairs(folder / "test.tsv", data.tokenizer, max_length)
            return cls(data.train, data.valid, data.tokenizer, test)

    def batches(self, training: TrainingConfig) -> TokenBatches:
        """The batches of a training, as `annotated.runs.train` takes them."""
        from annotated.data import TokenBatches

        return TokenBatches(
            self.train, training.batch_tokens, seed=training.seed, pool_pairs=LONGEST_POOL, layout="packed"
        )

    def valid_batches(self, training: TrainingConfig) -> Iterator[Batch]:
        """Every pair of the validation set once."""
        from annotated.data.batching import evaluation_batches

        return evaluation_batches(self.valid, training.batch_tokens)
