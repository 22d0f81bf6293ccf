"""Records: what was measured stays readable, says where it comes from, and survives a run that dies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotated.experiments import record, recorded
from annotated.experiments.__main__ import NAMES, main


def test_a_record_is_read_back_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    path = record.make("tiny", lambda: {"loss": [0.5, 0.25]}, folder=tmp_path)
    assert path == tmp_path / "tiny.json"
    found = recorded("tiny")
    assert found.results == {"loss": [0.5, 0.25]}
    assert found.command == "python -m annotated.experiments tiny"
    assert found.command in found.caption() and found.machine["processor"] in found.caption()


def test_a_run_that_dies_leaves_the_old_record(tmp_path: Path) -> None:
    record.make("tiny", lambda: {"value": 1}, folder=tmp_path)

    def dies() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record.make("tiny", dies, folder=tmp_path)
    assert json.loads((tmp_path / "tiny.json").read_text())["results"] == {"value": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.json"]


def test_a_missing_record_says_how_to_make_it() -> None:
    with pytest.raises(FileNotFoundError, match="python -m annotated.experiments no_such_run"):
        recorded("no_such_run")


def test_every_experiment_has_its_record_and_every_record_its_experiment() -> None:
    records = {path.stem for path in record.FOLDER.glob("*.json")}
    assert records == set(NAMES)
    for name in records:
        found = recorded(name)
        assert found.command == f"python -m annotated.experiments {name}" and found.results and found.cpu_seconds > 0


def test_the_command_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NAMES)
    assert main(["no_such_run"]) == 2


def test_the_command_is_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "annotated.experiments"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: python -m annotated.experiments NAME")
