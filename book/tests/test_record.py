"""Records: what was measured stays readable, says where it comes from, and survives a run that dies."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from annotated_book import record, recorded
from annotated_book.__main__ import main
from annotated_book.pages import BOOK
from annotated_book.record import record_names


@pytest.mark.parametrize(("name", "file"), [("tiny", "tiny/record.json"), ("tiny/part", "tiny/part.json")])
def test_a_record_is_read_back_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setattr(record, "page_folder", lambda name: tmp_path / name)
    path = record.make(name, lambda: {"loss": [0.5, 0.25]}, folder=tmp_path)
    assert path == tmp_path / file
    found = recorded(name)
    assert found.results == {"loss": [0.5, 0.25]}
    assert found.command == f"python -m annotated_book {name}"
    assert found.command in found.caption() and found.machine["processor"] in found.caption()


def test_a_run_that_dies_leaves_the_old_record(tmp_path: Path) -> None:
    record.make("tiny", lambda: {"value": 1}, folder=tmp_path)

    def dies() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record.make("tiny", dies, folder=tmp_path)
    assert json.loads((tmp_path / "tiny/record.json").read_text())["results"] == {"value": 1}
    assert [path.name for path in (tmp_path / "tiny").iterdir()] == ["record.json"]


def test_a_missing_record_says_how_to_make_it() -> None:
    with pytest.raises(FileNotFoundError, match="python -m annotated_book masks/no_such_run"):
        recorded("masks/no_such_run")
    with pytest.raises(FileNotFoundError, match="no page is called 'no_such_page'; there are .* masks,"):
        recorded("no_such_page")


def test_every_experiment_has_its_record_and_every_record_its_experiment() -> None:
    experiments = {
        name for name in record_names() if callable(importlib.import_module(record.experiment_module(name)).run)
    }
    assert experiments == set(record_names()) and len(experiments) > 30
    modules = {record.experiment_module(name) for name in experiments}
    for file in BOOK.glob("*/*/experiment.py"):
        assert f"annotated_book.{file.parts[-3]}.{file.parent.name}.experiment" in modules
    for name in experiments:
        found = recorded(name)
        assert found.command == f"python -m annotated_book {name}" and found.results and found.cpu_seconds > 0


def test_docstrings_name_records_that_there_are() -> None:
    named = {
        (name, file.relative_to(BOOK).as_posix())
        for file in BOOK.rglob("*.py")
        for name in re.findall(r"\brecord\s+`([^`]+)`", file.read_text(encoding="utf-8"))
    }
    assert len(named) > 5 and {pair for pair in named if pair[0] not in record_names()} == set()


def test_the_command_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in record_names())
    assert main(["no_such_run"]) == 2
    assert main(["masks/no_such_part"]) == main(["wide_model/charts"]) == 2


def test_the_first_record_of_an_experiment_is_made_by_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr("annotated_book.__main__.record_names", list)
    monkeypatch.setattr("annotated_book.__main__.make", lambda name, run: made.append(name))
    assert main(["subwords", "atlas/second_training"]) == 0 and made == ["subwords", "atlas/second_training"]


def test_the_command_is_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As `python -m` runs it, but where everything is imported already, which takes a process seconds."""
    monkeypatch.setattr(sys, "argv", ["annotated_book"])
    with pytest.warns(RuntimeWarning, match="found in sys.modules"), pytest.raises(SystemExit) as ended:
        runpy.run_module("annotated_book", run_name="__main__", alter_sys=True)
    assert not ended.value.code and capsys.readouterr().out.startswith("usage: python -m annotated_book NAME")


def test_rows_of_a_record_come_as_a_table() -> None:
    found = recorded("subwords")
    table = found.table("real")
    assert table.to_dict("records") == found.results["real"]
    assert table["german"].gt(table["english"]).all()
    deep = recorded("beam_search/beam_sizes")
    assert len(deep.table("real", "sizes")) == len(deep.results["real"]["sizes"])


def test_named_rows_of_a_record_are_indexed_by_their_names() -> None:
    found = recorded("teacher_forcing")
    table = found.table("cells")
    assert table.index.tolist() == list(found.results["cells"])
    assert table.loc["mask, shift 1", "loss"] == found.results["cells"]["mask, shift 1"]["loss"]


@pytest.mark.parametrize("keys", [(), ("settings",), ("classroom_largest",)])
def test_what_is_no_list_of_rows_is_no_table(keys: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="of the record 'subwords' is not a list of rows"):
        recorded("subwords").table(*keys)


def test_a_table_under_a_key_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="nothing"):
        recorded("subwords").table("nothing")
