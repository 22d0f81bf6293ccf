"""`annotated ledger`: add a run, check all."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass
class Add:
    """Put a finished run into the ledger: its report, log and translations, and the counts of both BLEU settings."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """Folder of the run; `annotated finish` has reported on it."""
    name: tyro.conf.Positional[str]
    """Of the entry, in small letters, digits and dashes: wmt14-base-8xh100."""
    ledger: Path = Path("ledger")
    """Folder of the ledger."""
    with_test: bool = False
    """Put the test set in, too, so that everybody can score the translations again. Only where you may publish it:
    yes for classroom text, no for newstest2014."""
    prepared: str | None = None
    """Folder of the prepared data, for --with-test, if it is not where it was during training."""

    def run(self) -> int:
        """Make the entry, and check it."""
        from annotated.runs.registry import add_entry, check_entry

        test = _test_set(self.folder, self.prepared) if self.with_test else None
        entry = add_entry(self.folder, self.name, self.ledger, test=test)
        problems = check_entry(entry)
        for problem in problems:
            print(f"{self.name}: {problem}", file=sys.stderr)
        print(entry)
        return 1 if problems else 0


@dataclass
class CheckLedger:
    """Check the entries of the ledger: schema, hashes, log against report, scores added up again, claims.

    Exit status 0: nothing is wrong. 1: something is.
    """

    folder: tyro.conf.Positional[Path] = Path("ledger")
    """The ledger, or one entry."""
    prepared: tuple[str, ...] = ()
    """Folders of prepared data: translations of the test sets in them are scored again."""

    def run(self) -> int:
        """Check, and print what is wrong."""
        from annotated.runs.registry import check_ledger, entries
        from annotated.runs.report import development_set, prepared_test_sets

        tests = [test for folder in self.prepared for test in (*prepared_test_sets(folder), development_set(folder))]
        problems = check_ledger(self.folder, tests)
        for problem in problems:
            print(f"{problem.entry}: {problem.text}")
        if not problems:
            names = (
                [self.folder.name]
                if (self.folder / "entry.json").is_file()
                else [one.name for one in entries(self.folder)]
            )
            print(f"nothing wrong in {len(names)} entries: {', '.join(names) or 'there are none'}")
        return 1 if problems else 0


def _test_set(run: Path, prepared: str | None):
    """The test set that a run's report is about."""
    from annotated.config import DataConfig
    from annotated.runs import read_records
    from annotated.runs.report import RunReport, open_test_set

    start = next(record for record in reversed(read_records(run)) if record["kind"] == "start")
    data = DataConfig.from_dict(start["configuration"]["data"])
    data = data if prepared is None else data.replace(prepared=prepared)
    return open_test_set(data, RunReport.read(run).content["test"]["name"])
