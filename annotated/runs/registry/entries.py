"""Registry entries: finished runs, each with its log, in a form that a script can check.

An entry is a folder:

- `report.json`: the run's report, as `annotated finish` wrote it.
- `log.jsonl`: its log, thinned (`thin_log`).
- `hypotheses.txt` (and `hypotheses.last.txt`): the translations, a line for a sentence.
- `statistics.tsv`: what both settings count in each sentence, so that the scores can be added up again without the test
  set, whose text stays its publisher's.
- `README.md`: for people, made from the report; and `entry.json`: the hashes of all these.
- `test.tsv`: only where the test set may be published; then the translations are scored again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotated.runs.log import LOG, read_records
from annotated.runs.report.model_card import hours_and_machine, scores_table, title
from annotated.runs.report.report import HYPOTHESES, LAST_HYPOTHESES, REPORT, STATISTICS, RunReport, without_folders
from annotated.runs.report.test_sets import TestSet, label
from annotated.saving import read_json, write_json
from annotated.storage import atomic_folder, atomic_write, checksums

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
LEDGER, ENTRY, README, TEST = "ledger", "entry.json", "README.md", "test.tsv"
LOG_BYTES = 200_000
"""The most that a thinned log may have."""
KEPT_KINDS = ("start", "train", "valid", "checkpoint", "end")
"""Kinds of records that an entry's log has; samples and heads would show text."""
_TRAINING_COLUMNS = ("updates", "target_tokens", "hours", "device_hours", "train_loss", "valid_loss")
_COLUMNS = [
    *("name", "added", "label", "complete", "sacrebleu", "low", "high", "paper", "chrf", "parameters"),
    *(*_TRAINING_COLUMNS, "machine"),
]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9.]+)*")


@dataclass(frozen=True)
class Entry:
    """A run in the ledger."""

    name: str
    folder: Path
    report: dict[str, Any]
    added: str
    """Date of the entry."""

    @property
    def machine(self) -> str:
        """Hours and hardware, in a few words."""
        return hours_and_machine(self.report)


def entries(folder: str | Path = LEDGER) -> list[Entry]:
    """All entries, the oldest first.

    Raises
    ------
    CheckpointError
        If an entry cannot be read.
    """
    found = []
    for place in sorted(path for path in Path(folder).glob("*") if (path / REPORT).is_file()):
        added = str(read_json(place / ENTRY).get("added", ""))
        found.append(Entry(place.name, place, RunReport.read(place).content, added))
    return sorted(found, key=lambda entry: (entry.added, entry.name))


def read_entries(folder: str | Path = LEDGER) -> pd.DataFrame:
    """All entries as a table to sort and to plot, a row for each, the oldest first.

    Parameters
    ----------
    folder
        Of the registry.

    Returns
    -------
    DataFrame
        Indexed by the entry's name. `added` is a date; `label` says what the data are, `complete` whether all updates
        were made, `machine` hours and hardware in words. Scores of the averaged model, 0 to 100: `sacrebleu` with its
        95 % interval `low` and `high`, `paper` (BLEU the paper's way) and `chrf`. Of training: `parameters`, `updates`,
        `target_tokens`, `hours`, `device_hours`, `train_loss` and `valid_loss` (nats per target token).

    Raises
    ------
    CheckpointError
        If an entry cannot be read.
    """
    import pandas as pd  # here: who checks a registry needs no tables

    rows = []
    for entry in entries(folder):
        report, scores = entry.report, entry.report["scores"]["average"]
        rows.append(
            {"name": entry.name, "added": entry.added, "label": report["label"], "complete": report["complete"]}
            | {setting: scores[setting]["score"] for setting in ("sacrebleu", "paper", "chrf")}
            | {end: scores["sacrebleu"].get(end) for end in ("low", "high")}
            | {"parameters": report["parameters"], "machine": entry.machine}
            | {name: report["training"][name] for name in _TRAINING_COLUMNS}
        )
    table = pd.DataFrame(rows, columns=_COLUMNS).set_index("name")
    return table.assign(added=pd.to_datetime(table["added"]))


