"""`annotated data treebank`: from a treebank to pairs of sentence and tree that a Transformer learns from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, get_args

import tyro

from annotated.ownership import new_texts

if TYPE_CHECKING:
    from annotated.parsing import Tree

Split = Literal["train", "valid", "test"]


@dataclass
class Treebank:
    """Write a treebank as pairs of sentence and tree: train, valid and test.

    All files are written or none; a file of that name that holds something else is never replaced.

    The Penn Treebank (LDC99T42) is licensed; whoever has it gives its folder `wsj`, and sections 2-21, 22 and 23 become
    the three parts, cleaned as is usual. Without a folder it is the treebank of the classroom's grammar.
    """

    wsj: tyro.conf.Positional[Path | None] = None
    """The folder `wsj` of the Penn Treebank, with the sections 00 to 24 of .mrg files in it."""
    out: Path = Path("data/wsj")
    """Folder for train.tsv, valid.tsv, test.tsv, and for the trees themselves, one a line: train.mrg and so on."""
    trees: int = 40_000
    """Training trees of the classroom's treebank; about what the Wall Street Journal has."""

    def run(self) -> int:
        """Write the six files, which get their names when all are whole."""
        names = [f"{split}.{suffix}" for split in get_args(Split) for suffix in ("tsv", "mrg")]
        with new_texts(self.out, names) as files:
            counts = {
                split: self._write(split, files[f"{split}.tsv"], files[f"{split}.mrg"]) for split in get_args(Split)
            }
        for split, count in counts.items():
            print(f"{self.out / split}.tsv\t{count} trees")
        texts = " ".join(f"--data.{split} {self.out / split}.tsv" for split in get_args(Split))
        print(f"{self.out}: ready; annotated train wsj {texts}" if self.wsj else f"{self.out}: ready")
        return 0

    def _write(self, split: Split, pairs: TextIO, brackets: TextIO) -> int:
        from annotated.parsing import training_line

        count = 0
        for tree in self._read(split):
            pairs.write(training_line(tree))
            brackets.write(f"{tree}\n")
            count += 1
        return count

    def _read(self, split: Split) -> Iterable[Tree]:
        from annotated.parsing import classroom_trees, wsj_trees

        if self.wsj is not None:
            return wsj_trees(self.wsj, split)
        return classroom_trees(split, self.trees if split == "train" else 1000)
