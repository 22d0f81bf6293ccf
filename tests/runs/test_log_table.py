"""The log of a run as a table: a row for each update, validations on theirs, the averaged model's left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import annotated
from annotated.runs import read_log, read_records

RUN = Path(annotated.__file__).parent / "assets/classroom"


def write(folder: Path, *records: dict[str, object]) -> Path:
    (folder / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def train(update: int, **fields: object) -> dict[str, object]:
    return {"kind": "train", "update": update, "epoch": 0, "tokens_seen": 10 * update, "loss": 2.5,
            "learning_rate": 1e-3, "gradient_norm": 1.0, "tokens_per_second": 9.0, "seconds_left": 1.0,
            "elapsed": 1.0 * update, **fields}  # fmt: skip


def valid(update: int, loss: float, **fields: object) -> dict[str, object]:
    return {"kind": "valid", "update": update, "epoch": 0, "tokens_seen": 10 * update, "valid_loss": loss,
            "perplexity": np.exp(loss), "bleu": None, "averaged": False, "elapsed": 1.0 * update, **fields}  # fmt: skip


def test_training_and_validation_of_an_update_share_a_row(tmp_path: Path) -> None:
    table = read_log(write(
        tmp_path, {"kind": "start", "update": 0}, train(10), train(20, loss=2.0), valid(20, 1.5, bleu=31.25),
        {"kind": "samples", "update": 20, "samples": []}, train(30, loss=None), valid(35, 1.0),
        {"kind": "checkpoint", "update": 20, "path": "x"}, valid(35, 0.5, averaged=True),
        {"kind": "end", "update": 35, "finished": True},
    ))  # fmt: skip
    assert table["update"].tolist() == [10, 20, 30, 35]
    assert table["tokens_seen"].tolist() == [100, 200, 300, 350]
    np.testing.assert_equal(table["loss"].to_numpy(), [2.5, 2.0, np.nan, np.nan])
    np.testing.assert_equal(table["rate"].to_numpy(), [1e-3, 1e-3, 1e-3, np.nan])
    np.testing.assert_equal(table["validation_loss"].to_numpy(), [np.nan, 1.5, np.nan, 1.0])
    np.testing.assert_equal(table["bleu"].to_numpy(), [np.nan, 31.25, np.nan, np.nan])
    assert list(table.columns) == [
        "update", "epoch", "tokens_seen", "elapsed", "loss", "rate", "gradient_norm", "tokens_per_second",
        "validation_loss", "perplexity", "bleu",
    ]  # fmt: skip


def test_the_table_says_what_the_records_say() -> None:
    records, table = read_records(RUN), annotated.read_log(RUN)
    assert table["loss"].dropna().tolist() == [r["loss"] for r in records if r["kind"] == "train"]
    kept = [r["valid_loss"] for r in records if r["kind"] == "valid" and not r["averaged"]]
    assert table["validation_loss"].dropna().tolist() == kept
    assert table["update"].is_monotonic_increasing and table["update"].is_unique
    assert table.equals(annotated.read_log(RUN / "log.jsonl"))


def test_a_run_that_has_only_begun_has_an_empty_table(tmp_path: Path) -> None:
    table = read_log(write(tmp_path, {"kind": "start", "update": 0}))
    assert table.empty and "loss" in table and "bleu" in table


def test_no_log_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "nothing")


def test_importing_the_library_and_reading_records_needs_no_pandas() -> None:
    program = (
        "import sys, annotated\n"
        "from annotated.runs import read_records\n"
        f"assert read_records({str(RUN)!r}) and 'pandas' not in sys.modules\n"
        f"annotated.read_log({str(RUN)!r})\n"
        "assert 'pandas' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
