"""Rows of Table 3 on a reader's machine: runs that can be repeated and resumed, a table by hand, clear errors."""

from __future__ import annotations

import json
import math
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotated.config import table_3
from annotated.locks import exclusive_lock
from annotated_book.experiments import train_one
from annotated_book.experiments.queue import Run
from annotated_book.experiments.reader_runs import (
    SIZE,
    claim_path,
    make_runs,
    open_folder,
    record_path,
    recorded,
    wanted_runs,
)
from annotated_book.experiments.settings import READER_SIZE, READER_SMOKE, ClassroomSize
from annotated_book.results.table_3.reader_table import table_lines
from annotated_book.results.table_3.rows import ROWS, ratios
from annotated_book.results.table_3.words import what_changes

TINY = replace(READER_SMOKE, updates=4, batch_tokens=100, warmup=2, vocab_size=300, train_pairs=300, valid_pairs=12)
MEASURED = ("seconds", "cpu_seconds", "date", "machine", "commit")
"""What two equal runs need not have in common."""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two seeds of C1 and base."""
    folder = tmp_path_factory.mktemp("first")
    assert make_runs(["C1"], 2, folder, TINY) is None
    return folder


def comparable(one: dict[str, Any], *less: str) -> dict[str, Any]:
    """A record without what was measured by a clock."""
    return {name: value for name, value in one.items() if name not in (*MEASURED, *less)}


def without_loss(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    """A curve without the training loss, which after a restart is that since the restart."""
    return [{name: value for name, value in point.items() if name != "loss"} for point in curve]


def test_base_is_made_too_and_checkpoints_go(first: Path) -> None:
    runs = recorded(first)
    assert set(runs) == {("base", 0), ("C1", 0), ("base", 1), ("C1", 1)}
    one = runs["C1", 0]
    assert one["model"]["num_encoder_layers"] == 2 and one["model"]["vocab_size"] == TINY.vocab_size
    assert one["training"]["updates"] == 4 and [point["update"] for point in one["curve"]] == [2, 4]
    assert one["curve"][-1]["validation_loss"] == pytest.approx(one["valid_loss"], abs=1e-3)
    assert one["cpu_seconds"] > 0 and one["seconds"] > 0 and one["command"] == "annotated table3 run C1 --seeds 1"
    assert not list((first / "runs").iterdir()) and runs["base", 0]["parameters"] > one["parameters"]


def test_one_seed_gives_one_record_and_another_seed_another(first: Path, tmp_path: Path) -> None:
    make_runs(["base"], 1, tmp_path, TINY)
    again, before = recorded(tmp_path), recorded(first)
    assert set(again) == {("base", 0)} and comparable(again["base", 0]) == comparable(before["base", 0])
    assert before["base", 1]["valid_loss"] != before["base", 0]["valid_loss"]


def test_what_is_recorded_is_not_made_again(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_one, "train", None)
    said: list[str] = []
    assert make_runs(["C1"], 2, first, TINY, said.append) is None and not said
    with exclusive_lock(claim_path("base", 2, first)), exclusive_lock(claim_path("C1", 2, first)):
        assert make_runs(["C1"], 3, first, TINY, said.append) is None
    assert [line.partition(":")[0] for line in said] == ["base, seed 2", "C1, seed 2"]
    assert all("in work elsewhere (process " in line for line in said)


def test_a_run_that_is_stopped_goes_on_to_the_same_record(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = train_one.train

    def interrupted(*given: Any, **named: Any) -> Any:
        def stop(*_: Any) -> float:
            signal.raise_signal(signal.SIGTERM)
            return 0.0

        return real(given[0], given[1].replace(validate_bleu=1), *given[2:], **named, bleu=stop)

    monkeypatch.setattr(train_one, "train", interrupted)
    assert make_runs(["base"], 1, tmp_path, TINY) == "SIGTERM"
    assert recorded(tmp_path) == {}
    monkeypatch.setattr(train_one, "train", real)
    assert make_runs(["base"], 1, tmp_path, TINY) is None
    whole, cut = recorded(first)["base", 0], recorded(tmp_path)["base", 0]
    assert comparable(cut, "curve", "starts") == comparable(whole, "curve", "starts")
    assert without_loss(cut["curve"]) == without_loss(whole["curve"])
    assert (whole["starts"], cut["starts"]) == (1, 2) and cut["cpu_seconds"] is None


def test_the_sizes_keep_the_rule_but_for_the_vocabulary() -> None:
    assert READER_SIZE.model("base").d_model == 32
    for row in ROWS:
        small, paper = ratios(READER_SIZE.model(row)), ratios(table_3(row))
        assert {name for name in paper if small[name] != paper[name]} == {"V / d_model"}
        assert READER_SIZE.model(row).vocab_size == READER_SIZE.vocab_size and READER_SIZE.model(row).norm == "pre"
    assert wanted_runs(["E1", "A1"], 2) == [(row, seed) for seed in (0, 1) for row in ("base", "A1", "E1")]


def runs_of(losses: dict[str, list[float | None]]) -> dict[Run, dict[str, Any]]:
    """Records with only what a table needs."""
    return {
        (row, seed): {"row": row, "seed": seed, "parameters": 1000, "valid_loss": loss}
        for row, found in losses.items()
        for seed, loss in enumerate(found)
    }


def test_the_table_by_hand() -> None:
    """Distances from base with the same seed of 0.2, 0.5 and 0.2: mean 0.3, variance 0.03, error of the mean 0.1 with
    2 degrees of freedom; Student's 95 % with 2 degrees is 4.3027, and his tail at t = 3 has a closed form."""
    lines = table_lines(runs_of({"base": [3.0, 3.2, 3.1], "C1": [3.2, 3.7, 3.3]}), READER_SIZE.model)
    p = 1 - 3 / math.sqrt(2 + 9)
    assert lines[2].split() == ["base", "-", "1,000", "3", "3.1000"]
    assert lines[3].split("  ")[0] == "C1" and lines[3].split() == [
        "C1", "N=2", "1,000", "3", "3.4000", "+0.3000", "-0.1303", "to", "+0.7303", f"{p:.3f}", "+0.217",
        "not", "told", "apart",
    ]  # fmt: skip
    assert "Holm's for 1 difference," in "\n".join(lines) and len({line.index("interval") for line in lines[:1]}) == 1


