"""A run whose disk is lost goes on from its mirror, bit for bit; and no mirror stops a run."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shlex
import shutil
import threading
import time
import warnings
from pathlib import Path

import pytest
from safetensors.torch import load_file

import annotated.runs.loop as loop
import annotated.runs.mirror as mirror
from annotated.cli.program import _command
from annotated.runs import check_checkpoint, list_checkpoints, read_records, train_command
from annotated.runs.checkpoint_writer import CheckpointWriter
from annotated.runs.mirror import MirrorWarning, RunMirror, copy_run, take_back
from annotated.training import CheckpointError
from tests.command_lines import contents
from tests.runs.test_resume import assert_log_is_whole, assert_same_run

pytestmark = pytest.mark.process

BEST = dict(keep_best=1, validate_every=4, keep_checkpoints=2, average_last=2)
"""A training that deletes checkpoints and keeps the best one."""


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.glob("*/update-*"))


def accept(recorded) -> None:
    """Any configuration."""


def until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_mirror_holds_what_the_run_holds(small):
    place = small.folder / "drive" / "mine"
    place.parent.mkdir()
    run = small.train(mirror_to=place, **BEST).folder
    assert names(place) == names(run) and len(names(place)) == 3
    assert all(check_checkpoint(place / name) is None for name in names(place))
    assert (place / "log.jsonl").read_bytes() == (run / "log.jsonl").read_bytes()
    assert sorted(path.name for path in place.iterdir()) == ["best", "checkpoints", "log.jsonl", "mirror.json"]
    assert not list(place.rglob(".*"))
    assert f"--mirror-to {place}" in (run / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_lost_disk_is_nothing_to_a_run_with_a_mirror(small, monkeypatch):
    """The process and its disk vanish at update 19; the new machine has an empty folder and the mirror."""
    small.trained("whole", patience=20, **BEST)
    place, run = small.folder / "mirror", small.folder / "run"

    def dies() -> None:
        rate = loop.learning_rate

        def lost(update: int, *others) -> float:
            if update == 19:
                until(lambda: (place / "checkpoints" / "update-000000016").exists())
                os._exit(9)
            return rate(update, *others)

        loop.learning_rate, collect = lost, CheckpointWriter.collect
        CheckpointWriter.collect = lambda writer, wait=False: collect(writer, True)
        small.train(mirror_to=place, patience=20, **BEST)

    process = multiprocessing.get_context("fork").Process(target=dies)
    process.start()
    process.join()
    assert process.exitcode == 9
    shutil.rmtree(run)
    assert small.train(mirror_to=place, patience=20, **BEST).finished
    assert_same_run(small.folder / "whole", run, "checkpoints/update-000000024")
    models = [load_file(one / "model" / "model.safetensors") for one in (small.folder / "whole", run)]
    assert all(models[0][name].equal(models[1][name]) for name in models[0])
    assert_log_is_whole(run, 24, 4)
    starts = [record["update"] for record in read_records(run) if record["kind"] == "start"]
    assert starts == [0, 16]
    assert names(place) == names(run) == names(small.folder / "whole")


def test_what_is_half_copied_is_left_out(small):
    whole = small.trained("whole")
    place, run = small.folder / "mirror", small.folder / "run"
    small.train(mirror_to=place)
    shutil.rmtree(run)
    newest = place / "checkpoints" / "update-000000024"
    os.truncate(newest / "optimizer.safetensors", 1000)
    (run / "checkpoints").mkdir(parents=True)
    half, took = take_back(place, run, True, accept)
    assert f"mirror {place}: update-000000024 is damaged or only half copied (optimizer.safetensors has 1,000" in half
    assert took.endswith("took back update-000000008, update-000000016")
    assert small.train(mirror_to=place).finished
    assert_same_run(whole, run, "checkpoints/update-000000024")
    assert check_checkpoint(newest) is None  # copied again
    # So it is where bytes differ, whose number does not, and where nothing is whole.
    shutil.rmtree(run)
    for path in list_checkpoints(place):
        (path / "model.safetensors").write_bytes(bytes((path / "model.safetensors").stat().st_size))
    with pytest.raises(CheckpointError, match=r"no checkpoint can be used \(update-000000008 is damaged .*differs"):
        small.train(mirror_to=place)


def test_a_mirror_whose_name_came_before_its_files(small):
    """Without atomic renames a folder may be there and not all of its files; it takes part in nothing."""
    place, run = small.folder / "mirror", small.train(mirror_to=small.folder / "mirror").folder
    shutil.rmtree(run)
    (place / "checkpoints" / "update-000000024" / "state.json").unlink()
    (place / "checkpoints" / ".partial-update-000000032-abcd").mkdir()
    reports = take_back(place, run, True, accept)
    assert "state.json: no such file" in reports[0] and list_checkpoints(run)[-1].name == "update-000000016"
    small.train(mirror_to=place)
    assert not list(place.rglob(".partial*"))


def test_the_folder_of_the_run_counts_for_more_than_an_older_mirror(small):
    place = small.folder / "mirror"
    run = small.train(mirror_to=place, updates=16).folder
    saved = contents(place)
    small.train(updates=24)
    assert take_back(place, run, True, accept) == [] and contents(place) == saved
    # A copy of the mirror is a folder of the run: what the command does, by hand.
    shutil.copytree(place, small.folder / "copy")
    assert small.train("copy").finished
    assert_same_run(run, small.folder / "copy", "checkpoints/update-000000024")


def test_an_older_folder_of_the_run_is_brought_up_to_date(small):
    place = small.folder / "mirror"
    run = small.train(mirror_to=place, updates=8).folder
    shutil.copytree(run, small.folder / "old")
    small.train(mirror_to=place)
    reports = take_back(place, small.folder / "old", True, accept)
    assert reports == [f"the mirror {place}: took back update-000000016, update-000000024"]


def test_the_mirror_of_another_run_stays_as_it_is(small):
    place = small.folder / "mirror"
    small.train("one", mirror_to=place, updates=8)
    small.train("other", updates=8, seed=1)
    before = contents(small.folder)
    with pytest.raises(CheckpointError, match="is the mirror of another run than"):
        small.train("other", mirror_to=place, seed=1)
    with pytest.raises(CheckpointError, match="mirror was started with another configuration: training.warmup was 10"):
        small.train("new", mirror_to=place, warmup=20)
    with pytest.raises(CheckpointError, match="is the mirror of a run: go on with that one"):
        small.train("new", mirror_to=place, resume=False)
    after = contents(small.folder)
    changed = {path for path in after.keys() | before.keys() if after.get(path) != before.get(path)}
    assert {Path(path).name for path in changed} <= {"training.lock", "new"}


def test_what_is_wrong_is_said_before_the_training(small, tmp_path):
    (tmp_path / "mine" / "checkpoints").mkdir(parents=True)
    with pytest.raises(FileExistsError, match="not written to, for it holds checkpoints"):
        small.train(mirror_to=tmp_path / "mine")
    with pytest.raises(FileNotFoundError, match=r"drive: no such folder, .* is the disk of the mirror mounted\?"):
        small.train(mirror_to=tmp_path / "drive" / "mine")
    assert not (tmp_path / "drive").exists()
    for place in ("run", "run/mirror", "."):
        with pytest.raises(ValueError, match="must be two folders, none of them in the other"):
            small.train(mirror_to=tmp_path / place)
    with pytest.raises(ValueError, match="the path to write to is empty"):
        small.train(mirror_to="")
    assert not list_checkpoints(tmp_path / "run")


def full(source, target, moved) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target.name)


def read_only(source, target, moved) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), target.name)


@pytest.mark.parametrize(
    ("copy", "says"),
    [
        (full, "the disk is full: .*log.jsonl could not be saved .* Free some space there"),
        (read_only, "Read-only file system"),
    ],
)
def test_a_mirror_that_takes_nothing_warns_once(small, monkeypatch, copy, says):
    whole = small.trained("whole")
    monkeypatch.setattr(mirror, "_copy", copy)
    with pytest.warns(MirrorWarning, match=f"the mirror .*{says}.*; the training goes on") as warned:
        run = small.train(mirror_to=small.folder / "mirror").folder
    assert len(warned) == 1 and not names(small.folder / "mirror")
    assert_same_run(whole, run, "checkpoints/update-000000024")
    # When there is room again, all that is missing is copied.
    monkeypatch.undo()
    small.train(mirror_to=small.folder / "mirror", updates=32)
    assert names(small.folder / "mirror") == names(run)


def test_a_full_mirror_makes_room_and_never_loses_its_last_checkpoint(small, monkeypatch):
    """Three are kept and two have room: the newest come in when old ones go, and never goes the last before that."""
    run, place = small.trained("run", checkpoint_every=4, keep_checkpoints=3, average_last=3), small.folder / "mirror"
    copy_run(run, place, lambda: None)
    for old, new in ((16, 4), (20, 8), (24, 12)):  # as if the run had come so far since then
        (place / "checkpoints" / f"update-{old:09d}").rename(place / "checkpoints" / f"update-{new:09d}")
    copy, there = mirror._copy_files, lambda: len(names(place))

    def in_a_small_place(path, target, moved) -> None:
        if there() >= 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        copy(path, target, moved)

    monkeypatch.setattr(mirror, "_copy_files", in_a_small_place)
    with pytest.raises(OSError, match="the disk is full"):
        copy_run(run, place, lambda: None)
    assert names(place) == ["checkpoints/update-000000012", "checkpoints/update-000000024"]
    with pytest.raises(OSError, match="the disk is full"):
        copy_run(run, place, lambda: None)
    assert names(place) == ["checkpoints/update-000000020", "checkpoints/update-000000024"]


def test_a_mirror_that_hangs_is_not_waited_for(small, monkeypatch):
    whole, end = small.trained("whole"), threading.Event()
    monkeypatch.setattr(mirror, "_copy", lambda *_: end.wait(60) and full(*_))
    monkeypatch.setattr(mirror, "STALLED_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.warns(MirrorWarning, match=r"has taken nothing for 0.3 seconds") as warned:
        run = small.train(mirror_to=small.folder / "mirror").folder
    assert len(warned) == 1 and time.monotonic() - began < 30
    end.set()
    assert_same_run(whole, run, "checkpoints/update-000000024")


def test_a_slow_mirror_is_waited_for_at_the_end_alone(small, monkeypatch):
    """It takes pieces, late: the run makes its updates meanwhile, and in the end the mirror is whole."""
    copy, slow, seen = mirror._copy, threading.Event(), []

    def late(source, target, moved) -> None:
        slow.wait(0.02)
        copy(source, target, moved)

    rate = loop.learning_rate
    monkeypatch.setattr(mirror, "_copy", late)
    monkeypatch.setattr(mirror, "STALLED_SECONDS", 5.0)
    monkeypatch.setattr(loop, "learning_rate", lambda n, *more: seen.append(n) or rate(n, *more))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = small.train(mirror_to=small.folder / "mirror", checkpoint_every=2).folder
    assert len(seen) == 24 and names(small.folder / "mirror") == names(run)


def test_a_mirror_whose_disk_vanishes_is_not_made_again_elsewhere(small):
    """An unmounted disk leaves an empty folder, on the disk of the machine: nothing goes there."""
    place = small.folder / "mirror"
    run = small.trained("run")
    with (
        pytest.warns(MirrorWarning, match=r"mirror.json: no such file; the training goes on"),
        RunMirror(run, place) as one,
    ):
        one.update()
        until(lambda: names(place) == names(run))
        until(lambda: one._done == one._asked)
        shutil.rmtree(place)
        place.mkdir()
    assert not list(place.iterdir())


def test_the_newest_start_has_the_mirror(small):
    """A notebook that was thought dead and is not: two machines never write into one mirror."""
    place, run = small.folder / "mirror", small.trained("run")
    with RunMirror(run, place) as old:
        old.update()
        until(lambda: old._done == old._asked)
        shutil.copytree(run, small.folder / "again")
        with RunMirror(small.folder / "again", place):
            pass
        saved = contents(place)
        old.update()
        until(lambda: old._done == old._asked)
        with pytest.warns(MirrorWarning, match="another start of the run, or another run, writes there now"):
            old.collect()
    assert contents(place) == saved


def test_a_checkpoint_that_the_run_deletes_meanwhile_is_no_problem(small, monkeypatch):
    run, place = small.trained("run"), small.folder / "mirror"
    copy = mirror._copy_files

    def deleted(path, target, moved) -> None:
        if path.name == "update-000000016":
            shutil.rmtree(path)
        copy(path, target, moved)

    monkeypatch.setattr(mirror, "_copy_files", deleted)
    copy_run(run, place, lambda: None)
    assert names(place) == ["checkpoints/update-000000008", "checkpoints/update-000000024"] == names(run)


def test_a_mirror_slower_than_the_run_keeps_its_last_checkpoint(small, monkeypatch):
    """While a piece is copied the run deletes all that there was to copy: the old copy is still the only one."""
    run, place = small.trained("run"), small.folder / "mirror"
    copy_run(run, place, lambda: None)
    for path in list_checkpoints(place)[1:]:
        shutil.rmtree(path)
    shutil.rmtree(list_checkpoints(run)[0])
    copy = mirror._copy_files

    def too_late(path, target, moved) -> None:
        shutil.rmtree(path)
        copy(path, target, moved)

    monkeypatch.setattr(mirror, "_copy_files", too_late)
    copy_run(run, place, lambda: None)
    assert names(place) == ["checkpoints/update-000000008"] and not names(run)


def test_the_command_has_it(small, tmp_path):
    words = train_command(tmp_path / "run", small.model, small.training, small.data, mirror_to=tmp_path / "my mirror")
    assert "--mirror-to" in words
    asked = _command(shlex.split(shlex.join(words))[1:])
    assert asked.mirror_to == tmp_path / "my mirror" and asked.training == small.training
