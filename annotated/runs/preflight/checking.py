"""Preflight: all checks of a training run that has not begun, and an estimate of its time.

A check is data: its name, how it went, what it found, and advice. Nothing is changed, and nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs.dry_run import RECORD, DryRun, Estimate
from annotated.runs.exchange_time import ExchangeTimes
from annotated.runs.preflight import folder as places
from annotated.runs.preflight import machine
from annotated.runs.preflight.exchange import check_exchange
from annotated.runs.preflight.start import count_weights
from annotated.runs.preflight.table import PreflightCheck, PreflightReport, show_hours, show_range
from annotated.saving import CheckpointError

_SAME_TRAINING = ("model", "training")
_ALIKE = {
    "updates", "log_every", "validate_every", "checkpoint_every", "keep_checkpoints", "keep_best", "average_last",
    "max_seconds", "patience",
}  # fmt: skip
"""Fields of the training in which a dry run may differ: none changes how long an update takes."""


def preflight(
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    folder: str | Path | None = None,
    *,
    dry_run: DryRun | None = None,
    price_per_hour: float | None = None,
    watts: float | None = None,
    mirrors: Sequence[str] = (),
    exchange: ExchangeTimes | None = None,
) -> PreflightReport:
    """Look at machine, data, disk and folder before a training run.

    Parameters
    ----------
    model_config, training, data
        As for `train`.
    folder
        Of the run to come; None for the working folder's disk, and no look at a run.
    dry_run
        What is known of the speed; None for the record in the folder, if there is one.
    price_per_hour, watts
        Of one device, for the estimate.
    mirrors
        Where missing data would be downloaded from; asked only if something is missing, for a few seconds at most.
    exchange
        From `measure_exchange` of the processes that will train; None for what the dry run measured.
    """
    where = None if folder is None else Path(folder)
    known, doubt = _known_speed(dry_run, where, {"model": model_config.to_dict(), "training": training.to_dict()})
    size = count_weights(model_config)
    checks = [
        machine.check_software(training),
        machine.check_devices(training, size),
        machine.check_precision(training),
        machine.check_layout(training, model_config),
        machine.check_memory(training, model_config, size, known),
        machine.check_cores(training),
        *places.check_data(data, mirrors),
        places.check_disk(training, size, known, where),
        *places.check_folder(model_config, training, data, where),
    ]
    estimate = None if known is None else known.estimate(price_per_hour=price_per_hour, watts=watts)
    checks.append(_check_time(known, estimate, doubt))
    if (found := check_exchange(training, known, exchange)) is not None:
        checks.append(found)
    return PreflightReport(tuple(checks), estimate)


def _known_speed(
    given: DryRun | None, folder: Path | None, wanted: dict[str, dict[str, object]]
) -> tuple[DryRun | None, str]:
    """What is known of the speed, and a reason to doubt it."""
    if given is None and folder is not None and (folder / RECORD).is_file():
        try:
            given = DryRun.load(folder)
        except CheckpointError as error:
            return None, str(error)
    if given is None:
        return None, ""
    differing = [
        f"{group}.{name}"
        for group in _SAME_TRAINING
        for name, value in wanted[group].items()
        if given.configuration[group].get(name) != value and name not in _ALIKE | {"vocab_size"}
    ]
    return given, f"it was made with another {', '.join(differing)}: make it again" if differing else ""


def _check_time(known: DryRun | None, estimate: Estimate | None, doubt: str) -> PreflightCheck:
    name = "time and cost"
    if known is None or estimate is None:
        advice = "measure 200 updates here: annotated dry-run RUN, or --dry-run"
        return PreflightCheck(name, "warn", "not known", doubt or advice)
    found = f"{show_range(known.seconds_per_update, 's an update')}; {show_hours(estimate.hours)}"
    if known.devices > 1:
        found += f" on {known.devices} devices"
    if estimate.money is not None:
        found += f"; {show_range(estimate.money, 'in your currency')}"
    if estimate.kilowatt_hours is not None:
        found += f"; {show_range(estimate.kilowatt_hours, 'kWh')}"
    return PreflightCheck(name, "warn" if doubt else "ok", f"{found}; dry run of {known.date}", doubt)
