"""Report of a finished run: scores in all BLEU settings, and all that is needed to check or repeat them.

`report.json` is one object:

- `format`, `name`, `recipe` (None if it is none), `label` (what may be said of the data), `complete` (all updates were
  made, or `patience` ended it before); `data`, `test`: names, counts, hashes; no text; `data.missing` and
  `data.fallbacks`: archives that could not be had, and test sets from another one. `decoding`: how was searched;
  `averaged`: the checkpoints.
- `scores`: of the `average`, and of the `last` checkpoint by itself, each by `sacrebleu`, `paper`, `moses` (where
  sacremoses is installed) and `chrf`, with signatures and 95 % intervals; and their `difference`.
- `configuration`, `parameters`, `tokenizer`; `training`: updates, tokens, hours, loss; `hardware`, `energy`.
- `translation`: sentences and seconds; `versions`; `commands`; `files`: bytes and SHA-256 of each.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.evaluation.paper_bleu import has_moses
from annotated.runs.launch import train_command
from annotated.saving import CheckpointError, read_json

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
FOLDER, REPORT, CARD = "report", "report.json", "MODEL_CARD.md"
HYPOTHESES, LAST_HYPOTHESES, STATISTICS = "hypotheses.txt", "hypotheses.last.txt", "statistics.tsv"
SETTING_NAMES = {
    "sacrebleu": "BLEU, sacreBLEU",
    "paper": "BLEU, the paper's way",
    "moses": "BLEU, the paper's way with Moses' tokeniser",
    "chrf": "chrF",
}
_PATHS = ("train", "valid", "test", "tokenizer", "prepared")


class Row(NamedTuple):
    """One score of a report."""

    system: str
    setting: str
    score: float
    low: float | None
    """Ends of the 95 % interval; None where there is none."""
    high: float | None
    signature: str

    @property
    def interval(self) -> str:
        """The 95 % interval as text; empty where there is none."""
        return "" if self.low is None or self.high is None else f"{self.low:.2f} to {self.high:.2f}"


def score_rows(content: Mapping[str, Any]) -> list[Row]:
    """All scores of a report: of the average in each setting, then of the last checkpoint."""
    count = len(content["averaged"])
    average = f"average of {count} checkpoints" if count > 1 else "one checkpoint"
    return [
        Row(name, SETTING_NAMES[setting], one["score"], one.get("low"), one.get("high"), one["signature"])
        for system, name in (("average", average), ("last", "the last checkpoint alone"))
        for setting, one in (content["scores"].get(system) or {}).items()
    ]


@dataclass(frozen=True)
class RunReport:
    """A finished run's report; printed, the settings are rows of one table."""

    folder: Path
    content: dict[str, Any]
    """`report.json`."""

    @classmethod
    def read(cls, folder: str | Path) -> RunReport:
        """The report of a run (its folder, or that of the report).

        Raises
        ------
        CheckpointError
            If there is none, or it is of another version.
        """
        folder = Path(folder)
        folder = folder / FOLDER if (folder / FOLDER / REPORT).is_file() else folder
        content = read_json(folder / REPORT)
        if content.get("format") != FORMAT:
            raise CheckpointError(
                f"{folder / REPORT}: format {content.get('format')!r}; this version of the library reads {FORMAT}"
            )
        return cls(folder, content)

    def rows(self) -> list[Row]:
        """All scores."""
        return score_rows(self.content)

    def table(self) -> pd.DataFrame:
        """All scores as a DataFrame: columns system, setting, score, low and high (of the 95 % interval), signature."""
        import pandas as pd  # here: writing a report needs no tables

        return pd.DataFrame(self.rows()).astype({"low": float, "high": float})

    def __str__(self) -> str:
        test = self.content["test"]
        head = f"{self.content['name']}: {self.content['label']}; "
        head += f"{test_name(self.content)}, {test['sentences']:,} sentences"
        return "\n".join([head, *(_plain_row(row) for row in self.rows())])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("system", "setting", "score", "95 % interval", "signature"))
        rows = "".join(
            f"<tr><td>{html.escape(row.system)}</td><td>{html.escape(row.setting)}</td><td>{row.score:.2f}</td>"
            f"<td>{row.interval}</td><td><code>{html.escape(row.signature)}</code></td></tr>"
            for row in self.rows()
        )
        caption = f"<caption>{html.escape(str(self).splitlines()[0])}</caption>"
        return f'<table class="table">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def test_name(content: Mapping[str, Any]) -> str:
    """The name of a report's test set; that of a published one is only the file's where the archives are others'."""
    name = str(content["test"]["name"])
    rehearsal = content["label"].startswith("rehearsal") and not content["test"].get("known_as")
    return f"other text in the file of {name}" if rehearsal else name


