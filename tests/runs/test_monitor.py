"""A monitor sees what the log says, reads only what is new, and survives what a log goes through."""

from __future__ import annotations

import json
import time
from pathlib import Path

from annotated.runs import TrainingMonitor, read_records
from annotated.runs.checkpoint import checkpoint_path
from annotated.runs.lock import run_lock
from annotated.runs.log import LOG, LogReader, rewind_log
from annotated.runs.validation_callbacks import sample_translations

START = {"kind": "start", "update": 0, "configuration": {"training": {"updates": 40}}}


def line(update: int, loss: float = 2.0) -> dict:
    return {"kind": "train", "update": update, "epoch": 0, "loss": loss, "learning_rate": 1e-3, "elapsed": update / 2,
            "tokens_per_second": 100.0, "seconds_left": 40.0 - update}  # fmt: skip


def write(folder: Path, *records: dict, rest: str = "") -> None:
    with (folder / LOG).open("a") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records) + rest)


def test_from_nothing_to_the_end(tmp_path):
    monitor = TrainingMonitor(tmp_path / "run")
    assert monitor.poll().phase == "empty"
    (tmp_path / "run").mkdir()
    folder = tmp_path / "run"
    with run_lock(folder):
        assert monitor.poll().phase == "preparing"
        write(folder, START)
        assert (monitor.poll().phase, monitor.poll().updates) == ("preparing", 40)
        write(folder, line(10), line(20, 1.5), rest='{"kind": "train", "upd')
        status = monitor.poll()
        assert (status.phase, status.update, status.loss, status.seconds_left) == ("training", 20, 1.5, 20.0)
    assert (monitor.poll().phase, monitor.poll().lost) == ("died", 20)
    (folder / "output.txt").write_text("a\nout of memory\n")
    assert monitor.poll().last_words.endswith("out of memory")
    write(folder, rest='ate": 30, "loss": null, "elapsed": 15.0}\n')
    write(folder, {"kind": "end", "update": 30, "finished": False, "stopped_by": "SIGTERM"})
    status = monitor.poll()
    assert (status.phase, status.update, status.loss, status.last_words) == ("stopped", 30, None, "")
    with run_lock(folder):
        assert monitor.poll().phase == "preparing"
        rewind_log(folder, 20)
        write(folder, {**START, "update": 20})
        assert monitor.poll().update == 20 and monitor.poll().loss == 1.5
        write(folder, line(40, 1.0), {"kind": "end", "update": 40, "finished": True, "stopped_by": None})
    assert monitor.poll().phase == "finished" and monitor.poll().seconds_left is None
    assert TrainingMonitor(folder).poll() == monitor.poll()
    assert monitor.records == read_records(folder)


def test_a_log_that_was_cut_back_and_has_grown_beyond_is_read_again(tmp_path):
    write(tmp_path, line(10), line(20))
    reader = LogReader(tmp_path)
    assert [r["update"] for r in reader.read().new] == [10, 20]
    rewind_log(tmp_path, 10)
    write(tmp_path, line(12), line(14), line(16))
    part = reader.read()
    assert part.again and [r["update"] for r in part.new] == [10, 12, 14, 16]
    assert reader.read() == ([], False)


def test_looking_is_cheap(tmp_path):
    write(tmp_path, START, *[line(u) for u in range(1, 10_001)])
    monitor = TrainingMonitor(tmp_path)
    monitor.poll()
    began = time.process_time()
    for _ in range(20):
        monitor.poll()
    assert (time.process_time() - began) / 20 < 0.005  # seconds; measured: 0.0001


def test_samples_are_logged_and_change_nothing(small):
    from annotated.runs import train

    plain = TrainingMonitor(small.trained("plain"))
    watched = train(small.model, small.training, small.data, small.folder / "watched", quiet=True,
                    samples=sample_translations(["the red cat sleeps", "two dogs"]))  # fmt: skip
    plain.poll()
    assert watched.valid_loss == plain.records[-2]["valid_loss"], "that of the averaged model"
    samples = [r for r in read_records(watched.folder) if r["kind"] == "samples"]
    assert [(r["update"], r["averaged"]) for r in samples] == [(12, False), (24, False), (24, True)]
    assert [one["source"] for one in samples[0]["samples"]] == ["the red cat sleeps", "two dogs"]
    status = TrainingMonitor(watched.folder).poll()
    assert status.samples == tuple((one["source"], one["translation"]) for one in samples[-1]["samples"])


def test_a_death_costs_the_updates_since_the_last_checkpoint(tmp_path):
    write(tmp_path, START, line(10), {"kind": "checkpoint", "update": 10, "path": "checkpoints/update-000000010"})
    write(tmp_path, line(20), line(30))
    checkpoint_path(tmp_path, 10).mkdir(parents=True)
    status = TrainingMonitor(tmp_path).poll()
    assert (status.phase, status.lost) == ("died", 20)
    checkpoint_path(tmp_path, 20).mkdir()  # it was whole, but the process died before the log had its line
    assert TrainingMonitor(tmp_path).poll().lost == 10
    write(tmp_path, {"kind": "end", "update": 20, "finished": False, "stopped_by": "SIGTERM"})
    assert TrainingMonitor(tmp_path).poll().lost == 0
