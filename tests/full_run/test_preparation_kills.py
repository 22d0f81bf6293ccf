"""The data of the full run through kills, a full disk and a second process: at the end always the same bytes."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotated.cli import main
from annotated.locks import last_lock_holder
from annotated.storage import sha256
from annotated.wmt14 import PreparedCorpus, encode, progress, sources
from annotated.wmt14.manifest import MANIFESTS, read_manifest
from annotated.wmt14.mirror import Mirror, write_mirror

pytestmark = [pytest.mark.slow, pytest.mark.process]

KILLS, CHAINS = 20, 5
_CONTEXT = multiprocessing.get_context("fork")  # everything is imported here, and a start costs milliseconds
_FILE_EVENTS = {"open", "os.mkdir", "os.rename", "os.rmdir", "os.remove", "os.truncate"}


@dataclass(frozen=True)
class Faults:
    """What goes wrong in a process; the default is nothing."""

    kill_at: str | None = None
    """SIGKILL at the first moment of this name: a change of a file, or a word of progress."""
    pause: float = 0.0
    """Seconds to sleep at each word of progress."""
    largest_file: int | None = None
    """Bytes that a file may have; a write beyond that fails."""


@dataclass(frozen=True)
class Ended:
    """How a preparation ended."""

    status: int
    """Its exit status; minus the number of the signal that ended it."""
    said: str
    moments: list[str]
    """Names of the changes of files, and the words of progress, in its main process."""


@dataclass(frozen=True)
class Setting:
    """A mirror of five shards, and a folder for what is made of it."""

    folder: Path
    url: str
    catalogue: Path

    def start(self, name: str, faults: Faults = Faults()) -> Callable[[], Ended]:  # noqa: B008
        """`annotated data wmt14 FOLDER/NAME ...` in a process of its own; the function that waits for its end."""
        number = sum(1 for _ in self.folder.glob("*.output"))
        output, moments = self.folder / f"{number:03}.output", self.folder / f"{number:03}.moments"
        output.touch()
        moments.touch()
        arguments = ["data", "wmt14", str(self.folder / name), "--mirror", self.url, "--catalogue", str(self.catalogue)]
        arguments += ["--jobs", "2"]
        process = _CONTEXT.Process(target=_prepare, args=(arguments, self.folder / name, faults, output, moments))
        process.start()

        def wait() -> Ended:
            process.join(900)
            assert process.exitcode is not None, output.read_text()
            _wait_for_group(process.pid)
            return Ended(process.exitcode, output.read_text(), moments.read_text().splitlines())

        return wait

    def run(self, name: str, faults: Faults = Faults()) -> Ended:  # noqa: B008
        """The same, to its end."""
        return self.start(name, faults)()


def _prepare(arguments: list[str], folder: Path, faults: Faults, output: Path, moments: Path) -> None:
    """In the new process: set the faults up, then run the command line."""
    os.setpgid(0, 0)
    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w"), encoding="utf-8", write_through=True) for number in (1, 2)
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are told to ignore it
    mine, names = os.getpid(), os.open(moments, os.O_WRONLY | os.O_APPEND)

    def moment(name: str) -> None:
        if os.getpid() == mine:  # the processes that it starts inherit all this
            os.write(names, f"{name}\n".encode())
            if name == faults.kill_at:
                os.kill(mine, signal.SIGKILL)

    def hook(event: str, given: tuple[Any, ...]) -> None:
        writes = event != "open" or (isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR))
        if event in _FILE_EVENTS and writes and str(given[0]).startswith(str(folder)):
            path = os.path.relpath(str(given[0]), folder)
            moment(f"{event} {re.sub('-[0-9a-f]{8}$', '', path)}")  # partial names end at random

    sys.addaudithook(hook)
    _listen(moment, faults.pause)
    if faults.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (faults.largest_file, faults.largest_file))
    os._exit(main(arguments))


def _listen(moment: Callable[[str], None], pause: float) -> None:
    """Every word of progress is a moment too: between two changes of files there may be much work."""
    original = progress.Reporter.stage

    @contextlib.contextmanager
    def stage(self: progress.Reporter, name: str) -> Iterator[Any]:
        with original(self, name) as advance:

            def told(done: int, total: int | None) -> None:
                moment(f"{name} {done}")
                time.sleep(pause)
                advance(done, total)

            yield told

    progress.Reporter.stage = stage  # type: ignore[method-assign]


def _wait_for_group(group: int | None) -> None:
    """Return when the main process's own processes have ended too; fail if they do not."""
    deadline = time.monotonic() + 300
    while True:
        try:
            os.killpg(group or 0, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "processes of a killed preparation live on"
        time.sleep(0.02)


def content(folder: Path) -> dict[str, str]:
    """Hashes of all files, manifests and README included, but for times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.parent.name == MANIFESTS:
            manifest = read_manifest(path) or {}
            manifest.pop("seconds")
            records = [*manifest["inputs"].values(), *manifest["outputs"].values()]
            for record in records:
                record.pop("modified")
            for archive in manifest["counts"].get("archives", {}).values():
                archive.pop("url")  # empty if it was there already
            found[path.name] = str(manifest)
        elif path.is_file() and path.suffix != ".lock":
            found[str(path.relative_to(folder))] = sha256(path)
    return found


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    folder = tmp_path_factory.mktemp("preparation")
    write_mirror(folder / "mirror", pairs=1500, vocab_size=500)
    with pytest.MonkeyPatch.context() as patch, Mirror(folder / "mirror") as mirror:
        patch.setattr(sources, "BLOCK_PAIRS", 200)
        patch.setattr(encode, "SHARD_PAIRS", 300)
        patch.setattr(encode, "CHUNK_PAIRS", 100)
        yield Setting(folder, mirror.url, folder / "mirror" / "catalogue.json")


@pytest.fixture(scope="module")
def whole(setting: Setting) -> tuple[dict[str, str], list[str]]:
    """What an undisturbed preparation makes, and the moments of which it consists, in their order."""
    ended = setting.run("whole")
    assert ended.status == 0, ended.said
    assert len(PreparedCorpus.open(setting.folder / "whole").train) > 1000
    return content(setting.folder / "whole"), list(dict.fromkeys(ended.moments))


@pytest.mark.parametrize("chain", range(CHAINS))
def test_killed_at_any_moment_it_ends_with_the_same_bytes(setting: Setting, whole, chain: int) -> None:
    """One kill in each twentieth of the moments: four for each folder, each in what goes on from the last."""
    expected, moments = whole
    chance, name = random.Random(chain), f"killed-{chain}"
    for number in range(chain, KILLS, CHAINS):
        moment = moments[int((number + chance.random()) * len(moments) / KILLS)]
        ended = setting.run(name, Faults(kill_at=moment))
        assert ended.status == -signal.SIGKILL, f"{moment!r} was never reached: {ended.said}"
    ended = setting.run(name)
    assert ended.status == 0, ended.said
    assert content(setting.folder / name) == expected
    shutil.rmtree(setting.folder / name)


@pytest.mark.parametrize("largest_file", [2_000, 40_000, 100_000])
def test_a_full_disk_costs_only_the_stage_at_hand(setting: Setting, whole, largest_file: int) -> None:
    name = f"full-{largest_file}"
    ended = setting.run(name, Faults(largest_file=largest_file))
    assert ended.status == 1, ended.said
    assert "disk" in ended.said and "full" in ended.said and "run the same command again" in ended.said
    done = {path.name for path in (setting.folder / name / MANIFESTS).glob("*.json")}
    ended = setting.run(name)
    assert ended.status == 0, ended.said
    assert ended.said.count("done before") == len(done)
    assert content(setting.folder / name) == whole[0]


def test_of_two_at_once_the_second_is_refused_and_the_first_is_not_disturbed(setting: Setting, whole) -> None:
    first = setting.start("both", Faults(pause=0.1))
    while not (setting.folder / "both" / MANIFESTS / "01-download.json").exists():
        time.sleep(0.05)
    second = setting.run("both")
    assert second.status == 2
    assert "another process prepares data in this folder (process" in second.said
    assert first().status == 0
    assert content(setting.folder / "both") == whole[0]


def test_interrupted_from_the_keyboard_it_goes_on_where_it_was(setting: Setting, whole) -> None:
    wait = setting.start("interrupted", Faults(pause=0.05))
    while not (setting.folder / "interrupted" / MANIFESTS / "02-extract.json").exists():
        time.sleep(0.02)
    group = _group(setting.folder / "interrupted")
    os.killpg(group, signal.SIGINT)  # as a terminal does: to all of its processes
    ended = wait()
    assert ended.status == 130 and "interrupted" in ended.said and "Traceback" not in ended.said
    ended = setting.run("interrupted")
    assert ended.status == 0 and ended.said.count("done before") >= 2
    assert content(setting.folder / "interrupted") == whole[0]


def _group(folder: Path) -> int:
    """The process of the lock file, which leads a group of its own."""
    return last_lock_holder(folder / "preparation.lock").pid
