"""`python -m annotated_book.experiments cpu`: the runs of the tables of chapters 32 and 34.

What is not recorded yet is made, one after the other; several processes may share the work. The rows of Table 3 have a
command of their own, `python -m annotated_book.results.table_3 run`.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from annotated_book.experiments.catalogue import EXPERIMENTS, SHORT, ChapterTraining
from annotated_book.experiments.make_runs import make_one_by_one
from annotated_book.experiments.sentences import WORK, ShortSentences, prepared_text
from annotated_book.pages import page_folder
from annotated_book.record import code_commit
from annotated_book.results.table_3.records import SEEDS


def parser() -> argparse.ArgumentParser:
    """The command line."""
    how = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser("python -m annotated_book.experiments", description=__doc__, formatter_class=how)
    add = top.add_argument
    add("what", choices=("cpu",), help="as the records have their command")
    chapters = list(EXPERIMENTS)
    add("--chapters", nargs="+", choices=chapters, default=chapters, metavar="CHAPTER", help="(%(default)s)")
    add("--rows", nargs="+", metavar="ROW", help="only these")
    add("--seeds", nargs="+", type=int, default=list(range(SEEDS)), help="(%(default)s)")
    add("--text", type=Path, help="prepared text (made in build/table_3 if not given)")
    add(
        "--out",
        type=Path,
        default=page_folder("table_3").parent,
        help="folder of pages with files of runs (the book's)",
    )
    add("--locks", type=Path, default=WORK / "experiments", help="(%(default)s)")
    add("--minutes", type=float, default=float("inf"), help="no run begins later")
    add("--smoke", action="store_true", help="20 updates each, recorded in --locks: a try, not a measurement")
    add("--commit", help="of the code, where it is no repository")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run the command; the exit status."""
    until, given = time.monotonic(), parser().parse_args(arguments)
    until += 60 * given.minutes
    text = ShortSentences.open(given.text or prepared_text(SHORT, WORK), SHORT.max_length)
    every, out = chosen(given.chapters, given.rows, given.seeds), given.out
    if given.smoke:
        every, out = [_shorter(one) for one in every], given.locks / "smoke"
    make_one_by_one(every, text, out, given.locks, {"commit": given.commit or code_commit()}, until)
    return 0


def chosen(chapters: Sequence[str], rows: Sequence[str] | None, seeds: Sequence[int]) -> list[ChapterTraining]:
    """The runs in the order in which they are made: chapter by chapter, and seed by seed."""
    every = [one for name in chapters for seed in seeds for one in EXPERIMENTS[name](seed)]
    return [one for one in every if rows is None or one.row in rows]


def _shorter(one: ChapterTraining) -> ChapterTraining:
    return dataclasses.replace(one, training=one.training.replace(updates=20, validate_every=10))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
