"""Trainings in processes of their own that start in a moment, meet with faults, and are started again.

A fresh interpreter needs three seconds for torch. Here one process that has imported everything, and has computed
nothing, is forked for each start (multiprocessing's forkserver): some milliseconds. What runs there is the command line
itself, `annotated train ...`, with the exit status and the messages that a user would see.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import random
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from safetensors.torch import load_file

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs import list_checkpoints, read_records, train_command

FORKS = multiprocessing.get_context("forkserver")
# All that a training imports, what it imports late too: half a second for each start.
_TRAINING = "annotated.cli.program annotated.translator torch._dynamo filelock rich._emoji_codes"
FORKS.set_forkserver_preload([*_TRAINING.split(), "tests.full_run.processes"])
_FILE_EVENTS = {"open", "os.mkdir", "os.rename", "os.rmdir", "os.remove", "os.truncate", "shutil.rmtree"}
_PATIENCE = 900.0
_PAUSE = 0.005


@dataclass(frozen=True)
class Faults:
    """What goes wrong in a process, or is slowed down; the default is nothing."""

    pause: float = 0.0
    """Seconds to sleep after each update, so that there is a moment in which something can happen."""
    kill_at_update: int | None = None
    """SIGKILL after the optimiser's n-th step in this process."""
    kill_at_operation: int | None = None
    """SIGKILL just before the n-th change of a file: open for writing, rename, mkdir, remove."""
    poison: tuple[int, int, int] | None = None
    """(n, rows, row): after the n-th step, fill this row of the first parameter with so many rows with NaN."""
    wild_clock: bool = False
    """`time.time` jumps by hours and years, forwards and backwards, at each call."""
    largest_file: int | None = None
    """Bytes that a file may have (RLIMIT_FSIZE); a write beyond that fails."""


@dataclass(frozen=True)
class Running:
    """One process with a training."""

    process: Any
    output: Path
    counts: Path

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    def said(self) -> str:
        """What it wrote on standard output and standard error."""
        return self.output.read_text(encoding="utf-8", errors="replace") if self.output.exists() else ""

    def done(self) -> tuple[int, int]:
        """Steps of the optimiser, and changes of files, in this process so far."""
        data = self.counts.read_bytes().ljust(16, b"\0") if self.counts.exists() else bytes(16)
        return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:16], "little")

    def wait(self, seconds: float = _PATIENCE) -> int:
        """The exit status, once it ended; minus the signal's number if one killed it."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
            raise AssertionError(f"still running after {seconds:.0f} seconds. It said:\n{self.said()}")
        return self.process.exitcode

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send it a signal, and wait until it has ended."""
        if self.process.is_alive():
            os.kill(self.pid, number)
        return self.wait()

    def until(self, steps: int, seconds: float = _PATIENCE) -> None:
        """Return as soon as it has made so many updates."""
        deadline = time.monotonic() + seconds
        while self.done()[0] < steps:
            if not self.process.is_alive() or time.monotonic() > deadline:
                raise AssertionError(f"no {steps} updates (status {self.process.exitcode}). It said:\n{self.said()}")
            time.sleep(_PAUSE)


