"""Files and folders that appear whole or not at all, their checksums, and what a full disk says."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from annotated import storage
from annotated.storage import (
    DiskFull,
    atomic_folder,
    atomic_write,
    checksum,
    checksums,
    format_bytes,
    sha256,
    sweep,
    translate_disk_full,
    verify_checksums,
)

pytestmark = pytest.mark.process

LOAD = """
import importlib.util, os, sys, time
from pathlib import Path
spec = importlib.util.spec_from_file_location("storage", "annotated/storage.py")
storage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(storage)
"""
"""The module stands alone, so a process need not import the library, which takes seconds."""
KILLED = """
kind, when, path = sys.argv[1:]
die = lambda *arguments: os._exit(9)
if when == "before the rename":
    os.replace = die
elif when == "between the renames":
    renames = iter([os.replace, die])
    os.replace = lambda *arguments: next(renames)(*arguments)
if kind == "file":
    with storage.atomic_write(path) as file:
        file.write("new")
        file.flush()
        if when == "half way":
            die()
else:
    with storage.atomic_folder(path) as folder:
        (folder / "a").write_text("new")
        if when == "half way":
            die()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_whole_with_the_folders_above_it(tmp_path):
    path = tmp_path / "deep" / "er" / "file.txt"
    for text in ("one\nä\n", "two"):
        with atomic_write(path) as file:
            file.write(text)
        assert path.read_bytes() == text.encode()
    with atomic_write(str(path), "wb") as binary:
        binary.write(b"\r\n\0")
    assert path.read_bytes() == b"\r\n\0" and names(path.parent) == ["file.txt"]


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in folders")
def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    with atomic_write(pipe) as file:
        file.write("one\n")
    reader.join(10)
    assert read == ["one\n"] and pipe.is_fifo() and names(tmp_path) == ["pipe"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path / "folder"):
        pass


