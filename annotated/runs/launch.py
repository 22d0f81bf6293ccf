"""Launch of a training run that outlives the notebook: its own process, to be found, stopped and resumed.

All of it goes by the folder of the run. Nothing depends on the process that started the training: another notebook,
or the same one with a new kernel, finds it by the folder's lock.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotated.config import PRESETS, DataConfig, ModelConfig, TrainingConfig
from annotated.ownership import begins_with, output_path, require_our_folder
from annotated.recipes import EVERY_RECIPE, FITTED, FITTED_PRESET
from annotated.runs.lock import run_lock_holder
from annotated.runs.own_folder import WRITTEN, is_of_a_run
from annotated.saving import CheckpointError

OUTPUT = "output.txt"
_LAUNCHES = "annotated.runs.launch: "
"""How each start begins in that file, whose first line shows that it is ours."""
"""What the training says on its console goes into this file of its folder."""
Configurations = tuple[ModelConfig, TrainingConfig, DataConfig]
_PAUSE = 0.05
_TERMINAL = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""A notebook's kernel sets some of these; with them the training would draw its progress bar into a file."""
_TAIL_BYTES, _TAIL_LINES = 8000, 12
_TORCHRUN = ("--standalone", "--max-restarts", "3")
_GRACE, _GRACE_SECONDS = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "600"
"""How long torchrun waits for a checkpoint to be saved when it is asked to end, before it kills; its own choice is 30
seconds."""


class LaunchError(RuntimeError):
    """A training run ended before it began; the message shows what it said."""


@dataclass(frozen=True)
class Launched:
    """A training run in a process of its own."""

    folder: Path
    pid: int
    """Of the process; of torchrun, if there are several."""
    command: str
    """The same, to be typed in a terminal."""


def train_command(
    folder: str | Path,
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    samples: Sequence[str] = (),
    log_to: Sequence[str] = (),
    mirror_to: str | Path | None = None,
) -> list[str]:
    """The command that trains just so: `annotated train FOLDER ...`, with the preset or recipe that is nearest, and
    the fields that differ from it.

    `shlex.join` makes a line for a terminal of it.

    Raises
    ------
    ValueError
        If a sentence begins with a dash, which a command line takes for an option.
    """
    wanted = (model_config, training, data)
    words = min((_words(folder, wanted, *start) for start in _starts()), key=len)
    for sentence in samples:
        if not sentence.strip() or sentence.startswith("-"):
            raise ValueError(f"a sample must be a sentence that begins without a dash, not {sentence!r}")
    words += ["--samples", *samples] if samples else []
    words += ["--log-to", *log_to] if log_to else []
    return words if mirror_to is None else [*words, "--mirror-to", str(mirror_to)]


def _starts() -> Iterator[tuple[str, Configurations]]:
    """What `annotated train --preset NAME` begins with."""
    for name, make in PRESETS.items():
        yield name, (make(), TrainingConfig(), DataConfig())
    for name, one in EVERY_RECIPE.items():
        yield name, (one.model, one.training, one.data)


def _words(folder: str | Path, wanted: Configurations, name: str, start: Configurations) -> list[str]:
    words = ["annotated", "train", str(folder), "--preset", name]
    for group, given, default in zip(("model", "training", "data"), wanted, start, strict=True):
        usual = default.to_dict()
        for field, value in given.to_dict().items():
            is_fitted = name == FITTED_PRESET and field in FITTED.get(group, ())  # the text decides what is usual
            if value != usual[field] or is_fitted:
                words += _option(group, field.replace("_", "-"), value)
    return words


