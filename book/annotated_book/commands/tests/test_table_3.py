"""`annotated table3`: rows on the classroom's text and on prepared text, several processes, errors of one line."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotated.classroom import classroom_pairs
from annotated.cli import main
from annotated.cli.finish import _recipe_of
from annotated.cli.program import _command
from annotated.cli.train import check_pair
from annotated.config import DataConfig, table_3, table_3_training
from annotated.recipes import ON_A_GPU, OURS, TABLE_3_RECIPES, recipe
from annotated.runs import read_records
from annotated.runs.report import RunReport
from annotated.wmt14 import PreparationOptions, PreparedCorpus, prepare_files
from annotated_book.commands import table_3_jobs
from annotated_book.experiments import settings
from annotated_book.experiments.reader_runs import open_folder, recorded

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[4]
PLACES = (str(ROOT), str(ROOT / "book"))

TINY = replace(
    settings.READER_SMOKE, updates=4, batch_tokens=100, warmup=2, vocab_size=300, train_pairs=300, valid_pairs=12
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and a --smoke of four updates."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "READER_SMOKE", TINY)
    return tmp_path


def test_rows_are_trained_compared_and_shown_again(here: Path, capsys) -> None:
    assert main(["table3", "run", "C1", "--seeds", "2", "--smoke"]) == 0
    shown = capsys.readouterr()
    assert "the classroom's own, of 300 entries" in shown.err
    runs = recorded(here / "table3-smoke")
    assert set(runs) == {("base", 0), ("C1", 0), ("base", 1), ("C1", 1)}
    mean = sum(runs["C1", seed]["valid_loss"] for seed in (0, 1)) / 2
    row = next(line for line in shown.out.splitlines() if line.startswith("C1"))
    assert f"{mean:.4f}" in row and "N=2" in row and "+0.217" in row
    assert main(["table3", "show", "table3-smoke"]) == 0
    assert capsys.readouterr().out == shown.out
    assert main(["table3", "run", "base", "--seeds", "1", "--smoke", "--out", "alone", "--quiet"]) == 0
    alone = recorded(here / "alone")["base", 0]
    assert alone["valid_loss"] == runs["base", 0]["valid_loss"], "alone or with others, a run is the same"
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_two_processes_make_the_runs_that_one_makes(here: Path, capsys) -> None:
    assert main(["table3", "run", "C1", "--seeds", "1", "--smoke", "--jobs", "2"]) == 0
    assert "the classroom's own, of 300 entries" in capsys.readouterr().err
    together = recorded(here / "table3-smoke")
    assert set(together) == {("base", 0), ("C1", 0)}
    assert main(["table3", "run", "base", "--seeds", "1", "--smoke", "--out", "alone", "--quiet"]) == 0
    assert recorded(here / "alone")["base", 0]["valid_loss"] == together["base", 0]["valid_loss"]


def test_a_signal_is_the_exit_status(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(table_3_jobs, "make_together", lambda *_: "SIGTERM")
    assert main(["table3", "run", "C1", "--smoke"]) == 143
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "say which rows: annotated table3 run C1 D1. There are base, A1,"),
        (["run", "A5"], "Table 3 has no row 'A5'. There are base, A1,"),
        (["run", "a1"], "did you mean A1? There are base, A1,"),
        (["run", "A1", "--seeds", "0"], "--seeds must be at least 1, not 0"),
        (["run", "A1", "--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["run", "A1", "--jobs", "2", "--preset", "paper"], "--jobs is for the preset classroom"),
        (["run", "A1", "--prepared", "x"], "--prepared is for --preset paper"),
        (["run", "A1", "--preset", "paper", "--smoke"], "data/wmt14-en-de: not a prepared corpus"),
        (["show"], "table3: no rows of Table 3 in it; train some: annotated table3 run C1 --out table3"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str, here: Path, capsys) -> None:
    assert main(["table3", *arguments, *(["--quiet"] if "--smoke" in arguments else [])]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and "Traceback" not in error
    assert not list(here.rglob("*.json"))


def test_a_folder_of_another_size_and_a_full_disk(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
        assert main(["table3", "run", "C1"]) == 1
    error = capsys.readouterr().err
    assert "the disk is full" in error and "give the same command again" in error and error.count("\n") == 1
    open_folder(here / "table3", settings.READER_SIZE)
    assert main(["table3", "run", "C1", "--smoke", "--out", "table3"]) == 2
    error = capsys.readouterr().err
    assert "table3 holds runs of another size (updates 1000 and not 4," in error and error.count("\n") == 1
    assert main(["table3", "show"]) == 2
    assert "table3: no run has ended yet" in capsys.readouterr().err


@pytest.mark.parametrize("row", ["base", "A1", "D3", "big"])
def test_the_papers_rows_are_recipes_without_averaging(row: str) -> None:
    asked = _command(["train", f"table3-{row}"])
    assert asked.out == Path(f"runs/table3-{row}") and asked.model == table_3(row)
    wanted = table_3_training(row, **OURS, **ON_A_GPU).to_dict()
    free = {"checkpoint_every", "validate_every", "average_last"}
    assert {name for name, value in asked.training.to_dict().items() if value != wanted[name]} == free
    assert asked.training.average_last == 1 and asked.data.prepared == "data/wmt14-en-de"
    assert asked.data == recipe("wmt14-base").data and TABLE_3_RECIPES[f"table3-{row}"] == recipe(f"table3-{row}")


def test_the_papers_rows_are_on_english_german(monkeypatch: pytest.MonkeyPatch) -> None:
    french = type("French", (), {"manifest": {"corpus": {"pair": "en-fr"}}})
    monkeypatch.setattr(PreparedCorpus, "open", lambda folder: french)
    with pytest.raises(ValueError, match="texts is en-fr, but Table 3 is on en-de: prepare the data"):
        check_pair("table3-A1", DataConfig(prepared="texts"))


@pytest.mark.parametrize("name", ["wmt14-base", "table3-base", "table3-D4"])
def test_a_report_names_the_recipe_that_averages_as_the_run_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = type("German", (), {"manifest": {"corpus": {"pair": "en-de", "name": "wmt14"}}})
    monkeypatch.setattr(PreparedCorpus, "open", lambda folder: german)
    one = recipe(name)
    groups = {"model": one.model.to_dict(), "training": one.training.to_dict(), "data": one.data.to_dict()}
    start = {"kind": "start", "update": 0, "configuration": groups}
    (tmp_path / "log.jsonl").write_text(json.dumps(start) + "\n")
    assert _recipe_of(tmp_path, None) == name


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A prepared corpus of some hundred sentences."""
    files: dict[str, Any] = {}
    for split, count in (("train", 300), ("valid", 12), ("test", 12)):
        files[split] = tmp_path / f"{split}.tsv"
        pairs = classroom_pairs(split, count)  # type: ignore[arg-type]
        files[split].write_text("".join(f"{one.source}\t{one.target}\n" for one in pairs), encoding="utf-8")
    options = PreparationOptions(vocab_size=300)
    prepare_files({"train": files["train"]}, files["valid"], files["test"], tmp_path / "text", options, quiet=True)
    return tmp_path / "text"


