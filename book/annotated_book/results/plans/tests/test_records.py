"""Chapter 35, its records: made again in small by the command, without writing over what was recorded."""

from typing import Any

import pytest

from annotated_book import recorded
from annotated_book.__main__ import main
from annotated_book.record import record_path
from annotated_book.results.plans import two_answers

NAMES = ("images", "local", "drafts", "two_answers", "translating")


def test_a_small_run_writes_no_record(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[bool] = []

    def run(smoke: bool = False) -> dict[str, Any]:
        asked.append(smoke)
        return {"runs": []}

    monkeypatch.setattr(two_answers, "run", run)
    before = record_path("plans/two_answers").read_bytes()
    assert main(["plans/two_answers", "--smoke"]) == 0 and asked == [True]
    assert "runs" in capsys.readouterr().out and record_path("plans/two_answers").read_bytes() == before
    assert main(["atlas", "--smoke"]) == 2 and "no small version" in capsys.readouterr().out


def test_the_two_answers_run_in_small_gives_what_the_record_has() -> None:
    small = two_answers.run(smoke=True)
    record = recorded("plans/two_answers").results
    assert small.keys() == record.keys()
    assert all(one.keys() == record["runs"][0].keys() for one in small["runs"])


@pytest.mark.parametrize("name", NAMES)
def test_records_name_their_command(name: str) -> None:
    assert recorded(f"plans/{name}").command == f"python -m annotated_book plans/{name}"


def test_every_draft_of_the_record_wrote_greedy_searchs_text() -> None:
    record = recorded("plans/drafts").results
    assert {row["same"] for row in record["rows"]} == {record["settings"]["sentences"]}


def test_kept_guesses_are_the_passes_that_were_saved() -> None:
    for row in recorded("plans/drafts").results["rows"]:
        assert row["kept"] == row["steps"] - row["passes"] <= row["drafted"]
        with_a_guess, right = row["chains"]
        assert right <= row["kept"] and with_a_guess <= row["passes"]


def test_a_time_is_no_longer_than_that_of_either_half_of_its_passes() -> None:
    for row in recorded("plans/drafts").results["rows"]:
        assert row["ms"] <= min(row["ms_halves"]) and row["greedy_ms"] <= min(row["greedy_ms_halves"])
