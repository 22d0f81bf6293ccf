"""Dry run: some hundred real updates that tell what a whole run will take here: hours, disk, money, energy.

Nothing is calculated from data sheets. It is the training itself, with the same model, batches, precision
and number of devices, in a folder that is deleted afterwards; only its first updates do not count, in which kernels
are chosen and compiled.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.ownership import is_json_of, output_path, require_our_file, require_our_folder
from annotated.runs.checkpoint import list_checkpoints
from annotated.runs.errors import NonFiniteLoss, PeerLostError
from annotated.runs.exchange_time import BYTES_PER_GRADIENT, ExchangeTimes, time_exchange
from annotated.runs.hardware import describe_machine, peak_process_bytes
from annotated.runs.kernel_choice import RECORD, choose_kernel, kernels_to_time
from annotated.runs.log import read_records
from annotated.runs.loop import train
from annotated.runs.own_folder import is_of_a_run
from annotated.runs.validation_callbacks import BleuFunction
from annotated.saving import CheckpointError, read_json
from annotated.speed.machine.distributed import Processes, process_group
from annotated.storage import atomic_write

FORMAT = 1
WINDOWS = 20
"""Stretches that the measured updates are cut into: their spread is the uncertainty."""
_FOLDER = ".rehearsal"
_RUN = "run"
_MAIN_PROCESS = "0"


class Range(NamedTuple):
    """A number that is not known exactly: nine of ten stretches lie between `low` and `high`."""

    low: float
    typical: float
    high: float

    def times(self, factor: float, plus: float = 0.0) -> Range:
        """The range of `factor * x + plus`."""
        return Range(*(factor * value + plus for value in self))


@dataclass(frozen=True)
class Estimate:
    """What a training run will take, as far as a dry run tells."""

    hours: Range
    """From the first update to the last, validations included; without interruptions."""
    disk_bytes: int
    """For the checkpoints that are kept, one that is being written, and the final model."""
    money: Range | None
    """In the currency of the price that was given; None without a price."""
    kilowatt_hours: Range | None
    """Of the devices, from the watts that were given; None without them."""


@dataclass(frozen=True)
class DryRun:
    """What a dry run measured, on what, and of which training."""

    seconds_per_update: Range
    tokens_per_second: Range
    """Target tokens, over all devices."""
    updates: int
    """Measured."""
    warm_up: int
    """Updates before them that do not count."""
    warm_up_seconds: float
    """What those took, compilation included."""
    validation_seconds: float
    """One validation: loss, and BLEU if it was asked for. An untrained model translates at great length, so this is
    more than a trained one takes."""
    checkpoint_bytes: int
    checkpoint_seconds: float
    """To write as many bytes to the disk; a training run writes them in the background."""
    model_bytes: int
    """Of the weights alone."""
    peak_memory_bytes: int | None
    memory_kind: Literal["GPU", "process"]
    """Whose memory: the GPU's, as reserved by torch, or all of this process."""
    devices: int
    machine: dict[str, Any]
    configuration: dict[str, Any]
    """The three configurations of the whole training: 'model', 'training', 'data'."""
    date: str
    layout: str = ""
    """Of the batches, and why it was chosen; empty in records of older versions."""
    exchange: ExchangeTimes | None = None
    """Of the gradients between the processes; None for one process, and in records from before it was measured."""
    kernels: dict[str, float] = field(default_factory=dict)
    """Seconds of an update by `TrainingConfig.attention_kernel`, where several were tried; the rest is of the one that
    `choose_kernel` takes."""

    def estimate(self, *, price_per_hour: float | None = None, watts: float | None = None) -> Estimate:
        """What the whole training will take on the same devices.

        Parameters
        ----------
        price_per_hour, watts
            Of one device, in any currency. Neither has a default: they are yours to know.

        Raises
        ------
        ValueError
            If one of them is negative.
        """
        if min(price_per_hour or 0.0, watts or 0.0) < 0:
            raise ValueError(f"price and watts must not be negative: {price_per_hour}, {watts}")
        training = TrainingConfig.from_dict(self.configuration["training"])
        validations = -(-training.updates // training.validate_every)
        hours = self.seconds_per_update.times(
            training.updates / 3600, plus=(self.warm_up_seconds + validations * self.validation_seconds) / 3600
        )
        kept = training.keep_checkpoints + training.keep_best + 1
        return Estimate(
            hours=hours,
            disk_bytes=kept * self.checkpoint_bytes + 2 * self.model_bytes,
            money=None if price_per_hour is None else hours.times(price_per_hour * self.devices),
            kilowatt_hours=None if watts is None else hours.times(watts * self.devices / 1000),
        )

    def save(self, path: str | Path) -> None:
        """Write the record as JSON, whole or not at all; a file that is no such record is not replaced."""
        require_our_file(path, _is_record)
        with atomic_write(path) as file:
            file.write(json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> DryRun:
        """The inverse of `save`; also takes the folder of a run.

        Raises
        ------
        CheckpointError
            If there is no record, or it is damaged.
        """
        path = Path(path)
        path = path / RECORD if path.is_dir() else path
        content = read_json(path)
        if content.pop("format", None) != FORMAT:
            raise CheckpointError(f"{path}: not a dry run that this version reads; make it again")
        try:
            ranges: dict[str, Any] = {
                name: Range(*content.pop(name)) for name in ("seconds_per_update", "tokens_per_second")
            }
            exchange = content.pop("exchange", None)
            return cls(**ranges, **content, exchange=exchange and ExchangeTimes(**exchange))
        except (TypeError, KeyError) as error:
            raise CheckpointError(f"{path}: damaged ({error}); make the dry run again") from None


def dry_run(
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    *,
    updates: int = 200,
    warm_up: int = 20,
    folder: str | Path | None = None,
    bleu: BleuFunction | None = None,
    quiet: bool = True,
) -> DryRun | None:
    """Make some updates of a training run as it will be, measure them, and delete what they wrote.

    Where layout and attention kernel are 'auto' and the GPU has several kernels, each is tried; a new run in the folder
    takes the fastest.

    Parameters
    ----------
    model_config, training, data
        As for `train`: of the whole training.
    updates
        To measure. They are cut into 20 stretches.
    warm_up
        Updates before them that do not count.
    folder
        Of the run to come: the dry run takes place on its disk, in a hidden folder of it, and its record is saved
        as `rehearsal.json` there. None for a temporary folder, and no record. Needed under `torchrun`.
    bleu
        As for `train`, so that the time for it is known.
    quiet
        As for `train`.

    Returns
    -------
    DryRun or None
        None under `torchrun` in all processes but the main one.

    Raises
    ------
    ValueError
        If there are fewer than two updates to measure, or there is no folder under `torchrun`.
    """
    if updates < 2 or warm_up < 0:
        raise ValueError(f"two updates at least can be measured, after none or more: not {updates} after {warm_up}")
    stretch = max(1, updates // WINDOWS)
    before = -(-warm_up // stretch) * stretch
    total = before + -(-updates // stretch) * stretch
    if folder is not None:
        require_our_file(output_path(folder) / RECORD, _is_record)
    short = training.replace(
        updates=total,
        log_every=stretch,
        validate_every=total,
        checkpoint_every=total,
        keep_checkpoints=1,
        keep_best=0,
        average_last=1,
        max_seconds=None,
        patience=None,
    )
    configuration = {"model": model_config.to_dict(), "training": training.to_dict(), "data": data.to_dict()}
    with _scratch(folder) as scratch:
        with process_group(training.device, training.peer_timeout) as processes:

            def measure(run: Path, training: TrainingConfig) -> DryRun | None:
                _forget_peaks()
                result = train(model_config, training, data, run, quiet=quiet, bleu=bleu, processes=processes)
                if not result.finished:
                    raise KeyboardInterrupt(f"the dry run was stopped by {result.stopped_by}")
                return _measured(run, before, configuration) if processes.is_main else None

            found = _fastest(measure, scratch, short, model_config, processes)
            weights = processes.broadcast_object(_weights(scratch / _RUN) if processes.is_main else None)
            exchange = time_exchange(processes, weights)
        if found is None:
            return None
        found = dataclasses.replace(found, exchange=exchange)
    if folder is not None:
        found.save(Path(folder) / RECORD)
    return found


def _fastest(
    measure: Callable[[Path, TrainingConfig], DryRun | None],
    scratch: Path,
    training: TrainingConfig,
    model: ModelConfig,
    processes: Processes,
) -> DryRun | None:
    """What was measured with the fastest kernel of those that the main process's device has; None in the others."""
    first, *others = processes.broadcast_object(kernels_to_time(training, model, processes.device))
    found = {first: measure(scratch / _RUN, training)}
    for kernel in others:
        gc.collect()  # the model and the graphs of the one before
        torch.cuda.empty_cache()
        try:
            tried = measure(scratch / kernel, training.replace(layout="static", attention_kernel=kernel))
        except (PeerLostError, NonFiniteLoss):
            raise
        except RuntimeError as error:  # by a compiler, or for want of memory: the run can do without
            warnings.warn(f"attention_kernel {kernel!r} is not tried: {str(error).splitlines()[0]}", stacklevel=3)
        else:
            found[kernel] = tried
    seconds = {kernel: one.seconds_per_update.typical for kernel, one in found.items() if one is not None}
    choice = choose_kernel(seconds)
    best = found[first if choice is None else choice.kernel]
    return best if best is None or choice is None else dataclasses.replace(best, kernels=seconds, layout=choice.why)


def _measured(run: Path, warm_up: int, configuration: dict[str, Any]) -> DryRun:
    records = read_records(run)
    start = next(record for record in records if record["kind"] == "start")
    windows = [record for record in records if record["kind"] == "train"]
    seconds, updates, tokens = _stretches(windows, warm_up)
    valid = next((record for record in records if record["kind"] == "valid"), None)
    checkpoint = list_checkpoints(run)[-1]
    device = torch.device(start["device"])
    return DryRun(
        seconds_per_update=_spread([s / u for s, u in zip(seconds, updates, strict=True)], sum(seconds) / sum(updates)),
        tokens_per_second=_spread([t / s for t, s in zip(tokens, seconds, strict=True)], sum(tokens) / sum(seconds)),
        updates=sum(updates),
        warm_up=warm_up,
        warm_up_seconds=next((w["elapsed"] for w in windows if w["update"] == warm_up), 0.0),
        validation_seconds=0.0 if valid is None else max(0.0, valid["elapsed"] - windows[-1]["elapsed"]),
        checkpoint_bytes=sum(path.stat().st_size for path in checkpoint.iterdir()),
        checkpoint_seconds=_seconds_to_write(checkpoint),
        model_bytes=(checkpoint / "model.safetensors").stat().st_size,
        peak_memory_bytes=_peak(device),
        memory_kind="GPU" if device.type == "cuda" else "process",
        devices=start["processes"],
        machine=describe_machine(),
        configuration=configuration,
        date=date.today().isoformat(),
        layout=start["layout"],
    )


def _weights(run: Path) -> int:
    """About the numbers in the weights of the model that was trained: its file has a short head besides."""
    return (list_checkpoints(run)[-1] / "model.safetensors").stat().st_size // BYTES_PER_GRADIENT


def _stretches(windows: Sequence[dict[str, Any]], warm_up: int) -> tuple[list[float], list[int], list[int]]:
    """Seconds, updates and target tokens of each stretch after the warm-up; pauses do not count."""
    seconds, updates, tokens = [], [], []
    update = seen = 0
    for window in windows:
        if window["update"] > warm_up:
            updates.append(window["update"] - update)
            tokens.append(window["tokens_seen"] - seen)
            seconds.append(tokens[-1] / window["tokens_per_second"])
        update, seen = window["update"], window["tokens_seen"]
    return seconds, updates, tokens


def _spread(values: Sequence[float], typical: float) -> Range:
    low, high = torch.tensor(values, dtype=torch.float64).quantile(torch.tensor([0.05, 0.95]).double()).tolist()
    return Range(min(low, typical), typical, max(high, typical))


def _seconds_to_write(checkpoint: Path) -> float:
    """Time to bring a checkpoint's bytes to the disk; it is in memory already."""
    files = [path for path in checkpoint.iterdir() if path.suffix == ".safetensors"]
    target = checkpoint.parent / "written"
    total = 0.0
    for path in files:
        content = path.read_bytes()
        began = time.perf_counter()
        with target.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        total += time.perf_counter() - began
    target.unlink()
    return total


@contextmanager
def _scratch(folder: str | Path | None) -> Iterator[Path]:
    """A folder that all processes know and that is gone afterwards."""
    if folder is None:
        if int(os.environ.get("WORLD_SIZE", 1)) > 1:
            raise ValueError("under torchrun the processes must share a folder: give that of the run to come")
        with tempfile.TemporaryDirectory(prefix="annotated-rehearsal-") as name:
            yield Path(name)
        return
    scratch, is_new = Path(folder) / _FOLDER, not Path(folder).exists()
    if _is_main():  # the others come after it: the first thing that `train` does is to wait for all
        require_our_folder(scratch, ("*",), lambda place: is_of_a_run(place / _RUN))
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        if _is_main():
            shutil.rmtree(scratch, ignore_errors=True)
            if is_new:  # for the record, which a dry run that fails does not write
                with suppress(OSError):
                    scratch.parent.rmdir()


def _is_record(path: Path) -> bool:
    return is_json_of(path, "seconds_per_update", "configuration")


def _is_main() -> bool:
    return os.environ.get("RANK", _MAIN_PROCESS) == _MAIN_PROCESS


def _forget_peaks() -> None:
    if torch.cuda.is_initialized():  # before, there is no peak to forget, and to ask for it is an error
        for number in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(number)


def _peak(device: torch.device) -> int | None:
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device)
    return peak_process_bytes()