@pytest.mark.slow
def test_the_papers_rows_on_two_processes_are_scored_and_registered(here: Path, text: Path, capsys) -> None:
    """Two seeds one after the other under torchrun, small; then what the command says to do next."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    asked = ["table3", "run", "C1", "--seeds", "2", "--preset", "paper", "--smoke", "--prepared", str(text)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(PLACES)}
    done = subprocess.run(
        [*torchrun, "annotated", *asked], capture_output=True, text=True, timeout=500, env=environment, cwd=here
    )
    assert done.returncode == 0, done.stderr
    for seed in (0, 1):
        start = read_records(here / f"table3-paper-smoke/C1-{seed}")[0]
        assert (start["configuration"]["training"]["seed"], start["processes"]) == (seed, 2)
        assert start["configuration"]["model"]["num_encoder_layers"] == 2
    next_steps = [line.removeprefix("table3: ").split() for line in done.stderr.splitlines() if "  annotated " in line]
    assert len(next_steps) == 2 and next_steps[0][-4:] == ["--test", "valid", "--average", "1"]
    assert main([*next_steps[0][1:], "--quiet", "--device", "cpu"]) == 0
    report = RunReport.read(here / "table3-paper-smoke/C1-0").content
    assert report["test"]["name"] == "valid" and len(report["averaged"]) == 1 and report["scores"]["last"] is None
    capsys.readouterr()
    assert main(["table3", "show", "table3-paper-smoke"]) == 0
    row = capsys.readouterr().out.splitlines()[2].split()
    losses = [read_records(here / f"table3-paper-smoke/C1-{seed}")[-2]["valid_loss"] for seed in (0, 1)]
    assert row[:2] == ["C1", "N=2"] and row[3:] == ["2", f"{sum(losses) / 2:.4f}"]
    assert main(shlex.split(" ".join(asked))) == 0, "nothing is left to train"
    assert "updates of" not in capsys.readouterr().err
