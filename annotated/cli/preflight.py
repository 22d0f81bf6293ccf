"""`annotated preflight` and `annotated dry-run`: needs and checks of a long training run, before it begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from annotated.cli.train import FIRST_PRESET, check_pair, check_validation, plan, train_defaults
from annotated.config import DataConfig, ModelConfig, TrainingConfig

if TYPE_CHECKING:
    from annotated.runs.preflight.table import PreflightReport


@dataclass
class DryRunCommand:
    """Make some updates of a training run to come: what will all of it take? They are thrown away.

    On several GPUs: torchrun --standalone --nproc-per-node 8 -m annotated dry-run RUN ...

    A recipe's name is short for its folder and preset, as in annotated train: annotated dry-run wmt14-base

    `annotated rehearse` is the same command.
    """

    run_folder: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="RUN")] = None
    """Folder of the run to come: gets rehearsal.json, which `annotated preflight` reads."""
    named: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """The same; under torchrun, which takes it for an option of its own, give RUN without it."""
    preset: str = FIRST_PRESET
    """As in `annotated train`."""
    updates: int = 200
    """To measure."""
    warm_up: int = 20
    """Updates before them that do not count."""
    price_per_hour: float | None = None
    """Of one device, in your currency."""
    watts: float | None = None
    """Of one device."""
    prepared: Annotated[str | None, tyro.conf.arg(name="data", metavar="FOLDER")] = None
    """Folder of the prepared data, if it is not the preset's."""
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    text: Annotated[DataConfig, tyro.conf.arg(name="data")] = field(default_factory=DataConfig)
    quiet: bool = False

    def run(self) -> int:
        """Measure, and print what that tells."""
        from annotated.runs.dry_run import dry_run
        from annotated.runs.preflight.exchange import check_exchange
        from annotated.runs.preflight.table import show_hours, show_range
        from annotated.runs.validation_callbacks import validation_bleu
        from annotated.storage import format_bytes

        folder = self.run_folder or self.named
        if folder is None:
            raise ValueError("say which run is to come: annotated dry-run RUN ...")
        data = _data(self.text, self.prepared)
        _check_text(self.preset, data)
        if not self.quiet:
            _say_plan(folder, self.preset, self.training, data)
        found = dry_run(
            self.model,
            self.training,
            data,
            updates=self.updates,
            warm_up=self.warm_up,
            folder=folder,
            bleu=validation_bleu if self.training.validate_bleu else None,
            quiet=self.quiet,
        )
        if found is None:
            return 0
        estimate = found.estimate(price_per_hour=self.price_per_hour, watts=self.watts)
        peak = "not known" if found.peak_memory_bytes is None else format_bytes(found.peak_memory_bytes)
        rows = {
            "layout": found.layout,
            "an update": show_range(found.seconds_per_update, "s"),
            "speed": show_range(found.tokens_per_second, "target tokens/s"),
            "memory": f"{peak}, the most at any time, of the {found.memory_kind}",
            "validation": f"{found.validation_seconds:.1f} s",
            "checkpoint": f"{format_bytes(found.checkpoint_bytes)}, {found.checkpoint_seconds:.1f} s to the disk",
            f"{self.training.updates:,} updates": show_hours(estimate.hours),
            "disk": format_bytes(estimate.disk_bytes),
        }
        if (exchange := check_exchange(self.training, found, None)) is not None:
            rows["exchange"] = exchange.found + (f" -> {exchange.advice}" if exchange.advice else "")
        if estimate.money is not None:
            rows["cost"] = show_range(estimate.money, "in your currency")
        if estimate.kilowatt_hours is not None:
            rows["energy"] = show_range(estimate.kilowatt_hours, "kWh")
        width = max(map(len, rows))
        for name, value in rows.items():
            print(f"{name:<{width}}  {value}")
        return 0