def add_entry(run: str | Path, name: str, folder: str | Path = LEDGER, *, test: TestSet | None = None) -> Path:
    """Make an entry of a finished run; one of that name is replaced, whole or not at all.

    Parameters
    ----------
    run
        Folder of the run, with its `report/`.
    name
        Of the entry: small letters, digits and dashes, such as 'wmt14-base-8xh100'.
    test
        The test set, to be put beside the translations; only one that you may publish.

    Returns
    -------
    Path
        The entry's folder.

    Raises
    ------
    ValueError
        If the name is not such a name, or claims what the data do not allow.
    CheckpointError
        If the run is not finished.
    """
    run, folder = Path(run), Path(folder)
    report = RunReport.read(run)
    if not NAME.fullmatch(name):
        raise ValueError(f"an entry is named by small letters, digits and dashes, not {name!r}")
    if (problem := claim_problem(name, report.content)) is not None:
        raise ValueError(problem)
    log = read_records(run / LOG)
    with atomic_folder(folder / name) as partial:
        for file in (REPORT, HYPOTHESES, LAST_HYPOTHESES, STATISTICS):
            if (report.folder / file).is_file():
                shutil.copyfile(report.folder / file, partial / file)
        records, step = thin_log(log)
        write_text(partial / LOG, "".join(json.dumps(record) + "\n" for record in records))
        write_text(partial / README, readme(name, report.content, step))
        if test is not None:
            write_text(partial / TEST, "".join(f"{source}\t{reference}\n" for source, reference in test.pairs))
        about = {"format": FORMAT, "name": name, "added": date.today().isoformat(), "log_step": step}
        write_json(partial / ENTRY, {**about, "files": checksums(partial)})
    return folder / name


def thin_log(records: Sequence[Mapping[str, Any]], most: int = LOG_BYTES) -> tuple[list[dict[str, Any]], int]:
    """A log of at most so many bytes: of the records of kind 'train' every n-th, and all that tell of more.

    Kept are all records of the kinds start, valid, checkpoint and end, and of the kind train the first, the last, the
    last one before each start, and every n-th, with the smallest n that makes the log small enough. Records of samples
    and heads go, for they hold text. Files are known by their names alone, and the name of the machine goes. Nothing
    else is changed.

    Returns
    -------
    records, n

    Raises
    ------
    ValueError
        If even without all others the log is too large.
    """
    kept = [dict(record) for record in records if record["kind"] in KEPT_KINDS]
    for record in kept:
        if record["kind"] == "start":
            record["configuration"] = without_folders(record["configuration"])
            record.pop("host", None)  # nobody else's business, and it may hold a user's name
    places = [place for place, record in enumerate(kept) if record["kind"] == "train"]
    starts = [place for place, record in enumerate(kept) if record["kind"] == "start"]
    needed = {*places[:1], *places[-1:]}
    needed |= {max(before) for start in starts if (before := [place for place in places if place < start])}
    sizes = [len(json.dumps(record)) + 1 for record in kept]
    least = sum(size for record, size in zip(kept, sizes, strict=True) if record["kind"] != "train")
    for step in range(1, len(places) + 2):
        chosen = needed | set(places[::step])
        if least + sum(sizes[place] for place in chosen) <= most:
            return [one for place, one in enumerate(kept) if one["kind"] != "train" or place in chosen], step
    raise ValueError(f"the log has more than {most:,} bytes without most of its training records")


def claim_problem(name: str, report: Mapping[str, Any]) -> str | None:
    """What is wrong with what an entry says it is; None if nothing.

    Parameters
    ----------
    name
        Of the entry: one that begins with 'wmt14' claims to be a run on WMT14.
    """
    allowed = label(report["data"])
    if report["label"] != allowed or report["data"]["label"] != allowed:
        return f"its label is {report['label']!r}, and its data allow {allowed!r}"
    if name.startswith("wmt14") and not allowed.startswith("WMT14"):
        return f"the name {name!r} says WMT14, and the data are: {allowed}. Name it 'rehearsal-...', for one"
    return None


def readme(name: str, report: Mapping[str, Any], step: int) -> str:
    """What an entry says to people; all of it comes from the report.

    Parameters
    ----------
    step
        Of the training records in the log, one in so many was kept.
    """
    test, training = report["test"], report["training"]
    known = f" ({test['known_as']})" if test["known_as"] else ""
    versions = ", ".join(f"{package} {number}" for package, number in report["versions"].items())
    made = "\n".join(report["commands"].values())
    return f"""# {name}

**{title(report)}.** {"" if report["complete"] else "Its training has not made all its updates. "}\
{test["name"]}, {test["sentences"]:,} sentences{known}; beam {report["decoding"]["beam_size"]}, \
alpha {report["decoding"]["alpha"]}.

{scores_table(report)}

- {report["parameters"]:,} parameters; {training["updates"]:,} updates, {training["target_tokens"]:,} target tokens.
- {hours_and_machine(report)} (hours, minutes, seconds); {training["device_hours"]:.2f} device hours.
- {versions}.
- The log keeps one in {step} of the training records, and all others but samples and heads.

```sh
{made}
```

`annotated ledger check` checks this entry.
"""


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file with plain line ends, the same bytes on every system."""
    with atomic_write(path) as file:
        file.write(text)