def _option(group: str, name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{group}.{name}" if value else f"--{group}.no-{name}"]
    values = value if isinstance(value, list | tuple) else (value,)
    return [f"--{group}.{name}", *map(str, values)]


def launch(
    folder: str | Path,
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    *,
    samples: Sequence[str] = (),
    processes: int = 1,
    threads: int | None = None,
    wait_seconds: float = 120.0,
) -> Launched:
    """Start `train` in a process that goes on when this one ends; or go on with the run in that folder.

    Returns as soon as the process has the folder to itself (some seconds, for it has to import torch). From then on
    `TrainingMonitor` follows it, `stop` stops it, and `launch` with the same arguments takes it up again: bit for bit
    as if it had never been stopped, on a CPU with as many threads.

    Parameters
    ----------
    folder, model_config, training, data
        As in `train`.
    samples
        Sentences to translate at each validation, into the log.
    processes
        How many, one to a GPU. Several are started by torchrun, on this machine, and again from the last checkpoint if
        one dies. Another number than before makes the same updates.
    threads
        Of each process; None leaves it to torch.
    wait_seconds
        How long the process may take to begin.

    Raises
    ------
    CheckpointError
        If a process trains there already.
    FileExistsError
        If the folder holds files that no run wrote, under names that a run writes.
    LaunchError
        If the process ends at once, or does not begin in time: the message shows its last lines. Also on Windows,
        where nothing locks the folder: the message shows the command for a terminal.
    """
    folder = output_path(folder).resolve()
    command = train_command(folder, model_config, training, data, samples)
    if processes > 1:
        command = ["torchrun", *_TORCHRUN, "--nproc-per-node", str(processes), "-m", *command]
    if os.name == "nt":
        raise LaunchError(f"without file locks a training cannot be found again; type this: {shlex.join(command)}")
    if (pid := running(folder)) is not None:
        raise CheckpointError(f"{folder}: process {pid} trains here already; follow it, or stop it first")
    require_our_folder(folder, (*WRITTEN, OUTPUT), _is_ours)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"OMP_WAIT_POLICY": "passive", _GRACE: _GRACE_SECONDS, **os.environ, "PYTHONUNBUFFERED": "1"}
    for name in _TERMINAL:
        environment.pop(name, None)
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    with (folder / OUTPUT).open("ab") as output:
        output.write(f"{_LAUNCHES}{shlex.join(command)}\n".encode())
        output.flush()
        began = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", *(["torch.distributed.run", *command[1:]] if processes > 1 else command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # what ends the notebook's kernel does not reach it
        )
    threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie
    deadline = time.monotonic() + wait_seconds
    while running(folder) != process.pid and process.poll() is None:
        if time.monotonic() > deadline:
            _end(process)
            said = last_words(folder, since=began) or "(nothing)"
            raise LaunchError(f"the training did not begin within {wait_seconds:.0f} seconds. It said:\n{said}")
        time.sleep(_PAUSE)
    if process.poll():
        said = last_words(folder, since=began) or "(nothing)"
        raise LaunchError(f"the training ended at once, with status {process.returncode}. It said:\n{said}")
    return Launched(folder, process.pid, shlex.join(command))


def _is_ours(folder: Path) -> bool:
    """Whether a run was trained or launched in a folder."""
    return is_of_a_run(folder) or begins_with(folder / OUTPUT, _LAUNCHES)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()  # torchrun takes its processes with it
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()


def running(folder: str | Path) -> int | None:
    """The number of the process that trains in a folder, however it was started; None if none does.

    Of several processes it is torchrun's, as long as that lives.
    """
    holder = run_lock_holder(Path(folder))
    return None if holder is None else holder.signal_pid


def stop(folder: str | Path, wait_seconds: float = 120.0) -> bool:
    """Ask the training in a folder to stop, and wait until it has: it finishes its update and saves a checkpoint.

    Of a training run over several machines this reaches the main process's machine; ask the scheduler to stop all.

    Returns
    -------
    bool
        False if no training run ran there.

    Raises
    ------
    CheckpointError
        If it runs on another machine.
    TimeoutError
        If it still runs after `wait_seconds`. A second request ends it at once, without a checkpoint.
    """
    folder = Path(folder)
    holder = run_lock_holder(folder)
    if holder is None:
        return False
    if not holder.is_here or not holder.signal_pid:
        raise CheckpointError(f"{folder}: a process on {holder.host or 'another machine'} trains here: stop it there")
    try:
        os.kill(holder.signal_pid, signal.SIGTERM)
    except ProcessLookupError:
        return True  # it has just ended
    deadline = time.monotonic() + wait_seconds
    while running(folder) == holder.signal_pid:
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"process {holder.signal_pid} still trains in {folder} after {wait_seconds:.0f} seconds; "
                "if it is asked again, it ends at once and saves nothing"
            )
        time.sleep(_PAUSE)
    return True


def last_words(folder: str | Path, since: int = 0) -> str:
    """The last lines that a launched training said on its console; empty if it said none.

    Parameters
    ----------
    since
        Place in the file, in bytes, from which on lines count.
    """
    try:
        with (Path(folder) / OUTPUT).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(since, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-_TAIL_LINES:])
