"""`python -m annotated_book.results.table_3 run | status | one`: make the runs of the small Table 3, or see its state.

run --hours 8 --jobs 2 --nice     the pilot until it has chosen a size, then all rows by need; resumable: stop it
                                  with SIGTERM, or kill it, and give the command again
run --smoke                       every row once with a fraction of the updates, recorded in build/table_3/smoke
status                            what is recorded, and who works on what
one ROW SEED                      one run
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotated.locks import Locked, exclusive_lock
from annotated_book.experiments.queue import TAKEN, Queue, Run
from annotated_book.experiments.runs_file import RUNS
from annotated_book.experiments.sentences import WORK, prepared_text
from annotated_book.experiments.settings import SIZES, Size, size_of
from annotated_book.results.table_3.pilot import PILOT_ROWS, PILOT_SEEDS, chosen_size, current_size
from annotated_book.results.table_3.records import (
    MORE_SEEDS,
    RECORDS,
    SEEDS,
    claim_file,
    needed_runs,
    recorded_runs,
)
from annotated_book.results.table_3.rows import ROWS
from annotated_book.results.table_3.status import pilot_lines, status_lines

SKIPPED = 77
"""Exit status where there is no real text, as test programs have it for a test that was skipped."""
STOPPED = 143


def parser() -> argparse.ArgumentParser:
    """The command line."""
    how = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser("python -m annotated_book.results.table_3", description=__doc__, formatter_class=how)
    commands = top.add_subparsers(dest="command", required=True)
    run, status, one = (commands.add_parser(name) for name in ("run", "status", "one"))
    run.add_argument("--hours", type=float, default=8.0, help="runs are saved and ended after so long (%(default)s)")
    run.add_argument("--jobs", type=int, default=1, help="runs at a time, of one thread each (%(default)s)")
    run.add_argument("--nice", action="store_true", help="give way to all other work on the machine")
    run.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS, metavar="ROW", help="only these rows")
    run.add_argument("--seeds", type=int, default=SEEDS, help="seeds of every row (%(default)s)")
    run.add_argument("--smoke", action="store_true", help="a fiftieth of the updates, one seed, nothing recorded")
    one.add_argument("row", choices=ROWS, metavar="ROW")
    one.add_argument("seed", type=int)
    for command in (run, status, one):
        command.add_argument("--size", type=size_of, help="name of a size; the pilot's if not given")
        command.add_argument("--work", type=Path, default=WORK, help="prepared text and checkpoints (%(default)s)")
        command.add_argument("--records", type=Path, default=RECORDS, help="file of the runs (the package's)")
    return top


def main(arguments: Sequence[str]) -> int:
    """Run a command; its exit status."""
    options = parser()
    given = options.parse_args(arguments)
    if given.records.is_dir():
        options.error(f"--records is a file of runs, and {given.records} is a folder: name {given.records / RUNS}")
    if given.command == "status":
        size = given.size or (current_size(given.records) or (None,))[0]
        lines = [] if size is None else ["", *status_lines(size, given.work, given.records)]
        print("\n".join([*pilot_lines(given.records), *lines]))
        return 0
    try:
        return _one(given) if given.command == "one" else _run(given)
    except FileNotFoundError as error:
        print(f"table_3: SKIPPED, nothing was trained: {error}", file=sys.stderr)
        return SKIPPED


def _run(given: argparse.Namespace) -> int:
    """Without a size: the pilot, as long as it has not chosen one, and then all rows at that size."""
    if given.nice:
        os.nice(19)
    until = time.monotonic() + 3600 * given.hours
    if given.smoke:
        size = (given.size or next(iter(SIZES.values()))).smoke()
        return _work(given, size, given.work / "smoke" / RUNS, given.rows, 1, 0, until)
    while given.size is None and (found := current_size(given.records)) is not None and found[1] != "chosen":
        seeds = 1 if found[1] == "first pair" else PILOT_SEEDS
        status = _work(given, found[0], given.records, PILOT_ROWS, seeds, 0, until)
        if status != 0:
            return status
    size = given.size or chosen_size(given.records)
    if size is None:
        print("table_3: the pilot has tried all sizes in vain; add larger ones to SIZES", file=sys.stderr)
        return 1
    return _work(given, size, given.records, given.rows, given.seeds, MORE_SEEDS, until)


def _work(
    given: argparse.Namespace, size: Size, records: Path, rows: Sequence[str], seeds: int, more: int, until: float
) -> int:
    """One queue; 0 when nothing is missing, 1 if runs failed, `STOPPED` if the time is over or a signal came."""
    prepared_text(size, given.work)

    def needed() -> Iterator[Run]:
        return needed_runs(recorded_runs(size, records), rows, seeds, more)

    def command(run: Run) -> list[str]:
        what = [sys.executable, "-m", "annotated_book.results.table_3", "one", run[0], str(run[1]), "--size", size.name]
        return [*what, "--work", str(given.work), "--records", str(records)]

    queue = Queue(needed, lambda run: claim_file(*run, size, given.work), command)
    done = queue.run((until - time.monotonic()) / 3600, given.jobs)
    print("\n".join(status_lines(size, given.work, records)), flush=True)
    return 1 if queue.failed else 0 if done else STOPPED


def _one(given: argparse.Namespace) -> int:
    from annotated_book.experiments.make_runs import make_row
    from annotated_book.experiments.train_one import Stopped

    if given.size is None:
        print("table_3: one run needs --size", file=sys.stderr)
        return 2
    try:
        with exclusive_lock(claim_file(given.row, given.seed, given.size, given.work), wait_seconds=0.5):
            if (given.row, given.seed) not in recorded_runs(given.size, given.records):
                make_row(given.row, given.seed, given.size, given.work, given.records)
    except Locked:
        return TAKEN
    except Stopped as stopped:
        print(f"table_3: {stopped}", file=sys.stderr)
        return STOPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
