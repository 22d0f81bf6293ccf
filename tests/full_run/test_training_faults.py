"""Faults that do not kill: damaged checkpoints, NaN, a full disk, a wild clock, two trainings in one folder.

Where each fault of a long training is tested:

| fault | test |
|---|---|
| killed at twenty random moments | `test_training_kills.py` |
| killed while a checkpoint is being written | `test_training_kills.py` (by file) |
| killed between the two renames of a replacement | `tests/test_storage.py` |
| killed or stopped after the last update | `test_training_kills.py` |
| one of two workers killed; the agent told to stop | `test_elastic.py` |
| restarted workers meet the addresses of dead ones | `test_elastic.py`, `tests/speed/machine/test_rendezvous.py` |
| begun by two processes, ended by one | `test_elastic.py`, `tests/speed/machine/test_distributed.py` |
| one of two hosts cut off, and back | `test_hosts.py` |
| stopped by a signal, resumed | `tests/runs/test_resume.py`, `test_downloads.py` |
| checkpoint truncated, changed, with a file missing | `tests/runs/test_resume.py`; cut at many lengths: here |
| checkpoint of another configuration, of other data | `tests/runs/test_resume.py`; of another run: here |
| checkpoint of a newer version | here |
| NaN in the loss, NaN in a gradient | `tests/runs/test_loop.py`; in the weights, at the command line: here |
| disk full while a checkpoint is written | `tests/runs/test_checkpoint.py` (made up); a real one: here |
| a file that may not grow | here |
| the clock jumps | here |
| two launches on one folder | `tests/runs/test_resume.py`, `test_downloads.py`; several at the same moment: here |
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotated.data import Tokenizer, TokenStore
from annotated.runs import latest_checkpoint, list_checkpoints, read_records
from tests.full_run.processes import Faults, Setting, assert_same_end, leftovers

pytestmark = [pytest.mark.slow, pytest.mark.process]


def content(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file under a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_checkpoint_cut_anywhere_is_passed_over(setting, whole):
    folder = setting.folder / "run"
    setting.finish("run", updates=20)
    good, newest = list_checkpoints(folder)[-2:]
    kept = setting.folder / "kept"
    shutil.copytree(newest, kept)
    rng = random.Random(0)
    for path in sorted(kept.iterdir()):
        size = path.stat().st_size
        for length in {0, 1, size // 2, size - 2, rng.randrange(size - 2)}:  # the last byte of JSON is a newline
            shutil.copyfile(path, newest / path.name)
            os.truncate(newest / path.name, length)
            found, reports = latest_checkpoint(folder)
            assert found == good, (path.name, length)
            assert "update-000000020 is damaged" in reports[0] and "5 updates are repeated" in reports[0]
        shutil.copyfile(path, newest / path.name)
    assert latest_checkpoint(folder) == (newest, [])
    os.truncate(newest / "optimizer.safetensors", 1000)
    said = setting.finish("run")
    assert "update-000000020 is damaged" in said and "5 updates are repeated" in said
    assert_same_end(whole, folder)
    assert leftovers(folder) == []


def test_the_checkpoint_of_another_run_copied_in_is_refused_by_name(setting):
    setting.finish("run", updates=10)
    other = setting.replace(model=setting.model.replace(d_ff=96))
    other.finish("other", updates=15)
    stray = setting.folder / "other" / "checkpoints" / "update-000000015"
    shutil.copytree(stray, setting.folder / "run" / "checkpoints" / stray.name)
    before = content(setting.folder / "run" / "checkpoints")
    refused = setting.start("run", updates=20)
    assert refused.wait() == 1 and refused.done()[0] == 0
    assert "model.d_ff was 96 and is now 64" in refused.said()
    assert content(setting.folder / "run" / "checkpoints") == before


def test_a_checkpoint_of_a_newer_version_is_not_called_damaged_nor_thrown_away(setting):
    setting.finish("run", updates=10)
    newest = list_checkpoints(setting.folder / "run")[-1]
    state = json.loads((newest / "state.json").read_text())
    (newest / "state.json").write_text(json.dumps({**state, "format": state["format"] + 1}))
    before = content(setting.folder / "run" / "checkpoints")
    refused = setting.start("run", updates=20)
    assert refused.wait() == 1 and refused.done()[0] == 0, refused.said()
    said = refused.said()
    assert "update-000000010" in said and f"format {state['format'] + 1}" in said and "newer" in said
    assert content(setting.folder / "run" / "checkpoints") == before


def test_weights_that_became_nan_stop_the_run_and_nothing_is_saved_over(setting):
    # With matrices of their own, one row of the source embedding hurts just the sentences with that token.
    setting = setting.replace(model=setting.model.replace(tie_embeddings=False))
    setting.finish("whole")
    folder = setting.folder / "run"
    tokenizer = Tokenizer.load(setting.folder / "whole" / "tokenizer.json")
    token = usual_token(setting.folder / "whole" / "data" / "train")
    running = setting.start("run", Faults(poison=(23, tokenizer.vocab_size, token)))
    assert running.wait() == 1
    said = running.said()
    report = json.loads((folder / "nonfinite_batch.json").read_text())
    assert report["update"] == 24 and any(token in pair["source"] for pair in report["pairs"])
    assert "update 24" in said and "nonfinite_batch.json" in said and "The update was not made" in said
    assert f"{len(report['pairs'])} sentence pairs" in said and str(report["pairs"][0]["pair"]) in said
    assert [path.name for path in list_checkpoints(folder)][-1] == "update-000000020"
    assert latest_checkpoint(folder)[1] == []
    assert all(record["loss"] is not None for record in read_records(folder) if record["kind"] == "train")
    setting.finish("run")
    assert_same_end(setting.folder / "whole", folder)


def usual_token(store: Path) -> int:
    """The source token whose share of the sentences is nearest to a half."""
    train = TokenStore.open(store)
    shares = Counter(int(token) for index in range(len(train)) for token in set(train.source(index).tolist()))
    return min(shares, key=lambda token: abs(shares[token] / len(train) - 0.5))


def test_a_clock_that_jumps_changes_nothing(setting, whole):
    first = setting.start("run", Faults(wild_clock=True, kill_at_update=33))
    assert first.wait() < 0
    second = setting.start("run", Faults(wild_clock=True))
    assert second.wait() == 0, second.said()
    assert_same_end(whole, setting.folder / "run")
    elapsed = [record["elapsed"] for record in read_records(setting.folder / "run") if "elapsed" in record]
    assert 0 < elapsed[-1] < 600 and all(record["seconds_left"] < 3600 for record in trained(setting.folder / "run"))


def trained(folder: Path) -> list[dict]:
    return [record for record in read_records(folder) if record["kind"] == "train"]


def test_of_several_launches_at_one_moment_one_trains(setting, whole):
    running = [setting.start("run", Faults(pause=0.02)) for _ in range(4)]
    status = [one.wait() for one in running]
    assert sorted(status) == [0, 1, 1, 1]
    refused = [one for one, code in zip(running, status, strict=True) if code]
    assert all("another process is training in this folder" in one.said() for one in refused)
    assert all(one.done()[0] == 0 for one in refused)
    assert_same_end(whole, setting.folder / "run")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
        problem = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        problem = str(error)
    if problem:
        message = f"NOT TESTED: a full disk, for this user may not mount one ({problem})"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Fill a disk, but for some bytes."""
    path = folder / "somebody's file"
    with path.open("wb") as file:
        file.write(bytes(shutil.disk_usage(folder).free - leave))
    return path


