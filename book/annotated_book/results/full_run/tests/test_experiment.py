"""The recorded rehearsal: commands that are the library's own, one stop on record, and heads for each validation."""

from __future__ import annotations

import shlex

from annotated.cli.program import _command
from annotated_book import recorded
from annotated_book.results.full_run import experiment as full_run
from annotated_book.results.full_run.widget import run_playback
from annotated_book.viz.log_chart import validations


def test_the_commands_are_those_of_the_command_line() -> None:
    train = _command(shlex.split(full_run.TRAIN)[1:])
    assert (train.training.updates, train.model.d_model, train.data.prepared) == (full_run.UPDATES, 128, "data")
    assert train.samples == tuple(full_run.SENTENCES) and train.training.device == "cpu"
    for name in ("rehearse", "preflight"):
        asked = _command(shlex.split(full_run.COMMANDS[name])[1:])
        assert (asked.model, asked.training) == (train.model, train.training), "the same training is rehearsed"
    assert full_run.COMMANDS["go on"] == full_run.COMMANDS["train"]


def test_the_record_is_whole_and_says_what_it_is() -> None:
    results = recorded("full_run").results
    assert [step["name"] for step in results["steps"]] == list(full_run.COMMANDS)
    assert {step["name"]: step["status"] for step in results["steps"]} == dict.fromkeys(full_run.COMMANDS, 0) | {
        "train": 143
    }
    moments = [r["update"] for r in validations(results["log"])]
    assert moments == list(range(full_run.EVERY, full_run.UPDATES + 1, full_run.EVERY))
    heads = full_run.kept_heads()
    assert list(heads) == moments and all(len(one) == len(full_run.SENTENCES) for one in heads.values())
    starts = [r["update"] for r in results["log"] if r["kind"] == "start"]
    assert starts[0] == 0 and len(starts) == 2 and full_run.STOP_AT <= starts[1] < full_run.UPDATES
    assert "not WMT14" in results["report"]["label"] and "not WMT14" in full_run.MARK
    widget = run_playback(results["log"], heads, mark=full_run.MARK)
    assert len(widget.heads) < 150_000, "a page's widgets may add 200 KiB"