@dataclass
class Setting:
    """The three configurations of a small training, and a folder for its runs."""

    folder: Path
    model: ModelConfig
    training: TrainingConfig
    data: DataConfig

    def start(
        self,
        run: str | Path,
        faults: Faults | None = None,
        /,
        environment: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Running:
        """`annotated train FOLDER/RUN ...` in a process of its own, with some fields of the training changed."""
        where = self.folder / run
        command = train_command(where, self.model, self.training.replace(**changes), self.data)
        number = sum(1 for _ in self.folder.glob("*.output"))
        output = self.folder / f"{number:03d}.output"
        output.touch()
        counts = output.with_suffix(".counts")
        arguments = (command[1:], where, faults or Faults(), output, counts, dict(environment or {}))
        process = FORKS.Process(target=_train, args=arguments, daemon=True)
        process.start()
        return Running(process, output, counts)

    def finish(self, run: str | Path, /, **changes: Any) -> str:
        """Train to the end without faults; what it said."""
        running = self.start(run, **changes)
        status = running.wait()
        assert status == 0, f"status {status}: {running.said()}"
        return running.said()

    def finish_together(self, run: str | Path, count: int, /, **changes: Any) -> None:
        """The same in several processes, described in the environment as `torchrun` does."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
        ranks = [{**group, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]
        running = [self.start(run, environment=one, **changes) for one in ranks]
        status = [one.wait() for one in running]
        assert status == [0] * count, [one.said() for one in running]

    def replace(self, **changes: Any) -> Setting:
        """A copy with other fields."""
        return dataclasses.replace(self, **changes)


def _train(
    arguments: list[str], folder: Path, faults: Faults, output: Path, counts: Path, environment: dict[str, str]
) -> None:
    """In the new process: set the faults up, then run the command line."""
    os.environ.update(environment)
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import torch

    torch.set_num_threads(1)
    _count_and_hurt(folder, faults, os.open(counts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    if faults.wild_clock:
        _jump(random.Random(0))
    if faults.largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (faults.largest_file, faults.largest_file))
    end_with_command(arguments)


def end_with_command(arguments: list[str]) -> NoReturn:
    """Run the command line in this process, which ends with its exit status."""
    from annotated.cli import main

    try:
        status = main(arguments)
    except BaseException:
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _count_and_hurt(folder: Path, faults: Faults, counts: int) -> None:
    from torch.optim.optimizer import register_optimizer_step_post_hook

    steps = operations = 0

    def after_step(optimizer: Any, *_: Any) -> None:
        nonlocal steps
        steps += 1
        os.pwrite(counts, steps.to_bytes(8, "little"), 0)
        if steps == faults.kill_at_update:
            os.kill(os.getpid(), signal.SIGKILL)
        if faults.poison is not None and steps == faults.poison[0]:
            _, rows, row = faults.poison
            tables = [p for group in optimizer.param_groups for p in group["params"] if p.shape[0] == rows]
            tables[0].data[row] = float("nan")
        if faults.pause:
            time.sleep(faults.pause)

    def before_operation(event: str, given: tuple[Any, ...]) -> None:
        nonlocal operations
        if event not in _FILE_EVENTS or not _changes(event, given, str(folder)):
            return
        operations += 1
        os.pwrite(counts, operations.to_bytes(8, "little"), 8)
        if operations == faults.kill_at_operation:
            os.kill(os.getpid(), signal.SIGKILL)

    register_optimizer_step_post_hook(after_step)
    sys.addaudithook(before_operation)


def _changes(event: str, given: tuple[Any, ...], folder: str) -> bool:
    if event == "open":
        path, _, flags = given
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        return bool(writes) and str(path).startswith(folder)
    # What shutil.rmtree removes, it names relative to a folder that it holds open.
    relative = event != "shutil.rmtree" and isinstance(given[-1], int) and given[-1] >= 0
    return relative or str(given[0]).startswith(folder)


def _jump(rng: random.Random) -> None:
    real, hour = time.time, 3600.0
    time.time = lambda: real() + rng.choice([-20 * 8766 * hour, -26 * hour, 0.0, 26 * hour, 20 * 8766 * hour])


def assert_same_end(one: Path, other: Path) -> None:
    """The last checkpoints, the averaged models and the logs of two runs are the same, bit for bit, times excepted."""
    first, second = (list_checkpoints(run) for run in (one, other))
    assert [path.name for path in first] == [path.name for path in second]
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert_same_tensors(first[-1] / name, second[-1] / name)
    assert_same_tensors(one / "model" / "model.safetensors", other / "model" / "model.safetensors")
    assert _position(first[-1]) == _position(second[-1])
    assert learning(one) == learning(other)


def assert_same_tensors(one: Path, other: Path) -> None:
    """Two files hold the same tensors, bit for bit."""
    first, second = load_file(one), load_file(other)
    assert first.keys() == second.keys() and first
    different = [name for name in first if not first[name].equal(second[name])]
    assert not different, f"{other} differs from {one} in {different}"


def _position(checkpoint: Path) -> dict[str, Any]:
    state = json.loads((checkpoint / "state.json").read_text(encoding="utf-8"))
    return {name: state[name] for name in ("update", "tokens_seen", "data", "random", "interim")}


def learning(run: Path) -> list[dict[str, Any]]:
    """What the log of a run says about learning, without times, starts and paths."""
    numbers = ("loss", "learning_rate", "gradient_norm", "valid_loss")
    names = ("kind", "update", "epoch", "tokens_seen", *numbers, "averaged")
    return [
        {name: record[name] for name in names if name in record}
        for record in read_records(run)
        if record["kind"] in ("train", "valid")
    ]


def leftovers(run: Path) -> list[str]:
    """Names under a run's folder that only a process at work may leave: hidden files, and damaged checkpoints."""
    return sorted(path.name for path in run.rglob("*") if path.name.startswith(".") or ".damaged" in path.name)
