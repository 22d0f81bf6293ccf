"""`python -m annotated_book.experiments cpu | gpu | translate`: the runs of the chapters' tables.

cpu         what is not recorded yet, one after the other; several processes may share the work. After all chapters
            comes Table 3's queue, which by itself is `python -m annotated_book.results.table_3 run`
gpu         all at the same time on one GPU, seed by seed; weights beside the files of runs
translate   test loss and BLEU from these weights, on the CPU
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from annotated_book.experiments.catalogue import EXPERIMENTS, SIZE, ChapterTraining
from annotated_book.experiments.make_runs import make_concurrently, make_one_by_one, translate_later
from annotated_book.experiments.sentences import WORK, ShortSentences, prepared_text
from annotated_book.pages import page_folder
from annotated_book.record import code_commit
from annotated_book.results.table_3.__main__ import main as table_3
from annotated_book.results.table_3.records import SEEDS

LONGEST = 1000
"""Hours that Table 3's queue is given where no end is asked for."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    how = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser("python -m annotated_book.experiments", description=__doc__, formatter_class=how)
    add = top.add_argument
    add("what", choices=("cpu", "gpu", "translate"))
    add("--chapters", nargs="+", choices=EXPERIMENTS, metavar="CHAPTER", help=f"of {', '.join(EXPERIMENTS)} (all)")
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
    add("--minutes", type=float, default=float("inf"), help="no run begins later; on a GPU none is recorded later")
    add("--smoke", action="store_true", help="20 updates each, recorded in --locks: a try, not a measurement")
    add("--commit", help="of the code, where it is no repository")
    return top


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    options = parser()
    given = options.parse_args(arguments)
    if given.what == "cpu" and "table_3" in (given.chapters or ()):
        options.error("on a CPU rows of Table 3 are chosen by `python -m annotated_book.results.table_3 run --rows`")
    given.with_table_3 = given.what == "cpu" and given.chapters is None and given.rows is None
    given.chapters = given.chapters or [name for name in EXPERIMENTS if given.what != "cpu" or name != "table_3"]
    return given


def main(arguments: Sequence[str]) -> int:
    """Run a command; the exit status."""
    until, given = time.monotonic(), parse(arguments)
    until += 60 * given.minutes
    text = ShortSentences.open(given.text or prepared_text(SIZE, WORK), SIZE.max_length)
    groups, out = groups_of(given.chapters, given.rows, given.seeds), given.out
    if given.smoke:
        groups, out = [[_shorter(one) for one in group] for group in groups], given.locks / "smoke"
    about = {"commit": given.commit or code_commit()}
    every = [one for group in groups for one in group]
    if given.what == "cpu":
        make_one_by_one(every, text, out, given.locks, about, until)
        hours = min(max(until - time.monotonic(), 0) / 3600, LONGEST)
        if given.with_table_3 and hours > 0:
            return table_3(["run", "--hours", f"{hours:.2f}", *(["--smoke"] if given.smoke else [])])
    elif given.what == "translate":
        for one in every:
            translate_later(one, text, out)
    else:
        about["command"] = "python -m annotated_book.experiments " + " ".join(arguments)
        for group in groups:
            if time.monotonic() < until:
                make_concurrently(group, text, out, torch.device("cuda"), about, until)
    return 0


def groups_of(chapters: Sequence[str], rows: Sequence[str] | None, seeds: Sequence[int]) -> list[list[ChapterTraining]]:
    """The runs chapter by chapter and seed by seed; on a GPU those of a group are made at the same time."""
    groups = [EXPERIMENTS[name](seed) for name in chapters for seed in seeds]
    chosen = [[one for one in group if rows is None or one.row in rows] for group in groups]
    return [group for group in chosen if group]


def _shorter(one: ChapterTraining) -> ChapterTraining:
    return dataclasses.replace(one, training=one.training.replace(updates=20, validate_every=10))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
