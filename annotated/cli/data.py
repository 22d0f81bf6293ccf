"""`annotated data`: classroom, prepare, show."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from annotated.cli.own_text import fitted_defaults
from annotated.cli.streams import write_text_in_utf_8
from annotated.cli.train import check_validation
from annotated.config import DataConfig, TrainingConfig
from annotated.ownership import new_texts

MOST_PAIRS_READ = 500_000
"""Pairs that `data show` reads on, so that a file that breaks off is noticed."""
WIDE_HELD_OUT = 2000
"""Pairs of the wide corpus for validation, and as many for testing."""
SPLITS = ("train", "valid", "test", "constructions")


@dataclass
class Classroom:
    """Write the classroom corpus to TSV files: train, valid, test, and held-out constructions.

    All are written or none; a file of that name that is another is never replaced.
    """

    out: tyro.conf.Positional[Path]
    """Folder for train.tsv, valid.tsv, test.tsv and constructions.tsv."""
    wide: bool = False
    """Everyday sentences instead, of thousands of words, as people type them; without constructions.tsv."""
    data: Annotated[DataConfig, tyro.conf.arg(name="")] = field(default_factory=DataConfig)

    def run(self) -> int:
        """Write the files, which get their names when all are whole."""
        counts = dict.fromkeys((f"{split}.tsv" for split in SPLITS[: 3 if self.wide else 4]), 0)
        with new_texts(self.out, counts) as files:
            for name, file in files.items():
                for source, target in self.pairs(name.removesuffix(".tsv")):
                    file.write(f"{source}\t{target}\n")
                    counts[name] += 1
        for name, count in counts.items():
            print(f"{self.out / name}\t{count} pairs")
        return 0

    def pairs(self, split: Any) -> Iterator[tuple[str, str]]:
        """Those of one file."""
        from annotated.classroom.wide import wide_pairs
        from annotated.data import open_corpus

        if not self.wide:
            return iter(open_corpus("classroom", split, self.data))
        count = self.data.classroom_pairs if split == "train" else WIDE_HELD_OUT
        return ((pair.source, pair.target) for pair in wide_pairs(split, count))


@dataclass
class Show:
    """Show the first pairs of a corpus."""

    corpus: tyro.conf.Positional[str] = DataConfig.train
    """'classroom', a file of pairs (.tsv, .csv, .jsonl, .tmx ...; .gz, .zst), or two text files as 'SOURCE,TARGET'."""
    format: str = DataConfig.format
    """Of that file: auto, tsv, csv, jsonl, bars, tmx, xliff, as --data.format of annotated train."""
    split: Literal["train", "valid", "test", "constructions"] = "train"
    """Which part of the classroom corpus; files are read whole."""
    pairs: int = 10
    """How many to show."""

    def run(self) -> int:
        """Print them, tab-separated, and on standard error how many there are; what is damaged is said first."""
        from annotated.data import open_corpus

        if self.pairs < 0:
            raise ValueError(f"--pairs must not be negative, not {self.pairs}")
        corpus = open_corpus(self.corpus, self.split, DataConfig(format=self.format))
        pairs = iter(corpus)
        shown = list(itertools.islice(pairs, self.pairs))
        rest = sum(1 for _ in itertools.islice(pairs, MOST_PAIRS_READ))
        write_text_in_utf_8()
        for source, target in shown:
            print(f"{source}\t{target}")
        more = "more than " if rest == MOST_PAIRS_READ else ""
        empty = f"; {corpus.counts.empty:,} more have an empty side" if corpus.counts.empty else ""
        print(f"annotated: {len(shown):,} of {more}{len(shown) + rest:,} pairs{empty}", file=sys.stderr)
        return 0


@dataclass
class Prepare:
    """Train a tokenizer and encode a corpus; report its lengths and how much of a batch would be padding.

    `annotated train` with the same folder and the same --data options finds all of it ready. As there, the vocabulary
    fits the size of the text if none is asked for.
    """

    out: tyro.conf.Positional[Path]
    """Folder for tokenizer.json and data/; the folder of the run to come."""
    data: DataConfig = field(default_factory=DataConfig)
    batch_tokens: int = TrainingConfig.batch_tokens
    """Tokens of a batch, on each side, for the report on padding."""

    def run(self) -> int:
        """Prepare, and print the report."""
        check_validation(self.data)
        import torch

        from annotated.runs.dataset import prepare_data
        from annotated.speed.machine.distributed import Processes

        prepared = prepare_data(self.data, self.out, Processes(device=torch.device("cpu")), None)
        size, wanted = prepared.tokenizer.vocab_size, self.data.vocab_size
        print(f"tokenizer  {size} entries, fingerprint {prepared.tokenizer.fingerprint[:12]}")
        if self.data.tokenizer is None and size < wanted:
            print(f"annotated: the text yields {size} entries, fewer than the {wanted} wanted", file=sys.stderr)
        self._report("train", prepared.train)
        self._report("valid", prepared.valid)
        return 0

    @classmethod
    def defaults(cls, arguments: Sequence[str]) -> Prepare:
        """What a command line starts from: the vocabulary of `annotated train` with the same text."""
        return cls(tyro.MISSING, fitted_defaults(arguments)["data"])

    def _report(self, name: str, store) -> None:
        from annotated.data import padding_report

        print(f"{name}      {len(store)} pairs")
        for side, lengths in (("source", store.source_lengths), ("target", store.target_lengths)):
            tokens = f"{int(lengths.sum())} tokens, eos included"
            print(f"  {side}   {tokens}; mean {lengths.mean():.1f}, longest {int(lengths.max())}")
        budget = max(self.batch_tokens, int(store.source_lengths.max()), int(store.target_lengths.max()))
        fill = padding_report(store, budget, pool_pairs=self.data.pool_pairs)
        shares = ", ".join(f"{way} {100 * share:.0f} %" for way, share in fill.items())
        print(f"  real tokens in a batch: {shares}")
