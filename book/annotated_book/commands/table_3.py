"""`annotated table3`: train rows of the paper's Table 3, small on the classroom's text or as printed on WMT14, and
compare them with base."""

from __future__ import annotations

import difflib
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from annotated.config import TABLE_3

Preset = Literal["classroom", "paper"]
FOLDERS: dict[Preset, Path] = {"classroom": Path("table3"), "paper": Path("table3-paper")}
"""Where the runs go if nobody names a folder; those of --smoke into a folder of their own."""


@dataclass
class RunRows:
    """Train rows of Table 3 and base with some seeds; compare the rows with base.

    Small, on the classroom's text, up to three minutes of one core a run, big 15: annotated table3 run C1 D1 --seeds 3

    Every width of a row is divided by 16, as in chapter 28, so d_model is 32 in base; the vocabulary is the classroom's
    own. All rows have one budget, one schedule, and with one seed one order of the data. Killed, the same command goes
    on where it stopped; with more rows or seeds it makes only what is missing.

    The rows as the paper has them, on the text that annotated data wmt14 prepares, and on GPUs:

    torchrun --standalone --nproc-per-node 8 -m annotated table3 run A1 --seeds 1 --preset paper
    """

    rows: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="ROW")] = ()
    """Of the paper's table: A1 to A4, B1, B2, C1 to C7, D1 to D4, E1, big. With the preset classroom base is always
    made too."""
    seeds: int = 3
    """Of each row: 0, 1, 2 and so on."""
    preset: Preset = "classroom"
    """classroom: scaled down, on a CPU. paper: as printed, on prepared WMT14 text; only what is named is trained."""
    out: Path | None = None
    """Folder of the runs; table3 if not given, or table3-paper."""
    jobs: int = 1
    """Runs at a time, one core each (classroom)."""
    smoke: bool = False
    """Try the machinery with a few updates; nothing can be learnt from the numbers."""
    prepared: str | None = None
    """Folder of the prepared text, if it is not data/wmt14-en-de (paper)."""
    quiet: bool = False
    """Only the table and errors on the console."""

    def run(self) -> int:
        """Train what is missing and print the table; 0, or 128 + the number of the signal that stopped it."""
        self._check()
        folder = self.out or _default_folder(self.preset, self.smoke)
        if self.preset == "paper":
            from annotated_book.commands.table_3_paper import train_rows

            return train_rows(self.rows, self.seeds, folder, self.prepared, self.smoke, self.quiet)
        from annotated_book.commands.table_3_jobs import make_together, say
        from annotated_book.experiments import settings
        from annotated_book.experiments.reader_runs import open_folder

        size = settings.READER_SMOKE if self.smoke else settings.READER_SIZE
        open_folder(folder, size)
        if not self.quiet:
            say(
                f"runs in {folder}: all widths divided by {size.divisor} but for the vocabulary, which is the "
                f"classroom's own, of {size.vocab_size:,} entries"
            )
        stopped_by = make_together(self.rows, self.seeds, folder, size, self.jobs, self.quiet)
        if stopped_by is not None:
            return 128 + int(getattr(signal, stopped_by, signal.SIGTERM))
        return _show(folder)

    def _check(self) -> None:
        """Raise `ValueError` for what can be known to be wrong before anything is made."""
        if not self.rows:
            raise ValueError(f"say which rows: annotated table3 run C1 D1. There are {', '.join(TABLE_3)}")
        for row in self.rows:
            if row not in TABLE_3:
                near = difflib.get_close_matches(row.upper(), TABLE_3, n=1, cutoff=0.6)
                hint = f"; did you mean {near[0]}?" if near else "."
                raise ValueError(f"Table 3 has no row {row!r}{hint} There are {', '.join(TABLE_3)}")
        for name, value in (("--seeds", self.seeds), ("--jobs", self.jobs)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.preset == "paper" and self.jobs > 1:
            raise ValueError("--jobs is for the preset classroom: one run of --preset paper takes all GPUs (torchrun)")
        if self.preset == "classroom" and self.prepared is not None:
            raise ValueError("--prepared is for --preset paper: the preset classroom makes its own text")


@dataclass
class ShowRows:
    """Print the table of the rows that were trained in a folder, again."""

    folder: tyro.conf.Positional[Path] = FOLDERS["classroom"]
    """As annotated table3 run made it, with either preset."""

    def run(self) -> int:
        """Print the table."""
        return _show(self.folder)


def command() -> Any:
    """`annotated table3`, for the command line of the library."""
    sub = tyro.conf.subcommand
    rows = Annotated[RunRows, sub("run")] | Annotated[ShowRows, sub("show")]
    return Annotated[
        rows, sub("table3", description="Rows of the paper's Table 3: train some, compare them with base.")
    ]


def _show(folder: Path) -> int:
    from annotated_book.commands.table_3_paper import holds_runs, paper_runs
    from annotated_book.experiments.reader_runs import folder_size, recorded
    from annotated_book.results.table_3.reader_table import table_lines

    if holds_runs(folder):
        runs, model = paper_runs(folder)
    else:
        model = folder_size(folder).model
        runs = recorded(folder)
    if not runs:
        raise FileNotFoundError(f"{folder}: no run has ended yet; give the command again that makes them")
    print("\n".join(table_lines(runs, model)))
    return 0


def _default_folder(preset: Preset, smoke: bool) -> Path:
    return Path(f"{FOLDERS[preset]}-smoke") if smoke else FOLDERS[preset]
