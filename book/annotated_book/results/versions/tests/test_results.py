"""Results of the versions: tokens until a loss, and the table, from runs that were made up."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from annotated_book.experiments.runs_file import write_run
from annotated_book.results.versions.results import recorded_versions, tokens_until, version_chart, version_table


def run(row: str, seed: int, losses: list[float | None], bleu: float = 1.0) -> dict[str, Any]:
    curve = [{"update": n, "tokens_seen": 1_000_000 * n, "validation_loss": x} for n, x in enumerate(losses, 1)]
    settings = {"model": {"norm": "pre"}, "training": {"warmup": 80}, "highest_rate": 0.003}
    return {"row": row, "seed": seed, "curve": curve, "valid_loss": losses[-1], "bleu": bleu, **settings}


def test_tokens_until_a_loss_are_read_off_between_two_validations():
    one = run("v3", 0, [6.0, 5.0, 3.0])["curve"]
    assert tokens_until(one, 5.0) == 2_000_000
    assert tokens_until(one, 4.5) == 2_250_000, "a quarter of the way from 5 to 3"
    assert tokens_until(one, 6.5) == 1_000_000, "the first validation is below it already"
    assert tokens_until(one, 2.9) == math.inf
    assert tokens_until(run("v3", 0, [None, 5.0])["curve"], 5.0) == 2_000_000


def test_the_table_has_means_deviations_and_the_time_to_the_loss_as_written():
    runs = {
        "written": [run("written", 0, [6.0, 5.0]), run("written", 1, [6.0, 4.0])],
        "v3": [run("v3", 0, [5.0, 4.0], 3.0), run("v3", 1, [4.5, 4.0], 5.0)],
    }
    table = version_table(runs)
    assert table.loc["as written", "loss"] == 4.5
    assert table.loc["as written", "deviation"] == pytest.approx(0.5**0.5)
    assert table.loc["released v3", "BLEU"] == 4.0 and table.loc["released v3", "seeds"] == 2
    until = table["tokens to the first row's loss"]
    assert until["as written"] == 2.0, "by definition at its end"
    assert until["released v3"] == pytest.approx(1 + 1 / 3), "the mean falls from 4.75 to 4"


def test_runs_are_found_by_row_and_todays_in_the_file_of_chapter_34(tmp_path: Path):
    files = tmp_path / "versions.jsonl", tmp_path / "since_2017.jsonl"
    for file, row, seed in (*((files[0], "v1", n) for n in (0, 1)), (files[1], "2026", 0), (files[1], "2026-model", 0)):
        write_run(file, f"{row}-{seed}", run(row, seed, [5.0]))
    found = recorded_versions(*files)
    assert {row: [one["seed"] for one in ones] for row, ones in found.items()} == {"v1": [0, 1], "2026": [0]}
    assert "released v1 5.00, as today 5.00" in version_chart(found).to_dict()["description"]