def training_facts(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a log says of a training run as a whole.

    Parameters
    ----------
    records
        Of the log, as `read_records` gives them.

    Raises
    ------
    CheckpointError
        If no update is on record.
    """
    starts = [record for record in records if record["kind"] == "start"]
    windows = [record for record in records if record["kind"] == "train"]
    if not starts or not windows:
        raise CheckpointError("the log has no update in it: there is nothing to report yet")
    last = windows[-1]
    valid = next((r for r in reversed(records) if r["kind"] == "valid"), None)
    seconds = max(record.get("elapsed") or 0.0 for record in records)
    return {
        "updates": last["update"],
        "target_tokens": last["tokens_seen"],
        "epochs": last["epoch"],
        "hours": round(seconds / 3600, 4),
        "device_hours": round(_device_seconds(records) / 3600, 4),
        "starts": len(starts),
        "devices": sorted({start["processes"] for start in starts}),
        "train_loss": last["loss"],
        "valid_loss": None if valid is None else valid["valid_loss"],
        "valid_loss_averaged": bool(valid and valid.get("averaged")),
        "tokens_per_second": round(last["tokens_seen"] / max(seconds, 1e-9), 1),
    }


def _device_seconds(records: Sequence[Mapping[str, Any]]) -> float:
    """Seconds of training, times the devices that were at work in each of its parts."""
    total, devices, before = 0.0, 1, 0.0
    for record in records:
        if record["kind"] == "start":
            devices = record["processes"]
        now = record.get("elapsed") or before
        total, before = total + devices * max(0.0, now - before), max(before, now)
    return total


def without_folders(configuration: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A configuration whose files are known by their names alone: where they lay is nobody else's business."""
    found = {group: dict(fields) for group, fields in configuration.items()}
    for name in _PATHS:
        value = found.get("data", {}).get(name)
        if isinstance(value, str) and value != "classroom":
            found["data"][name] = ",".join(Path(part.strip()).name for part in value.split(","))
    return found


def public_command(words: Sequence[str]) -> str:
    """A command line for a terminal, whose folders are known by their names alone."""
    import shlex

    return shlex.join(Path(word).name if Path(word).is_absolute() else word for word in words)


def commands(
    name: str, configuration: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any], recipe: str | None
) -> dict[str, str]:
    """What to type to make a run again: its data, where they were prepared from archives, and its training.

    Parameters
    ----------
    facts
        What is known of the data, as `describe_data` gives it.
    """
    groups = without_folders(configuration)
    data = DataConfig.from_dict(groups["data"])
    if recipe is None:
        model, training = ModelConfig.from_dict(groups["model"]), TrainingConfig.from_dict(groups["training"])
        words = train_command(name, model, training, data)
    else:
        words = ["annotated", "train", name, "--preset", recipe, "--data.prepared", str(data.prepared)]
    found = {"train": public_command(words)}
    if data.prepared is not None and facts["catalogue"] is not None:
        words = ["annotated", "data", facts["catalogue"], data.prepared]
        words += ["--pair", facts["pair"]] if facts["catalogue"] == "wmt14" else []
        if "layout" in facts["label"]:
            words += ["--mirror", "MIRROR", "--catalogue", "MIRROR/catalogue.json"]
        found = {"data": public_command(words), **found}
    return found


def versions() -> dict[str, str]:
    """Of everything that has a part in a score."""
    from annotated import __version__  # the package imports this module's package

    names = ["torch", "sacrebleu", "tokenizers", *(["sacremoses"] if has_moses() else [])]
    return {"annotated": __version__, **{name: version(name) for name in names}}


def _plain_row(row: Row) -> str:
    return f"  {row.system:<28}{row.setting:<45}{row.score:6.2f}  {row.interval:<16}{row.signature}"
