from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from annotated.runs.log import DISCARDED, LOG, LogReader, TrainingLog, read_log, rewind_log

TRAIN = {
    "epoch": 0, "tokens_seen": 10, "loss": 2.5, "learning_rate": 1e-3, "gradient_norm": 1.0,
    "tokens_per_second": 1234.0, "seconds_left": 3725.0, "elapsed": 1.0,
}  # fmt: skip


def test_a_line_is_on_disk_at_once(tmp_path):
    with TrainingLog(tmp_path, 100, quiet=True) as log:
        log.write("train", update=1, **TRAIN)
        assert read_log(tmp_path) == [{"kind": "train", "update": 1, **TRAIN}]


def test_numbers_that_json_does_not_have(tmp_path):
    with TrainingLog(tmp_path, 100, quiet=True) as log:
        log.write("train", update=1, loss=float("inf"), norm=float("nan"))
    assert json.loads((tmp_path / LOG).read_text()) == {"kind": "train", "update": 1, "loss": None, "norm": None}


def test_a_half_written_last_line_is_left_out(tmp_path):
    (tmp_path / LOG).write_text('{"kind": "train", "update": 1}\n{"kind": "train", "upd')
    assert read_log(tmp_path / LOG) == [{"kind": "train", "update": 1}]


def test_a_bad_line_in_the_middle_is_named(tmp_path):
    (tmp_path / LOG).write_text('{"kind": "train"}\nnonsense\n{"kind": "end"}\n')
    with pytest.raises(ValueError, match=r"log.jsonl, line 2: not a JSON object: 'nonsense'"):
        read_log(tmp_path)


def test_a_resumed_run_takes_back_what_it_will_make_again(tmp_path):
    lines = [
        {"kind": "start", "update": 0},
        *({"kind": "train", "update": u} for u in (1, 2, 3)),
        {"kind": "end", "update": 2},
    ]
    (tmp_path / LOG).write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "tr')
    assert rewind_log(tmp_path, 2) == 1
    assert read_log(tmp_path) == lines[:3]
    assert read_log(tmp_path / DISCARDED) == [{"kind": "train", "update": 3}]
    assert (tmp_path / LOG).read_text().endswith("\n"), "what is appended next must begin a line"
    assert rewind_log(tmp_path, 2) == 0


def test_a_reader_sees_each_record_once_and_waits_for_the_rest_of_a_line(tmp_path):
    reader = LogReader(tmp_path)
    assert reader.read() == ([], False), "there is no log yet"
    with (tmp_path / LOG).open("w") as file:
        file.write('{"kind": "train", "update": 1}\n{"kind": ')
        file.flush()
        assert reader.read() == ([{"kind": "train", "update": 1}], False)
        assert reader.read() == ([], False)
        file.write('"end"}\n')
    assert reader.read() == ([{"kind": "end"}], False)


def test_plain_lines_for_a_pipe(tmp_path):
    text = io.StringIO()
    with TrainingLog(tmp_path, 1000, console=Console(file=text, width=40)) as log:
        log.write("train", update=50, **TRAIN)
        log.write("valid", update=50, valid_loss=2.0, perplexity=7.389, bleu=31.25)
    lines = text.getvalue().splitlines()
    assert lines[0] == "update   50 of 1000 | epoch 0 | loss 2.5000 | rate 1.000e-03 | 1,234 tokens/s | 1:02:05 left"
    assert lines[1] == "update   50 | validation loss 2.0000 | perplexity 7.389 | BLEU 31.25"


def test_a_bar_for_a_terminal(tmp_path):
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=160)
    with TrainingLog(tmp_path, 1000, console=console) as log:
        log.write("valid", update=40, valid_loss=2.0, perplexity=7.389, bleu=None)
        log.write("train", update=50, **TRAIN)
        log.advance(51)
    for part in ("51/1000", "loss 2.500", "perplexity 7.39", "rate 1.00e-03", "1,234 tokens/s"):
        assert part in text.getvalue()


def test_quiet_and_processes_that_are_not_the_main_one(tmp_path):
    text = io.StringIO()
    for folder, quiet in ((tmp_path, True), (None, False)):
        with TrainingLog(folder, 10, quiet=quiet, console=Console(file=text)) as log:
            log.write("train", update=1, **TRAIN)
            log.say("hello")
    assert text.getvalue() == ""
