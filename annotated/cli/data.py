"""`annotated data`: classroom, prepare, show."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from annotated.cli.train import check_validation
from annotated.config import DataConfig, TrainingConfig
from annotated.storage import atomic_write

SPLITS = ("train", "valid", "test", "constructions")


@dataclass
class Classroom:
    """Write the classroom corpus to TSV files: train, valid, test, and held-out constructions."""

    out: tyro.conf.Positional[Path]
    """Folder for train.tsv, valid.tsv, test.tsv and constructions.tsv."""
    data: Annotated[DataConfig, tyro.conf.arg(name="")] = field(default_factory=DataConfig)

    def run(self) -> int:
        """Write the four files."""
        from annotated.data import open_corpus

        for split in SPLITS:
            path, count = self.out / f"{split}.tsv", 0
            with atomic_write(path) as file:
                for source, target in open_corpus("classroom", split, self.data):
                    file.write(f"{source}\t{target}\n")
                    count += 1
            print(f"{path}\t{count} pairs")
        return 0


@dataclass
class Show:
    """Show the first pairs of a corpus."""

    corpus: tyro.conf.Positional[str] = DataConfig.train
    """'classroom', a TSV file (.tsv, .tsv.gz, .tsv.zst), or two text files as 'SOURCE,TARGET'."""
    split: Literal["train", "valid", "test", "constructions"] = "train"
    """Which part of the classroom corpus; files are read whole."""
    pairs: int = 10
    """How many to show."""

    def run(self) -> int:
        """Print them, tab-separated."""
        from annotated.data import open_corpus

        for source, target in itertools.islice(open_corpus(self.corpus, self.split, DataConfig()), self.pairs):
            print(f"{source}\t{target}")
        return 0


@dataclass
class Prepare:
    """Train a tokenizer, encode a corpus, and report its lengths and how much of a batch would be padding.

    `annotated train` with the same folder and the same --data options finds all of it ready.
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
        from annotated.training.distributed import Processes

        self.out.mkdir(parents=True, exist_ok=True)
        prepared = prepare_data(self.data, self.out, Processes(device=torch.device("cpu")), None)
        size, wanted = prepared.tokenizer.vocab_size, self.data.vocab_size
        print(f"tokenizer  {size} entries, fingerprint {prepared.tokenizer.fingerprint[:12]}")
        if self.data.tokenizer is None and size < wanted:
            print(f"annotated: the text yields {size} entries, fewer than the {wanted} wanted", file=sys.stderr)
        self._report("train", prepared.train)
        self._report("valid", prepared.valid)
        return 0

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