def test_a_disk_that_fills_loses_no_checkpoint(setting, whole, small_disk):
    """Three times, at 17 updates and ten or more later, with room for nothing, for some lines, for a part of a file."""
    folder, kept = small_disk / "run", set[str]()
    for steps, leave in ((17, 0), (10, 20_000), (10, 120_000)):
        running = setting.start(folder, Faults(pause=0.05), keep_checkpoints=8)
        running.until(steps)
        filler = fill(small_disk, leave)
        assert running.wait() == 1, running.said()
        said = running.said()
        assert "disk is full" in said and str(folder) in said and "Free some space" in said and "Traceback" not in said
        assert latest_checkpoint(folder)[0] is not None and latest_checkpoint(folder)[1] == []
        lost, kept = kept, {path.name for path in list_checkpoints(folder)}
        assert lost | {"update-000000005", "update-000000010"} <= kept
        # As long as the disk is full it says so again, and loses nothing.
        still = setting.start(folder, keep_checkpoints=8)
        assert still.wait() == 1 and "disk is full" in still.said() and "Traceback" not in still.said()
        assert kept <= {path.name for path in list_checkpoints(folder)}
        filler.unlink()
    setting.finish(folder)
    assert_same_end(whole, folder)
    assert leftovers(folder) == []


def test_a_file_that_may_not_grow_is_an_error_and_loses_nothing(setting, whole):
    setting.finish("run", updates=20)
    folder = setting.folder / "run"
    size = (list_checkpoints(folder)[-1] / "optimizer.safetensors").stat().st_size
    limited = setting.start("run", Faults(largest_file=size - 1))
    assert limited.wait() == 1
    assert "update-000000025 could not be saved" in limited.said() and "Traceback" not in limited.said()
    assert list_checkpoints(folder)[-1].name == "update-000000020" and latest_checkpoint(folder)[1] == []
    setting.finish("run")
    assert_same_end(whole, folder)


def test_the_setting_can_tell_two_runs_apart(setting: Setting, whole):
    """The comparison that all of this rests on notices a single other update."""
    setting.finish("other", seed=1)
    with pytest.raises(AssertionError):
        assert_same_end(whole, setting.folder / "other")