def test_a_clear_difference_has_a_verdict_and_a_run_that_diverged_is_counted() -> None:
    losses: dict[str, list[float | None]] = {"base": [3.0, 3.001, 2.999], "C1": [3.1, 3.101, 3.099]}
    losses |= {"D1": [2.9, 2.901, None], "E1": [None]}
    lines = {line.split()[0]: line for line in table_lines(runs_of(losses), READER_SIZE.model)[2:6]}
    assert lines["C1"].endswith("+0.217  confirmed") and "<0.001" in lines["C1"]
    assert lines["D1"].endswith("+0.159  too few runs") and "2 (1 diverged)" in lines["D1"]
    assert lines["E1"].split() == ["E1", "learned", "positions", "1,000", "0", "(1", "diverged)"]


def test_one_seed_is_not_judged() -> None:
    said = "\n".join(table_lines(runs_of({"base": [3.0], "C1": [3.3]}), READER_SIZE.model))
    assert "+0.3000" in said and "give --seeds 3" in said
    assert not any(word in said for word in ("confirmed", "contradicted", "apart", "Holm"))
    assert "Without a run of base" in "\n".join(table_lines(runs_of({"C1": [3.3, 3.4]}), READER_SIZE.model))


def test_rows_are_named_by_what_they_change() -> None:
    named = {row: what_changes(row, READER_SIZE.model) for row in ROWS}
    assert named["base"] == "-" and named["A1"] == "h=1, d_k=32, d_v=32" and named["C4"] == "d_model=16, d_k=2, d_v=2"
    assert named["D1"] == "P_drop=0.0" and named["D3"] == "eps_ls=0.0" and named["E1"] == "learned positions"
    assert named["big"] == "d_model=64, d_ff=256, h=16, P_drop=0.3, 3 times the updates"
    assert what_changes("A1", table_3) == "h=1, d_k=512, d_v=512"


def test_what_is_wrong_with_a_folder_is_said(first: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"another size \(updates 4 and not 8\): name another folder with --out"):
        make_runs(["C1"], 1, first, replace(TINY, updates=8))
    open_folder(tmp_path, TINY)
    broken = record_path("C1", 0, tmp_path)
    for text in ("{", '{"row": "C1"}', "[]"):
        broken.write_text(text)
        with pytest.raises(ValueError, match=r"C1-0.json is not a whole record .*: remove it"):
            recorded(tmp_path)
    broken.write_text(json.dumps({"row": "C2", "seed": 0, "valid_loss": 3.0, "parameters": 1}))
    with pytest.raises(ValueError, match="C1-0.json is the record of row C2, seed 0: give it that name"):
        recorded(tmp_path)
    (tmp_path / SIZE).write_text('{"divisor": 16}')
    with pytest.raises(ValueError, match=r"size.json is damaged"):
        open_folder(tmp_path, TINY)


def test_a_size_is_read_as_it_was_written(tmp_path: Path) -> None:
    open_folder(tmp_path, READER_SIZE)
    assert ClassroomSize(**json.loads((tmp_path / SIZE).read_text())) == READER_SIZE
    open_folder(tmp_path, READER_SIZE)
