"""Text of the rows that a reader trains: classroom sentences, prepared once in the folder of the runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annotated.chapters.table_3.laptop.size import ClassroomSize
from annotated.classroom import classroom_pairs
from annotated.storage import atomic_write, exclusive_lock
from annotated.wmt14 import PreparationError, PreparationOptions, PreparedCorpus, prepare_files

TEST_PAIRS = 100
"""A prepared corpus has a test set; nothing here is measured on it."""


def classroom_text(size: ClassroomSize, folder: Path, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder for `DataConfig.prepared`, made by whoever comes first; the others wait.

    The same sentences and the same vocabulary on every machine.
    """
    prepared = folder / "text"
    with exclusive_lock(folder / "text.lock"):
        try:
            PreparedCorpus.open(prepared)
        except PreparationError:
            say(f"preparing {size.train_pairs:,} classroom sentences in {prepared}, once")
            _prepare(size, prepared)
    return prepared


def _prepare(size: ClassroomSize, prepared: Path) -> None:
    counts = {"train": size.train_pairs, "valid": size.valid_pairs, "test": TEST_PAIRS}
    files = {split: prepared / "sentences" / f"{split}.tsv" for split in counts}
    for split, count in counts.items():
        with atomic_write(files[split]) as file:
            file.writelines(f"{one.source}\t{one.target}\n" for one in classroom_pairs(split, count))  # type: ignore[arg-type]
    options = PreparationOptions(vocab_size=size.vocab_size, max_length=size.max_length)
    prepare_files({"train": files["train"]}, files["valid"], files["test"], prepared, options, jobs=1, quiet=True)
