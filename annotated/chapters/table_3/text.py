"""Text of the small Table 3: short real sentences, prepared once for all runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from annotated.analysis.real_text import data_folder
from annotated.chapters.table_3.size import Size
from annotated.config import base
from annotated.storage import exclusive_lock

if TYPE_CHECKING:
    from annotated.data import Tokenizer

WORK = Path("build/table_3")
"""Prepared text, checkpoints and locks; nothing of it is recorded."""


def prepared_text(size: Size, work: Path = WORK) -> Path:
    """The folder for `DataConfig.prepared`, made by whoever comes first; the others wait.

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


def short_pairs(path: Path, tokenizer: Tokenizer, max_length: int) -> list[tuple[str, str]]:
    """The pairs of a file whose sides have at most `max_length` tokens, the end mark included."""
    from annotated.data import read_pairs

    pairs = list(read_pairs(str(path)))
    lengths = [[len(ids) + 1 for ids in tokenizer.encode_batch(list(side))] for side in zip(*pairs, strict=True)]
    return [pair for pair, *both in zip(pairs, *lengths, strict=True) if max(both) <= max_length]
