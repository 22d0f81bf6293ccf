"""`annotated preflight` and `annotated dry-run` as they are typed: folders, order of checks and dry runs, status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotated.cli.program import _command, run
from annotated.config import TrainingConfig
from annotated.runs import dry_run, exchange_time

pytestmark = pytest.mark.process

TINY = ["--preset", "tiny", "--training.device", "cpu"]


def test_the_folder_is_named_alone_or_by_run() -> None:
    for words in (["preflight", "x"], ["preflight", "--run", "x"], ["dry-run", "x"], ["rehearse", "--run", "x"]):
        asked = _command([*words, "--preset", "tiny"])
        assert (asked.run_folder or asked.named) == Path("x")


@pytest.mark.slow
def test_the_folder_stands_where_torchrun_takes_it_for_nothing_else(tmp_path: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "-m"]
    asked = [*torchrun, "annotated", "preflight", str(tmp_path / "run"), *TINY, "--data.classroom-pairs", "100"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)
    assert done.returncode == 0 and "ok   devices" in done.stdout, done.stderr


@pytest.fixture
def dry_runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of dry runs, which are only begun."""
    begun: list[Path] = []

    def begin(*_: Any, folder: Path, **__: Any) -> None:
        begun.append(folder)

    monkeypatch.setattr(dry_run, "dry_run", begin)
    return begun


def test_there_is_no_dry_run_where_a_check_fails(
    dry_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    asked = ["preflight", str(folder), "--rehearse", *TINY]
    assert run([*asked, "--data", str(tmp_path / "missing")]) == 1
    said = capsys.readouterr()
    assert "fail data" in said.out and "ok   devices" in said.out and not dry_runs
    assert run(asked) == 0
    said = capsys.readouterr()
    assert dry_runs == [folder] and said.out.count("devices") == 1
    assert f"dry run of {folder}: " in said.err and "(--preset tiny); reading classroom" in said.err


def test_a_dry_run_that_fails_does_not_take_the_table_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(dry_run, "dry_run", fail)
    assert run(["preflight", str(tmp_path / "run"), "--dry-run", *TINY]) == 1
    said = capsys.readouterr()
    assert "ok   devices" in said.out and "out of memory" in said.err


def test_one_process_of_a_machine_tells_what_fails_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any other status than 0 in another process would make torchrun end the one that prints."""
    monkeypatch.setattr(exchange_time, "measure_exchange", None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    asked = ["preflight", *TINY, "--data", str(tmp_path / "missing")]
    for rank, status in (("1", 0), ("0", 1)):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("LOCAL_RANK", rank)
        assert run(asked) == status
        assert ("fail data" in capsys.readouterr().out) is (status == 1)


def test_a_dry_run_says_what_it_runs(dry_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rehearse", str(tmp_path / "run"), *TINY]) == 0
    updates = TrainingConfig().updates
    said = capsys.readouterr().err
    assert f"dry run of {tmp_path / 'run'}: " in said and f"{updates:,} updates" not in said, "tiny's, not the paper's"
    assert "(--preset tiny); reading classroom" in said
    assert run(["dry-run", str(tmp_path / "run"), *TINY, "--quiet"]) == 0
    assert "dry run of" not in capsys.readouterr().err