def test_the_permissions_of_a_file(tmp_path):
    mask = os.umask(0o022)
    try:
        for permissions in (0o666, 0o600):
            with atomic_write(tmp_path / "file", permissions=permissions):
                pass
            assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == permissions & ~0o022
    finally:
        os.umask(mask)


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    with atomic_write(tmp_path / "file") as file:
        file.write("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "file") as file:
        file.write("new")
        raise KeyboardInterrupt
    assert names(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "old"


def test_a_folder_appears_whole_and_replaces_what_was_there(tmp_path):
    target = tmp_path / "runs" / "thing"
    for text in ("old", "new"):
        with atomic_folder(target) as folder:
            (folder / "a").mkdir()
            (folder / "a" / "b").write_text(text)
            (folder / f"only {text}").touch()
            assert target.exists() is (text == "new")
        assert (target / "a" / "b").read_text() == text
    assert names(target) == ["a", "only new"] and names(target.parent) == ["thing"]


def test_all_of_a_folder_is_forced_to_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    forced, fsync = [], storage.fsync
    monkeypatch.setattr(storage, "fsync", lambda path: (forced.append(Path(path).name), fsync(path)))
    with atomic_folder(tmp_path / "thing") as folder:
        (folder / "a").mkdir()
        (folder / "a" / "b").touch()
    assert sorted(forced[:2]) == ["a", "b"] and forced[2].startswith(storage.PARTIAL) and forced[3] == tmp_path.name


def test_errors_that_are_not_of_the_disk_keep_their_name_and_leave_nothing(tmp_path):
    with pytest.raises(PermissionError), atomic_folder(tmp_path / "thing") as folder:
        (folder / "a").write_text("x")
        raise PermissionError(errno.EACCES, "no")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("kind", "when"),
    [
        ("file", "half way"),
        ("file", "before the rename"),
        ("folder", "half way"),
        ("folder", "before the rename"),
        ("folder", "between the renames"),
    ],
)
def test_a_killed_process_leaves_the_old_state_and_what_sweep_removes(tmp_path, repository, kind, when):
    target = tmp_path / "thing"
    if kind == "file":
        target.write_text("old")
    else:
        target.mkdir()
        (target / "a").write_text("old")
    command = [sys.executable, "-c", LOAD + KILLED, kind, when, str(target)]
    assert subprocess.run(command, cwd=repository, check=False).returncode == 9
    assert len(names(tmp_path)) == 2
    sweep(tmp_path)
    assert names(tmp_path) == ["thing"]
    assert (target if kind == "file" else target / "a").read_text() == "old"


def test_a_folder_is_replaced_where_a_killed_process_left_the_one_before(tmp_path):
    for name in ("thing", f"{storage._REPLACED}thing"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
    with atomic_folder(tmp_path / "thing") as folder:
        (folder / "new").touch()
    assert names(tmp_path) == ["thing"] and names(tmp_path / "thing") == ["new"]


def test_what_is_open_elsewhere_on_windows_is_waited_for(tmp_path, monkeypatch):
    target = tmp_path / "thing"
    target.write_text("old", encoding="utf-8")
    refusals, plain = [2], os.replace

    def refuse(source, to):
        refusals[0] -= 1
        if refusals[0] >= 0:
            raise PermissionError(errno.EACCES, "Access is denied", str(source), 5, str(to))
        plain(source, to)

    source = tmp_path / "new"
    source.write_text("new", encoding="utf-8")
    with monkeypatch.context() as windows:
        windows.setattr(os, "replace", refuse)
        with pytest.raises(PermissionError, match="Access is denied"):  # elsewhere it is a matter of permissions
            storage.rename(source, target)
        refusals[0] = 2
        windows.setattr(os, "name", "nt")
        storage.rename(source, target)
        assert target.read_text(encoding="utf-8") == "new"
        refusals[0] = 1000
        windows.setattr(storage, "_IN_USE_SECONDS", 0.1)
        with pytest.raises(PermissionError, match="open in another program: close that") as refused:
            storage.rename(target, source)
        assert refused.value.filename == str(source)


def test_several_threads_may_write_one_file(tmp_path):
    def write(letter: str) -> None:
        for _ in range(20):
            with atomic_write(tmp_path / "file") as file:
                file.write(letter * 1000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (tmp_path / "file").read_text()
    assert text in ("a" * 1000, "b" * 1000, "c" * 1000) and names(tmp_path) == ["file"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_says_what_and_what_to_do(tmp_path, number):
    path = tmp_path / "not there" / "file"
    error = OSError(number, os.strerror(number))
    said = f"the disk is full: {path} .* MB are free.*free some space"
    with pytest.raises(DiskFull, match=said) as caught, translate_disk_full(path):
        raise error
    assert caught.value.errno == number
    advised = translate_disk_full(path, lambda: f"Delete {1 + 2} films")
    with pytest.raises(DiskFull, match="of the size of a file\\). Delete 3 films$"), translate_disk_full(path), advised:
        raise error
    with pytest.raises(DiskFull, match=f"full: {tmp_path}/other could"), translate_disk_full(path):
        raise OSError(number, os.strerror(number), str(tmp_path / "other"))
    better = translate_disk_full(tmp_path, "Sell the disk")
    inner = atomic_write(tmp_path / "file")
    with (
        pytest.raises(DiskFull, match=r"/file could.*\). Sell the disk$"),
        better,
        translate_disk_full(tmp_path),
        inner,
    ):
        raise error
    outer = atomic_folder(tmp_path / "folder", advice="Sell the disk")
    said = f"{tmp_path}/folder could.*Sell"
    with pytest.raises(DiskFull, match=said) as caught, outer as folder, atomic_write(folder / "file"):
        raise error
    assert storage.PARTIAL not in str(caught.value)
    for name, written in (("file", atomic_write(tmp_path / "file")), ("folder", atomic_folder(tmp_path / "folder"))):
        with pytest.raises(DiskFull, match=f"{tmp_path}/{name} could.*free some space"), written:
            raise OSError(number, os.strerror(number), str(tmp_path / f"{storage.PARTIAL}{name}-1"))
    assert names(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_disk_that_is_full_when_the_file_is_closed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    opened = os.open
    monkeypatch.setattr(storage.os, "open", lambda name, flags, *more: opened("/dev/full", os.O_WRONLY))
    with pytest.raises(DiskFull, match=f"{tmp_path}/file"), atomic_write(tmp_path / "file") as file:
        file.write("new" * 10_000)
    assert names(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "old"


def test_checksums_find_every_damage(tmp_path):
    for name, text in (("a", "one"), ("b", "")):
        (tmp_path / name).write_text(text)
    expected = checksums(tmp_path)
    assert list(expected) == ["a", "b"] and expected["a"] == checksum(tmp_path / "a")
    assert expected["b"] == {"bytes": 0, "sha256": sha256(tmp_path / "b")}
    assert sha256(tmp_path / "b") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (tmp_path / "more").touch()
    assert verify_checksums(tmp_path, expected) is None
    (tmp_path / "a").write_text("onE")
    assert verify_checksums(tmp_path, expected) == "a has changed: its SHA-256 differs"
    (tmp_path / "a").write_text("four")
    assert verify_checksums(tmp_path, expected) == "a has 4 bytes instead of 3"
    (tmp_path / "a").unlink()
    assert verify_checksums(tmp_path, expected) == "a is missing"


def test_bytes_for_people() -> None:
    counts = (2.5e12, 2.5e9, 2.5e6, 2500, 999)
    assert [format_bytes(count) for count in counts] == ["2.50 TB", "2.50 GB", "2.50 MB", "2.50 kB", "999 bytes"]