@dataclass
class Preflight:
    """Look for all that can go wrong, before a long training run. Nothing is changed or downloaded.

    Under torchrun it also times one exchange of gradients, and its first process prints:
    torchrun --standalone --nproc-per-node 8 -m annotated preflight RUN --preset NAME

    A recipe's name is short for its folder and preset, as in annotated train: annotated preflight wmt14-base

    Exit status 0: it can begin. 1: something will not work.
    """

    run_folder: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="RUN")] = None
    """Folder of the run to come, or of one to go on with."""
    named: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """The same; under torchrun, which takes it for an option of its own, give RUN without it."""
    preset: str = FIRST_PRESET
    """As in `annotated train`."""
    prepared: Annotated[str | None, tyro.conf.arg(name="data", metavar="FOLDER")] = None
    """Folder of the prepared data, if it is not the preset's."""
    dry_run: Annotated[bool, tyro.conf.arg(aliases=("--rehearse",))] = False
    """If nothing will fail, measure 200 updates too, into RUN/rehearsal.json; with layout 'auto' for each attention
    kernel that the GPU has, and the run takes the fastest."""
    price_per_hour: float | None = None
    """Of one device, in your currency."""
    watts: float | None = None
    """Of one device."""
    mirror: tuple[str, ...] = ()
    """Where missing data would come from: asked for an answer."""
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    text: Annotated[DataConfig, tyro.conf.arg(name="data")] = field(default_factory=DataConfig)

    def run(self) -> int:
        """Check, and print the table; on each machine, if something fails there before the processes meet."""
        data = _data(self.text, self.prepared)
        _check_text(self.preset, data)
        found = self._check(data)
        measure = self.dry_run or int(os.environ.get("WORLD_SIZE", 1)) > 1
        if measure and not found.ready:
            if int(os.environ.get("LOCAL_RANK", 0)) > 0:
                return 0  # the first process of this machine found the same, and says so before torchrun ends it
        elif measure:
            try:
                measured = self._measure(data)
            except Exception:
                print(found, flush=True)
                raise
            if int(os.environ.get("RANK", 0)) > 0:
                return 0  # the first process says what all found
            found = self._check(data, **measured)
        print(found)
        return 0 if found.ready else 1

    def _check(self, data: DataConfig, **measured: Any) -> PreflightReport:
        from annotated.runs.preflight.checking import preflight

        return preflight(
            self.model,
            self.training,
            data,
            self._folder,
            mirrors=self.mirror,
            price_per_hour=self.price_per_hour,
            watts=self.watts,
            **measured,
        )

    def _measure(self, data: DataConfig) -> dict[str, Any]:
        """The dry run, or else the exchange of several processes."""
        from annotated.runs.dry_run import dry_run
        from annotated.runs.exchange_time import measure_exchange
        from annotated.runs.validation_callbacks import validation_bleu

        if not self.dry_run:
            return {"exchange": measure_exchange(self.model, self.training)}
        _say_plan(self._folder, self.preset, self.training, data)
        bleu = validation_bleu if self.training.validate_bleu else None
        return {"dry_run": dry_run(self.model, self.training, data, folder=self._folder, bleu=bleu)}

    @property
    def _folder(self) -> Path | None:
        return self.run_folder or self.named


def preflight_defaults(arguments: Sequence[str]) -> Preflight:
    """What a command line starts from: that of `annotated train` with the same --preset."""
    train = train_defaults(arguments)
    return Preflight(preset=train.preset, model=train.model, training=train.training, text=train.data)


def dry_run_defaults(arguments: Sequence[str]) -> DryRunCommand:
    """What a command line starts from: that of `annotated train` with the same --preset."""
    train = train_defaults(arguments)
    return DryRunCommand(preset=train.preset, model=train.model, training=train.training, text=train.data)


def _say_plan(folder: Path | None, preset: str, training: TrainingConfig, data: DataConfig) -> None:
    """What is measured, in the words of `annotated train`; before the text is read, which takes a while."""
    if int(os.environ.get("RANK", 0)) == 0:
        said = plan(Path("a run to come") if folder is None else folder, preset, training, data)
        print(f"dry run of {said}", file=sys.stderr, flush=True)


def _check_text(preset: str, data: DataConfig) -> None:
    """Refuse what `annotated train` refuses; of prepared data that are missing the table says more."""
    check_validation(data)
    if data.prepared is not None and Path(data.prepared, "manifest").is_dir():
        check_pair(preset, data)


def _data(text: DataConfig, prepared: str | None) -> DataConfig:
    return text if prepared is None else text.replace(prepared=prepared)
